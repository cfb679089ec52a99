"""Field types in Delta's schema, and back."""

from __future__ import annotations

from typing import Any

from deltalake.schema import ArrayType, Field, MapType, PrimitiveType, Schema, StructType

from invaract_orchestration.contract.field_types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    Array,
    Decimal,
    FieldType,
    Map,
    Primitive,
    Struct,
)  # fmt: skip

_NAMES: dict[Primitive, str] = {
    STRING: "string", BOOLEAN: "boolean", TINYINT: "byte", SMALLINT: "short", INT: "integer", BIGINT: "long",
    FLOAT: "float", DOUBLE: "double", DATE: "date", TIMESTAMP: "timestamp", TIMESTAMP_NTZ: "timestamp_ntz",
    BINARY: "binary",
}  # fmt: skip
_TYPES = {name: type_ for type_, name in _NAMES.items()}


def delta_type(type_: FieldType) -> Any:
    """Delta's type for a field type."""
    match type_:
        case Primitive():
            return PrimitiveType(_NAMES[type_])
        case Decimal(precision, scale):
            return PrimitiveType(f"decimal({precision},{scale})")
        case Array(element):
            return ArrayType(delta_type(element), contains_null=True)
        case Map(key, value):
            return MapType(delta_type(key), delta_type(value), value_contains_null=True)
        case Struct(fields):
            return StructType([Field(n, delta_type(t)) for n, t in fields])


def field_type(native: Any) -> FieldType | str:
    """The field type of a Delta type, or its own name where there is none."""
    match native:
        case PrimitiveType():
            if native.type.startswith("decimal"):
                precision, scale = native.type[8:-1].split(",")
                return Decimal(int(precision), int(scale))
            return _TYPES.get(native.type, native.type)
        case ArrayType():
            element = field_type(native.element_type)
            return str(native) if isinstance(element, str) else Array(element)
        case MapType():
            key, value = field_type(native.key_type), field_type(native.value_type)
            return str(native) if isinstance(key, str) or isinstance(value, str) else Map(key, value)
        case StructType():
            fields = [(f.name, field_type(f.type)) for f in native.fields]
            known = [(n, t) for n, t in fields if not isinstance(t, str)]
            return Struct(tuple(known)) if len(known) == len(fields) else str(native)
    return str(native)


def delta_schema(columns: tuple[tuple[str, FieldType], ...], not_null: frozenset[str]) -> Schema:
    """A table's schema; the named columns are NOT NULL."""
    return Schema([Field(n, delta_type(t), nullable=n not in not_null) for n, t in columns])
