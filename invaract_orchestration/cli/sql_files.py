"""A transformation on the command line: a file of SQL, in the dialect it is written in, or the name of a function."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from invaract_orchestration.candidate.plan.diagnostics import SqlSyntaxError
from invaract_orchestration.errors import UsageError
from invaract_orchestration.intake.transform import import_function, is_function_name

Sql = Annotated[
    str | None,
    Parameter(
        name=["--transform", "--sql"],
        help="a file with the SQL query that gives the rows, or a function of session and rows as package.module:function",
    ),
]  # fmt: skip
Dialect = Annotated[str, Parameter(help="the dialect that the query is written in, such as spark, duckdb or snowflake")]


def read_transform(given: str | None, dialect: str) -> str | Callable[..., Any] | None:
    """The query of a file as Spark SQL, or the function of that name; none where nothing is given.

    Raises:
        UsageError: there is no such function, the file cannot be read, the dialect is not known, or the text is no SQL of it.
    """
    if given is None:
        if dialect != "spark":
            raise UsageError("--dialect: there is no query for it", hint="name the query's file with --transform")
        return None
    return import_function(given) if is_function_name(given) else _query(given, dialect)


def _query(file: str, dialect: str) -> str:
    from invaract_orchestration.candidate.plan.sql.parse import parse_statements  # a call without SQL does without sqlglot

    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise UsageError(
            f"the file {file!r} cannot be read as text", hint="check the path, which begins in the current folder"
        ) from None
    try:
        statements = parse_statements(text, dialect=dialect)
    except SqlSyntaxError as error:
        place = file if error.line is None else f"{file}:{error.line}:{error.column}"
        raise UsageError(f"{place}: not {dialect} SQL: {error.reason}", hint=error.hint) from None
    if dialect == "spark":
        return text
    if len(statements) != 1:
        raise UsageError(f"the file {file!r} holds {len(statements)} statements, expected one query")
    return str(_with_parentheses(statements[0], dialect).sql(dialect="spark"))


def _with_parentheses(statement: Any, dialect: str) -> Any:
    """The statement with what its dialect joins first in parentheses: for Spark a comma binds no weaker than JOIN."""
    from sqlglot import exp
    from sqlglot.dialects.dialect import Dialect

    from invaract_orchestration.candidate.plan.sql.parse import is_comma

    if Dialect.get_or_raise(dialect).parser_class.JOINS_HAVE_EQUAL_PRECEDENCE:
        return statement
    for select in statement.find_all(exp.Select):
        joins = select.args.get("joins") or []
        at = next((n for n, one in enumerate(joins) if is_comma(one)), len(joins))
        if not any(one.side in ("RIGHT", "FULL") for one in joins[at:]):
            continue
        kept = joins[:at]
        for one in joins[at:]:
            if is_comma(one):
                kept.append(one)
            elif isinstance(kept[-1].this, exp.Paren):
                kept[-1].this.this.append("joins", one)
            else:
                first = kept[-1].this.copy()
                first.append("joins", one)
                kept[-1].set("this", exp.Paren(this=first))
        select.set("joins", kept)
    return statement
