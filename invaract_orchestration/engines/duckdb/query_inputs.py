"""The tables of a query, as views of the session."""

from __future__ import annotations

import duckdb

from invaract_orchestration.contract.field_types import Struct
from invaract_orchestration.engines.delta.read import read_columns
from invaract_orchestration.engines.duckdb.parquet_tables import parquet_relation
from invaract_orchestration.engines.duckdb.session import translated
from invaract_orchestration.engines.duckdb.types import known_types
from invaract_orchestration.intake.batch import Batch


def view_name(position: int) -> str:
    """The name under which the table at that position of the batch is known to the session."""
    return f"invaract_in_{position}"


def register_tables(connection: duckdb.DuckDBPyConnection, batch: Batch) -> None:
    """Make every table of the batch's query readable, each at the version that was received.

    A Delta table is read into the session once (it spills to disk), since a query may read it several times and its stream can
    be read but once.
    """
    for position, table in enumerate(batch.tables):
        name = view_name(position)
        with translated(f"reading the input {table.name}"):
            if table.version is not None:
                connection.register("invaract_stream", read_columns(table.place, table.version, None))
                connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM invaract_stream")
                connection.unregister("invaract_stream")
            else:
                relation = parquet_relation(f"the input {table.name}", table.files)
                connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS SELECT * FROM {relation}")


def table_schemas(connection: duckdb.DuckDBPyConnection, batch: Batch) -> dict[str, Struct]:
    """The columns of every table of the query by its name there; columns of types that have no name here are left out."""
    found = {}
    for table in batch.tables:
        with translated(f"reading the input {table.name}"):
            if table.version is not None:
                connection.register("invaract_stream", read_columns(table.place, table.version, None))
                relation = "invaract_stream"
            else:
                relation = parquet_relation(f"the input {table.name}", table.files)
            types = known_types(connection.sql(f"SELECT * FROM {relation}"))
        found[table.name] = Struct(tuple((n, t) for n, t in types.items() if t is not None))
    return found
