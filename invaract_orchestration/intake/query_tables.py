"""The tables that a query reads: which they are, where they stand, and at which version."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from invaract_orchestration.errors import InputUnreadable, UsageError
from invaract_orchestration.intake.listing import ListedFile


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTable:
    """A table of a query: its name there, its place, and its Delta version, or its Parquet files, which have none."""

    name: str
    place: str
    version: int | None
    files: tuple[ListedFile, ...] = ()


def tables_read(sql: str) -> tuple[str, ...]:
    """Names of the tables that a Spark SQL query reads, each once, in the order of the text; its own WITH names left out.

    Raises:
        UsageError: the text is not one query.
    """
    try:
        statements = [s for s in sqlglot.parse(sql, read="spark") if s is not None]
    except SqlglotError:
        raise UsageError("the query is not Spark SQL", hint="check it with the engine that will run it") from None
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise UsageError("a source's query is one SELECT", hint="write other steps as WITH parts of it")
    own = {cte.alias_or_name.lower() for cte in statements[0].find_all(exp.CTE)}
    tables = [t for t in statements[0].find_all(exp.Table) if isinstance(t.this, exp.Identifier)]
    names = [".".join(p.name for p in t.parts) for t in tables if t.find_ancestor(exp.Hint) is None]
    return tuple(dict.fromkeys(n for n in names if n.lower() not in own))


def resolve_tables(
    sql: str, declared: Mapping[str, str], place: Callable[[str], str], version: Callable[[str], int | None],
    files: Callable[[str], tuple[ListedFile, ...]],
) -> tuple[QueryTable, ...]:  # fmt: skip
    """Every table of the query with its place: the one that is declared under its name, else the table of that name.

    Raises:
        InputUnreadable: there is neither a Delta table nor a Parquet file at a place.
    """
    known = {name.lower(): table for name, table in declared.items()}
    found = []
    for name in tables_read(sql):
        where = place(known.get(name.lower(), name))
        at = version(where)
        own = files(where) if at is None else ()
        if at is None and not own:
            raise InputUnreadable(
                f"the query reads {name!r}, and there is no Delta table and no Parquet file for it",
                hint="declare its place in source.inputs, or check the table's name",
                code="input.missing",
            )
        found.append(QueryTable(name=name, place=where, version=at, files=own))
    return tuple(found)
