"""Field types in DuckDB's words, and back."""

from __future__ import annotations

from typing import Any

import duckdb

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
from invaract_orchestration.engines.duckdb import sql_text as q

_NAMES: dict[Primitive, str] = {
    STRING: "VARCHAR", BOOLEAN: "BOOLEAN", TINYINT: "TINYINT", SMALLINT: "SMALLINT", INT: "INTEGER", BIGINT: "BIGINT",
    FLOAT: "FLOAT", DOUBLE: "DOUBLE", DATE: "DATE", TIMESTAMP: "TIMESTAMPTZ", TIMESTAMP_NTZ: "TIMESTAMP",
    BINARY: "BLOB",
}  # fmt: skip
_FROM_ID = {
    "varchar": STRING, "boolean": BOOLEAN, "tinyint": TINYINT, "smallint": SMALLINT, "integer": INT, "bigint": BIGINT,
    "float": FLOAT, "double": DOUBLE, "date": DATE, "timestamp with time zone": TIMESTAMP, "timestamp": TIMESTAMP_NTZ,
    "blob": BINARY,
}  # fmt: skip


def duckdb_type(type_: FieldType) -> str:
    """The DuckDB type that holds exactly the values of a field type."""
    match type_:
        case Primitive():
            return _NAMES[type_]
        case Decimal(precision, scale):
            return f"DECIMAL({precision},{scale})"
        case Array(element):
            return f"{duckdb_type(element)}[]"
        case Map(key, value):
            return f"MAP({duckdb_type(key)}, {duckdb_type(value)})"
        case Struct(fields):
            return "STRUCT(" + ", ".join(f"{q.name(n)} {duckdb_type(t)}" for n, t in fields) + ")"


def known_types(relation: duckdb.DuckDBPyRelation) -> dict[str, FieldType | None]:
    """The type of each column of a relation, none where no field can have it."""
    found = {n: field_type(t) for n, t in zip(relation.columns, relation.types, strict=True)}
    return {n: None if isinstance(t, str) else t for n, t in found.items()}


def field_type(native: Any) -> FieldType | str:
    """The field type of a DuckDB type, or its own name where there is none (unsigned, nanoseconds, ...)."""
    match native.id:
        case "decimal":
            parts = dict(native.children)
            return Decimal(parts["precision"], parts["scale"])
        case "list":
            element = field_type(native.children[0][1])
            return str(native) if isinstance(element, str) else Array(element)
        case "map":
            key, value = (field_type(t) for _, t in native.children)
            return str(native) if isinstance(key, str) or isinstance(value, str) else Map(key, value)
        case "struct":
            fields = [(n, field_type(t)) for n, t in native.children]
            known = [(n, t) for n, t in fields if not isinstance(t, str)]
            return Struct(tuple(known)) if len(known) == len(fields) else str(native)
    return _FROM_ID.get(native.id, str(native).lower())
