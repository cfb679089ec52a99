"""The plan of a function's relation: that of its text, through the views and the relations that the text names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import duckdb

from invaract_orchestration.candidate.compiled import put_out
from invaract_orchestration.candidate.plan.diagnostics import Diagnostic, SqlSyntaxError, Translation
from invaract_orchestration.candidate.plan.expressions import Attribute
from invaract_orchestration.candidate.plan.nodes import Plan, Read, UnknownPlan
from invaract_orchestration.candidate.plan.sql import translate_sql
from invaract_orchestration.candidate.plan.sql.parse import parse_statements
from invaract_orchestration.candidate.plan.sql.queries import Queries
from invaract_orchestration.candidate.plan.sql.scope import Session
from invaract_orchestration.candidate.plan.sql.statements import Statements
from invaract_orchestration.engines.duckdb import sql_text as q
from invaract_orchestration.engines.duckdb.types import known_types
from invaract_orchestration.errors import GateError

_CAPTURED = "__duckdb_source_"  # what the client writes for a Python variable that a text reads as a table
_IN_MEMORY = (["PYTHON_ARROW_SCAN"], ["PANDAS_SCAN"])
_OWN = "database_name IN (current_database(), 'temp')"  # other databases were there before the function
_CATALOG = f"""
    SELECT sql, {_OWN} FROM (
      SELECT view_name AS name, schema_name, database_name, sql, temporary FROM duckdb_views() WHERE NOT internal UNION ALL
      SELECT table_name, schema_name, database_name, NULL, temporary FROM duckdb_tables() WHERE NOT internal)
    WHERE lower(name) = lower($1) AND ($2 IS NULL OR $2 IN (lower(schema_name), lower(database_name)))
    ORDER BY temporary DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationNames:
    """What the names in a text mean to one connection. `rows`: the view of the rows that the function gets, whose plan is
    `source`; `links`: the names of links by the tables that hold them."""

    connection: duckdb.DuckDBPyConnection
    rows: str
    source: Plan | None
    links: Mapping[str, str]

    def plan(self, session: Session, parts: tuple[str, ...]) -> Plan | None:
        """The plan of a name; null for files."""
        name = parts[-1]
        if name == self.rows or name in self.links:
            return self._given(session, name)
        if name.startswith(_CAPTURED):
            return self._captured(session, name)
        found = self.connection.execute(_CATALOG, [name, parts[-2].lower() if len(parts) > 1 else None]).fetchone()
        if found is None:
            return None
        body, is_own = found
        return self._seen_through(session, parts, body) if body is not None else self._table(session, parts, is_own=is_own)

    def _given(self, session: Session, name: str) -> Plan | None:
        """The rows, or those of a link."""
        if name in self.links:
            return Read(dataset=self.links[name], columns=self._columns(session, (name,)))
        if self.source is None:
            return None
        return put_out(self.source, tuple(session.attribute(a.name, a.type) for a in self.source.output))

    def _captured(self, session: Session, name: str) -> Plan | None:
        """A Python variable. Of a relation the client tells only the engine's steps: those of what was given are just that."""
        steps = self._steps((name,))
        given = (*self.links, *([] if self.source is None else [self.rows]))
        same = next((one for one in given if self._steps((one,)) == steps), None)
        if same is not None:
            return self._given(session, same)
        columns = self._columns(session, (name,))
        if _is_in_memory(steps):
            return Read(dataset="(rows in memory)", columns=columns, inline=True)
        return UnknownPlan(description="a relation read as a Python variable", source_type="duckdb", columns=columns)

    def _table(self, session: Session, parts: tuple[str, ...], *, is_own: bool) -> Plan:
        """A table of another database, or one that the function filled, which hides how."""
        columns = self._columns(session, parts)
        if not is_own:
            return Read(dataset=".".join(parts), columns=columns)
        return UnknownPlan(description=f"the table {parts[-1]} of the function's own", source_type="duckdb", columns=columns)

    def _seen_through(self, session: Session, parts: tuple[str, ...], body: str) -> Plan:
        columns = self._columns(session, parts)
        if _is_in_memory(self._steps(parts)):
            return Read(dataset="(rows in memory)", columns=columns, inline=True)
        try:
            statements = parse_statements(f"{body}\nSELECT * FROM {q.name(parts[-1])}", dialect="duckdb")
        except SqlSyntaxError:
            return UnknownPlan(description=f"the view {parts[-1]}", source_type="duckdb", columns=columns)
        return Statements(Queries(session)).translate(statements)

    def _columns(self, session: Session, parts: tuple[str, ...]) -> tuple[Attribute, ...]:
        found = self.connection.sql(f"SELECT * FROM {_quoted(parts)}")
        return tuple(session.attribute(name, type_) for name, type_ in known_types(found).items())

    def _steps(self, parts: tuple[str, ...]) -> str:
        """What the engine does to give the rows of a name, and the names of their columns."""
        text = f"SELECT * FROM {_quoted(parts)}"
        ((_, steps),) = self.connection.execute(f"EXPLAIN (FORMAT json) {text}").fetchall()
        return json.dumps([self.connection.sql(text).columns, json.loads(steps)])


def relation_plan(text: str, names: RelationNames) -> Translation:
    """The plan of a relation's text. A text that cannot be read hides what it does.

    Raises:
        SqlSyntaxError: the text is no SQL that the translator knows.
    """
    try:
        return translate_sql(text, {}, dialect="duckdb", source=names.plan)
    except GateError:
        raise
    except Exception as error:  # noqa: BLE001  # a gate must end in a verdict, here "unverifiable"
        lost = Diagnostic(code="plan.translator_failed", message=f"the plan cannot be read: {type(error).__name__}")
        return Translation(plan=UnknownPlan(description="a relation", source_type="duckdb"), diagnostics=(lost,))


def _is_in_memory(steps: str) -> bool:
    """Whether the engine only scans an object of Python's."""
    _, roots = json.loads(steps)
    return [one["name"] for one in roots] in _IN_MEMORY and not roots[0]["children"]


def _quoted(parts: tuple[str, ...]) -> str:
    return ".".join(q.name(part) for part in parts)
