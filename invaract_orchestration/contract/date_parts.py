"""The fields that Spark's `extract(field FROM value)` and `date_part(field, value)` know; other engines count some otherwise."""

from __future__ import annotations

from sqlglot import exp

_NAMES = {
    "YEAR": ("Y", "YEARS", "YR", "YRS"), "YEAROFWEEK": (), "QUARTER": ("QTR",), "MONTH": ("MON", "MONS", "MONTHS"),
    "WEEK": ("W", "WEEKS"), "DAY": ("D", "DAYS"), "DAYOFWEEK": ("DOW",), "DAYOFWEEK_ISO": ("DOW_ISO",), "DOY": (),
    "HOUR": ("H", "HOURS", "HR", "HRS"), "MINUTE": ("M", "MIN", "MINS", "MINUTES"),
    "SECOND": ("S", "SEC", "SECONDS", "SECS"),
}  # fmt: skip
FIELDS = {name: field for field, more in _NAMES.items() for name in (field, *more)}
"""Each name, in capitals, with the field that it means."""


def is_date_part(node: exp.Expr) -> bool:
    """Whether the node takes a field out of a date or a timestamp by the field's name."""
    called = isinstance(node, exp.Anonymous) and node.name.lower() == "date_part" and len(node.expressions) == 2
    return called or isinstance(node, exp.Extract)


def named_field(node: exp.Expr) -> str | None:
    """The field that a date part takes, none where Spark knows no such field or the name is no constant."""
    name = node.expressions[0] if isinstance(node, exp.Anonymous) else node.this
    is_constant = isinstance(name, exp.Var) or (isinstance(name, exp.Literal) and name.is_string)
    return FIELDS.get(name.name.upper()) if is_constant else None


def dated(node: exp.Expr) -> exp.Expr:
    """The date or timestamp that a date part reads."""
    found: exp.Expr = node.expressions[1] if isinstance(node, exp.Anonymous) else node.expression
    return found
