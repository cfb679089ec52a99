"""Field types of Parquet columns, as their footers say them; no engine is asked, so no job starts for it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyarrow import types as t

from invaract_orchestration.contract.field_types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    NANOSECONDS,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    Array,
    Decimal,
    FieldType,
    Map,
    Struct,
)  # fmt: skip

_PLAIN = {
    pa.string(): STRING, pa.large_string(): STRING, pa.bool_(): BOOLEAN, pa.int8(): TINYINT, pa.int16(): SMALLINT,
    pa.int32(): INT, pa.int64(): BIGINT, pa.float32(): FLOAT, pa.float64(): DOUBLE, pa.date32(): DATE,
    pa.binary(): BINARY, pa.large_binary(): BINARY, pa.string_view(): STRING, pa.binary_view(): BINARY,
}  # fmt: skip
_FINE = {type_: name for name, type_ in NANOSECONDS.items()}


def field_type(native: Any, *, is_instant: bool = False) -> FieldType | str:
    """The field type of an Arrow type, or its own name where there is none. `is_instant` marks Spark's old timestamps, which say
    nothing of a zone and are instants.
    """
    if t.is_dictionary(native):
        native = native.value_type  # a way to write the values, which says nothing of their type
    if native in _PLAIN:
        return _PLAIN[native]
    if t.is_timestamp(native):
        if is_instant:
            return TIMESTAMP
        own = TIMESTAMP_NTZ if native.tz is None else TIMESTAMP
        return _FINE[own] if native.unit == "ns" else own
    if t.is_decimal(native) and native.precision <= 38:
        return Decimal(native.precision, native.scale)
    if t.is_list(native) or t.is_large_list(native) or t.is_fixed_size_list(native):
        element = field_type(native.value_type)
        return str(native) if isinstance(element, str) else Array(element)
    if t.is_map(native):
        key, value = field_type(native.key_type), field_type(native.item_type)
        return str(native) if isinstance(key, str) or isinstance(value, str) else Map(key, value)
    if t.is_struct(native):
        fields = [(f.name, field_type(f.type)) for f in native]
        known = [(n, kind) for n, kind in fields if not isinstance(kind, str)]
        return Struct(tuple(known)) if len(known) == len(fields) else str(native)
    return str(native)


def has_nanoseconds(native: pa.DataType) -> bool:
    """Whether a type is a timestamp in nanoseconds, or holds one."""
    if t.is_timestamp(native):
        return bool(native.unit == "ns")
    return any(has_nanoseconds(native.field(i).type) for i in range(native.num_fields))
