"""Values of typed sources that no other place could hold: bytes of a frame that are no UTF-8, and times outside of the years 1 to
9999. A table with one can be read by few.
"""

from __future__ import annotations

from invaract_orchestration.contract.field_types import DATE, STRING, TIMESTAMP, TIMESTAMP_NTZ, Array, FieldType, Map, Struct
from invaract_orchestration.engines.duckdb import sql_text as q

TOO_FAR = "invaract: outside of the years"
_YEARS: dict[FieldType, str] = {
    DATE: "DATE '0001-01-01' AND DATE '9999-12-31'",
    TIMESTAMP: "TIMESTAMPTZ '0001-01-01 00:00:00+00' AND TIMESTAMPTZ '9999-12-31 23:59:59.999999+00'",
    TIMESTAMP_NTZ: "TIMESTAMP '0001-01-01 00:00:00' AND TIMESTAMP '9999-12-31 23:59:59.999999'",
}


def valid_value(value: str, type_: FieldType, *, is_read: bool, depth: int = 0) -> str:
    """The value itself; one that is none is an error. `is_read`: a reader has looked at its texts."""
    each = f"w{depth}"
    if not _is_doubtful(type_, is_read):
        return value

    def inner(part: str, part_type: FieldType, down: int = 1) -> str:
        return valid_value(part, part_type, is_read=is_read, depth=depth + down)

    match type_:
        case Struct(fields):
            parts = (f"{q.name(n)} := {inner(f'struct_extract({value}, {q.text(n)})', t, 0)}" for n, t in fields)
            return f"CASE WHEN {value} IS NOT NULL THEN struct_pack({', '.join(parts)}) END"
        case Array(element):
            return f"list_transform({value}, lambda {each}: {inner(each, element)})"
        case Map(key, held):
            entry = f"{{'k': {inner(f'{each}.key', key)}, 'v': {inner(f'{each}.value', held)}}}"
            return f"map_from_entries(list_transform(map_entries({value}), lambda {each}: {entry}))"
    if type_ == STRING:
        return f"decode(encode({value}))"
    return f"CASE WHEN {value} IS NULL OR {value} BETWEEN {_YEARS[type_]} THEN {value} ELSE error({q.text(TOO_FAR)}) END"


def _is_doubtful(type_: FieldType, is_read: bool) -> bool:
    match type_:
        case Struct(fields):
            return any(_is_doubtful(t, is_read) for _, t in fields)
        case Array(element):
            return _is_doubtful(element, is_read)
        case Map(key, value):
            return _is_doubtful(key, is_read) or _is_doubtful(value, is_read)
    return type_ in _YEARS or (type_ == STRING and not is_read)
