"""The steps of a contract as views of the session: defined over empty relations first, then over the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import duckdb
from sqlglot import exp

from invaract_orchestration.candidate.step_input import ROW, Columns, step_error
from invaract_orchestration.contract import field_types as ft
from invaract_orchestration.engines.duckdb import sql_text as q
from invaract_orchestration.engines.duckdb.session import translated
from invaract_orchestration.engines.duckdb.step_words import step_text
from invaract_orchestration.engines.duckdb.types import duckdb_type, field_type

_OWN = {
    "hugeint": ft.BIGINT, "uhugeint": ft.BIGINT, "ubigint": ft.BIGINT, "uuid": ft.STRING, "null": ft.STRING, '"null"': ft.STRING,
}  # fmt: skip
"""Types of DuckDB's own, with what Spark has in their place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DuckDBViews:
    """See `StepViews`."""

    connection: duckdb.DuckDBPyConnection
    now: datetime

    def begin(self, name: str, columns: Columns, *, has_row: bool) -> None:
        """See `StepViews.begin`."""
        row = [f"{ROW} BIGINT"] if has_row else []
        declared = ", ".join([*(f"{q.name(n)} {duckdb_type(t)}" for n, t in columns.items()), *row])
        forget(self.connection, name)
        with translated("preparing the steps"):
            self.connection.execute(f"CREATE TEMP TABLE {q.name(name)} ({declared})")

    def define(self, name: str, tree: exp.Query, tables: Mapping[str, str]) -> Columns:
        """See `StepViews.define`."""
        try:
            text = step_text(tree, self.now, tables)
            relation = self.connection.sql(text)
            columns = {n: field_type(t) for n, t in zip(relation.columns, relation.types, strict=True)}
            twice = len(columns) != len(relation.columns)
        except duckdb.Error as error:
            hint = "try its SQL by itself; names and types matter"
            raise step_error(f"the query cannot be run ({type(error).__name__})", hint) from None
        if twice:
            raise step_error("a column would be there twice")
        known: dict[str, ft.FieldType] = {}
        for column, type_ in columns.items():
            found = _OWN.get(type_) if isinstance(type_, str) else type_
            if found is None:
                raise step_error(f"column {column!r} would be of the type {type_}, which a contract cannot name", "cast it")
            known[column] = found
        if any(isinstance(t, str) for t in columns.values()):
            chosen = ", ".join(
                f"TRY_CAST({q.name(n)} AS {duckdb_type(known[n])}) AS {q.name(n)}" if isinstance(t, str) else q.name(n)
                for n, t in columns.items()
            )
            text = f"SELECT {chosen} FROM ({text})"
        with translated("preparing the steps"):
            self.connection.execute(f"CREATE OR REPLACE TEMP VIEW {q.name(name)} AS {text}")
        return {n: t for n, t in known.items() if n != ROW}


def forget(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """Drop a relation of the session, whichever kind it is."""
    found = connection.execute(
        "SELECT 'VIEW' FROM duckdb_views() WHERE temporary AND view_name = $1 UNION ALL "
        "SELECT 'TABLE' FROM duckdb_tables() WHERE temporary AND table_name = $1", [name]
    ).fetchall()  # fmt: skip
    for (kind,) in found:
        connection.execute(f"DROP {kind} {q.name(name)}")
