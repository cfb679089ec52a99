"""A transformation given as a function: called once, on rows that are still to come, and evaluated once when they are there.

It gets the attempt's own connection and a relation, and returns a relation of that connection. Its text is judged as a plan
before a row is read; a function that reads the rows by itself meets an error, as they are not there yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import duckdb

from invaract_orchestration.candidate.candidate import Candidate
from invaract_orchestration.candidate.plan.diagnostics import Translation
from invaract_orchestration.candidate.plan.nodes import Plan
from invaract_orchestration.candidate.step_plan import link_view
from invaract_orchestration.contract.field_types import FieldType
from invaract_orchestration.engines.duckdb import sql_text as q
from invaract_orchestration.engines.duckdb.links import hold_links
from invaract_orchestration.engines.duckdb.observe import with_spark_types
from invaract_orchestration.engines.duckdb.relation_plan import RelationNames, relation_plan
from invaract_orchestration.engines.duckdb.rows import FRAME
from invaract_orchestration.engines.duckdb.session import translated
from invaract_orchestration.engines.duckdb.steps import forget
from invaract_orchestration.engines.duckdb.types import duckdb_type
from invaract_orchestration.errors import GateError
from invaract_orchestration.intake.batch import Batch
from invaract_orchestration.intake.transform import Transform, raised

_ROWS = "invaract_rows"
_STILL_TO_COME = "invaract: the rows are still to come"


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a function gave: its relation, with the types of Spark, and its plan. What it gave itself (`given`) keeps alive the
    variables that its text reads by name."""

    relation: duckdb.DuckDBPyRelation
    given: duckdb.DuckDBPyRelation
    plan: Translation

    def fill(self, connection: duckdb.DuckDBPyConnection, candidate: Candidate) -> None:
        """The checked good rows are there."""
        paths = q.paths([f.path for f in candidate.files])
        with translated("giving the transformation its rows"):
            connection.execute(
                f"CREATE OR REPLACE TEMP VIEW {_ROWS} AS SELECT {', '.join(q.name(n) for n, _ in candidate.columns)} "
                f"FROM read_parquet({paths}, hive_partitioning=false)"
            )

    def place(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Let the result stand where a batch that is no file is read from."""
        forget(connection, FRAME)
        with translated("evaluating the transformation"):
            connection.execute(f"CREATE OR REPLACE TEMP VIEW {FRAME} AS {self.relation.sql_query()}")


def make_relation(connection: duckdb.DuckDBPyConnection, batch: Batch, source: Plan | None) -> Made:
    """Call the batch's function with the connection. `source` is the plan of the rows that it gets.

    Raises:
        GateError: the function raises, reads the rows, or returns no relation of the connection.
    """
    transform = batch.transform
    assert transform is not None  # only such batches get here
    arguments: list[Any] = [connection]
    if batch.arriving is not None:
        arguments.append(_pending(connection, [(f.name, f.type) for f in batch.arriving.contract.fields]))
    tables = _link_tables(connection, batch)
    links = {name: connection.sql(f"SELECT * FROM {q.name(table)}") for table, name in tables.items()}
    try:
        made = transform.function(*arguments, **({"links": links} if tables else {}))
    except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever it is, its text may hold values
        if _STILL_TO_COME in str(error):
            raise GateError(
                f"the transformation {transform.name} read its rows, and it is judged before any data is read",
                code="transform.started_jobs", hint="build the relation and return it: no fetch, df, arrow or show",
            ) from None  # fmt: skip
        raise raised(transform, error) from None
    return _typed(transform, made, RelationNames(connection=connection, rows=_ROWS, source=source, links=tables))


def _link_tables(connection: duckdb.DuckDBPyConnection, batch: Batch) -> dict[str, str]:
    """The batch's links by the tables that hold them, for a function that takes them."""
    if not batch.links or batch.transform is None or not batch.transform.takes_links:
        return {}
    return {link_view(name): name for name in hold_links(connection, batch, datetime.now(UTC))}


def _pending(connection: duckdb.DuckDBPyConnection, columns: Sequence[tuple[str, FieldType]]) -> duckdb.DuckDBPyRelation:
    absent = f"error({q.text(_STILL_TO_COME)})"
    chosen = ", ".join(f"CAST(CAST({absent} AS VARCHAR) AS {duckdb_type(t)}) AS {q.name(n)}" for n, t in columns)
    connection.execute(f"CREATE OR REPLACE TEMP VIEW {_ROWS} AS SELECT {chosen} WHERE {absent} IS NULL")
    return connection.sql(f"SELECT * FROM {_ROWS}")


def _typed(transform: Transform, made: Any, names: RelationNames) -> Made:
    refused = GateError(
        f"the transformation {transform.name} returned {type(made).__module__}.{type(made).__qualname__}, and not a relation of "
        "its connection", code="transform.result",
        hint="return the lazy relation that the function builds from the connection and the rows it is given",
    )  # fmt: skip
    if not isinstance(made, duckdb.DuckDBPyRelation):
        raise refused
    try:
        text = made.sql_query()
        relation = names.connection.sql(with_spark_types(names.connection, text))
    except duckdb.Error:
        raise refused from None
    return Made(relation=relation, given=made, plan=relation_plan(text, names))
