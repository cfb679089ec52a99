"""Row checks as DuckDB conditions: true passes, anything else does not."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from datetime import datetime

from invaract_orchestration.checks.row_rules import RowCheck
from invaract_orchestration.contract.field_types import FLOATS, STRING, Array, Decimal, FieldType, Map, Struct
from invaract_orchestration.engines.duckdb import spark_sql
from invaract_orchestration.engines.duckdb import sql_text as q
from invaract_orchestration.engines.duckdb.spark_meaning import lowered
from invaract_orchestration.engines.duckdb.types import duckdb_type

_WHITESPACE = (
    r"[\s\x{0B}\x{1C}-\x{1F}\x{85}\x{A0}\x{1680}\x{2000}-\x{200B}\x{2028}\x{2029}\x{202F}\x{205F}\x{2060}\x{3000}\x{FEFF}]*"
)

Columns = Callable[[str], str | None]
"""The SQL that gives a column's typed value; none for a name that is no column. Any letter case is understood."""


def row_condition(check: RowCheck, columns: Columns, types: dict[str, FieldType], now: datetime) -> str:
    """The condition of one check (every kind but `type`, which is judged while the text is read). Never null."""
    if check.kind == "sql":
        assert check.rule is not None  # a row rule carries itself
        is_true = spark_sql.condition(check.rule.sql, columns, now, types)
        return f"coalesce({is_true}, {'true' if check.rule.null_is == 'pass' else 'false'})"
    column = columns(check.path[0])
    assert column is not None  # the schema check has seen to it
    return _down(column, types[check.path[0]], check.path[1:], lambda value: _leaf(check, value), 0)


def null_condition(check: RowCheck, columns: Columns) -> str | None:
    """Whether a row has no value for a check on a whole column; none where that is not the question."""
    if len(check.path) != 1 or check.kind in ("required", "type", "sql"):
        return None
    return f"{columns(check.path[0])} IS NULL"


def _down(value: str, type_: FieldType, path: tuple[str, ...], leaf: Callable[[str], str], depth: int) -> str:
    """Walk from a column to a nested field; a null on the way asks for nothing below it."""
    if not path:
        return leaf(value)
    match type_:
        case Struct(fields):
            name, inner = next((n, t) for n, t in fields if n == path[0])
            below = _down(f"struct_extract({value}, {q.text(name)})", inner, path[1:], leaf, depth)
            return f"({value} IS NULL OR {below})"
        case Array(element):
            return _each(value, element, path, leaf, depth)
        case Map(_, inner):
            return _each(f"map_values({value})", inner, path, leaf, depth)
    raise AssertionError(f"{type_} has no fields")


def _each(items: str, element: FieldType, path: tuple[str, ...], leaf: Callable[[str], str], depth: int) -> str:
    name = f"i{depth}"
    below = _down(name, element, path, leaf, depth + 1)
    return f"coalesce(list_bool_and(list_transform({items}, lambda {name}: {below})), true)"


def _leaf(check: RowCheck, value: str) -> str:
    if check.kind == "required":
        return f"{value} IS NOT NULL"
    return f"({value} IS NULL OR coalesce({_asked(check, value)}, false))"


def _asked(check: RowCheck, value: str) -> str:
    spec = check.spec
    assert spec is not None and check.type is not None  # field checks carry their field
    is_number = f"NOT isnan({value}) AND " if check.type in FLOATS else ""
    match check.kind:
        case "not_blank" if spec.not_blank == "spaces":
            return f"trim({value}, ' ') <> ''"
        case "not_blank":
            return f"NOT regexp_full_match({value}, {q.text(_WHITESPACE)})"
        case "min":
            return f"{is_number}{value} >= {literal(spec.min or '', check.type)}"
        case "max":
            return f"{is_number}{value} <= {literal(spec.max or '', check.type)}"
        case "allowed":
            return f"{value} IN ({', '.join(literal(v, check.type) for v in spec.allowed or ())})" if spec.allowed else "false"
        case "pattern":
            return f"regexp_full_match({value}, {q.text(spec.pattern or '')})"
        case "min_length":
            return f"length({value}) >= {spec.min_length}"
        case "max_length":
            return f"length({value}) <= {spec.max_length}"
    raise AssertionError(f"{check.kind} is not asked of a value")


def literal(written: str, type_: FieldType) -> str:
    """A value of the contract as DuckDB reads it, in the type of its field; exact for decimals of any scale."""
    if type_ == STRING:
        return q.text(written)
    if isinstance(type_, Decimal):
        scale = max(type_.scale, len(written.partition(".")[2]))
        return f"CAST({q.text(written)} AS DECIMAL(38,{min(scale, 38)}))"
    return f"CAST({q.text(written)} AS {duckdb_type(type_)})"


def normalized(value: str, steps: tuple[str, ...]) -> str:
    """A key's text after its declared normalisations, in their order."""
    for step in steps:
        match step:
            case "trim":
                value = f"trim({value}, {q.text(blanks())})"
            case "lower":
                value = lowered(value)
            case _:
                value = f"{'nfc_normalize' if step == 'nfc' else step}({value})"
    return value


def blanks() -> str:
    """Every character that is white space, for `normalize: trim` and for the step `trim`."""
    return "".join(chr(c) for c in range(0x3001) if unicodedata.category(chr(c)) == "Zs" or chr(c) in "\t\n\v\f\r")
