"""Writing the candidate of a function's result: first the source's rows, checked, then what it makes of the good ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from invaract_orchestration.candidate.candidate import Materialised
from invaract_orchestration.candidate.two_sides import both_sides
from invaract_orchestration.candidate.writer import CandidateRequest
from invaract_orchestration.contract.sides import result_side
from invaract_orchestration.engines.delta.failing import failing_of_both
from invaract_orchestration.engines.spark.candidate import Writer
from invaract_orchestration.engines.spark.session import PrivateSession, translated
from invaract_orchestration.engines.spark.transform import Made
from invaract_orchestration.errors import EngineFailure
from invaract_orchestration.intake.batch import Batch


def materialise_transformed(
    session: PrivateSession, request: CandidateRequest, made: Made, frames: tuple[Any, Any], scratch: Path
) -> Materialised:
    """Both sides of a transformation. `frames` are the native frames of the source (none for files) and of the result.

    With `on_row_failure: reject` a failing row of the source ends it: the function gets nothing, and its result is not there.
    """
    arriving, transform = request.batch.arriving, request.batch.transform
    assert transform is not None  # only such batches get here
    source = None
    if arriving is not None and made.place is not None:
        own = replace(
            request, contract=arriving.contract, batch=arriving.batch, location=str(made.place), spelled={}, partition_by=()
        )
        with translated("reading the source"):
            source = Writer(session=session, request=own, scratch=scratch, frame=frames[0]).materialise()
        if source.failing is not None and request.contract.quality.on_row_failure == "reject":
            return replace(source, is_stopped=True)
        made.fill(source.candidate)
    contract = request.contract if source is None else result_side(request.contract)
    typed = request.batch.source.model_copy(update={"format": "sql", "sql": "transformed"})
    after = replace(request, contract=contract, batch=Batch(source=typed, frame=made.frame, absent=request.batch.absent))
    try:
        with translated("evaluating it"):
            result = Writer(session=session, request=after, scratch=scratch, frame=frames[1]).materialise()
    except EngineFailure as error:
        raise EngineFailure(f"the transformation {transform.name}: {error.sentence}", hint=error.hint) from None
    if source is None:
        return result
    return both_sides(source, result, failing_of_both(source.failing, result.failing, scratch))
