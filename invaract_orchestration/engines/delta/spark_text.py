"""A Spark SQL predicate in the words that deltalake's query engine understands."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from invaract_orchestration.errors import NotSupported

_PARTS: dict[type[exp.Expr], str] = {
    exp.DayOfMonth: "DAY", exp.Quarter: "QUARTER", exp.WeekOfYear: "WEEK", exp.Hour: "HOUR", exp.Minute: "MINUTE",
    exp.Second: "SECOND",
}  # fmt: skip


def delta_predicate(sql: str) -> str:
    """The predicate with double-quoted names, standard casts and functions. Raises NotSupported for what does not parse.

    Where it holds a moment it is put so that it is asked of rows alone: of the bounds of files, which are kept in another unit,
    it would be an error.
    """
    try:
        tree = sqlglot.parse_one(sql, read="spark").transform(_spelled)
    except SqlglotError:
        raise NotSupported("publish.where is no predicate that can be replaced by", hint="write a plain condition") from None
    text = tree.sql(dialect="postgres", identify=True)
    return f"({text}) IS TRUE" if any(_is_moment(cast) for cast in tree.find_all(exp.Cast)) else text


def _spelled(node: exp.Expr) -> exp.Expr:
    part = _PARTS.get(type(node))
    if part is not None:
        return exp.Extract(this=exp.var(part), expression=_value(node))
    match node:
        case exp.DayOfWeek():  # from Sunday, which is 1 in Spark and 0 in the standard
            return exp.paren(exp.Extract(this=exp.var("DOW"), expression=_value(node)) + 1)
        case exp.Length():
            return exp.Anonymous(this="character_length", expressions=[node.this])
        case exp.IsNan():
            return exp.func("coalesce", exp.Anonymous(this="isnan", expressions=[node.this]), exp.false())  # false of a null
    return node


def _value(node: exp.Expr) -> exp.Expr:
    """The argument of a part of a date without the cast that the parser puts around it."""
    inner: exp.Expr = node.this
    return inner.this if isinstance(inner, exp.TsOrDsToDate) else inner


def _is_moment(cast: exp.Cast) -> bool:
    return bool(cast.to.is_type("timestamp", "timestamptz", "timestampntz", "timestampltz"))
