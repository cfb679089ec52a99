"""Values of typed sources that no other place could hold: bytes that are no UTF-8, and times outside of the years 1 to 9999. A
table with one can be read by few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from invaract_orchestration.contract.field_types import DATE, STRING, TIMESTAMP, TIMESTAMP_NTZ, Array, FieldType, Map, Struct
from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.types import spark_type

NO_TEXT, TOO_FAR = "invaract: no text", "invaract: outside of the years"
"""What the error says of one."""
_YEARS: dict[FieldType, str] = {
    DATE: "DATE'0001-01-01' AND DATE'9999-12-31'",
    TIMESTAMP: "TIMESTAMP'0001-01-01 00:00:00Z' AND TIMESTAMP'9999-12-31 23:59:59.999999Z'",
    TIMESTAMP_NTZ: "TIMESTAMP_NTZ'0001-01-01 00:00:00' AND TIMESTAMP_NTZ'9999-12-31 23:59:59.999999'",
}
Asked = Callable[[str, FieldType], str | None]


def valid_text(value: str, type_: FieldType) -> str:
    """The value itself; reading one with a text that is none is an error."""
    return _or_error(value, type_, _text, NO_TEXT)


def valid_value(value: str, type_: FieldType) -> str:
    """The same, and for times in other years."""
    return _or_error(valid_text(value, type_), type_, _time, TOO_FAR, value)


def _text(value: str, type_: FieldType) -> str | None:
    return f"is_valid_utf8({value})" if type_ == STRING else None


def _time(value: str, type_: FieldType) -> str | None:
    return f"{value} BETWEEN {_YEARS[type_]}" if type_ in _YEARS else None


def _or_error(value: str, type_: FieldType, asked: Asked, error: str, of: str | None = None) -> str:
    is_valid = _is_valid(of or value, type_, asked, 0)
    if is_valid is None:
        return value
    failed = f"CAST(raise_error({q.text(error)}) AS {spark_type(type_)})"
    return f"CASE WHEN coalesce({is_valid}, true) THEN {value} ELSE {failed} END"


def _is_valid(value: str, type_: FieldType, asked: Asked, depth: int) -> str | None:
    """Whether every part of a value is valid, true or null where there is none; none where nothing is asked of the type."""
    each = f"w{depth}"
    match type_:
        case Struct(fields):
            return _all(_is_valid(f"{value}.{q.name(n)}", t, asked, depth) for n, t in fields)
        case Array(element):
            inner = _is_valid(each, element, asked, depth + 1)
            return None if inner is None else f"forall({value}, {each} -> coalesce({inner}, true))"
        case Map(key, held):
            parts = ((f"map_keys({value})", key), (f"map_values({value})", held))
            return _all(_is_valid(part, Array(t), asked, depth) for part, t in parts)
    return asked(value, type_)


def _all(parts: Iterable[str | None]) -> str | None:
    known = [f"coalesce({part}, true)" for part in parts if part is not None]
    return q.all_of(known) if known else None
