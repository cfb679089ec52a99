"""A transformation as a file of SQL, in the dialect it is written in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from invaract_orchestration.errors import UsageError

Sql = Annotated[
    str | None, Parameter(name=["--transform", "--sql"], help="a file with the SQL query that gives the rows")
]
Dialect = Annotated[str, Parameter(help="the dialect that the query is written in, such as spark, duckdb or snowflake")]


def read_query(file: str | None, dialect: str) -> str | None:
    """The query of a file as Spark SQL; none without a file.

    Raises:
        UsageError: the file cannot be read, the dialect is not known, or the text is no SQL of it.
    """
    if file is None:
        return None
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"the file {file!r} cannot be read as text") from None
    if dialect == "spark":
        return text
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        statements = sqlglot.transpile(text, read=dialect, write="spark")
    except ValueError as error:
        hint = "a name of a dialect that sqlglot knows" if not isinstance(error, SqlglotError) else None
        raise UsageError(f"the file {file!r} is no SQL of dialect {dialect!r}", hint=hint) from None
    if len(statements) != 1:
        raise UsageError(f"the file {file!r} holds {len(statements)} statements, expected one query")
    return statements[0]
