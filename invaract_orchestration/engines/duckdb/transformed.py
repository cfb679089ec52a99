"""Writing the candidate of a function's result: first the source's rows, checked, then what it makes of the good ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb

from invaract_orchestration.candidate.candidate import Materialised
from invaract_orchestration.candidate.two_sides import both_sides
from invaract_orchestration.candidate.writer import CandidateRequest
from invaract_orchestration.contract.sides import result_side
from invaract_orchestration.engines.delta.failing import failing_of_both
from invaract_orchestration.engines.duckdb.candidate import Writer
from invaract_orchestration.engines.duckdb.transform import Made
from invaract_orchestration.intake.batch import Batch


def materialise_transformed(
    connection: duckdb.DuckDBPyConnection, request: CandidateRequest, made: Made, scratch: Path
) -> Materialised:
    """Both sides of a transformation. With `on_row_failure: reject` a failing row of the source ends it: the function gets
    nothing, and its result is not there.
    """
    arriving, source = request.batch.arriving, None
    if arriving is not None:
        own = replace(
            request, contract=arriving.contract, batch=arriving.batch, location=str(scratch / "rows"), spelled={}, partition_by=()
        )
        source = Writer(connection=connection, request=own, scratch=scratch).materialise()
        if source.failing is not None and request.contract.quality.on_row_failure == "reject":
            return replace(source, is_stopped=True)
        made.fill(connection, source.candidate)
    made.place(connection)
    contract = request.contract if source is None else result_side(request.contract)
    typed = request.batch.source.model_copy(update={"format": "sql", "sql": "transformed"})
    after = replace(request, contract=contract, batch=Batch(source=typed, frame=made.relation, absent=request.batch.absent))
    result = Writer(connection=connection, request=after, scratch=scratch).materialise()
    if source is None:
        return result
    return both_sides(source, result, failing_of_both(source.failing, result.failing, scratch))
