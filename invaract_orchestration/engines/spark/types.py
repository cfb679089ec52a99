"""Field types in Spark's words, and back."""

from __future__ import annotations

from typing import Any

from invaract_orchestration.contract.field_types import (
    PRIMITIVES,
    Array,
    Decimal,
    FieldType,
    Map,
    Primitive,
    Struct,
)  # fmt: skip
from invaract_orchestration.engines.spark import sql_text as q

_NAMES = {p.name: p for p in PRIMITIVES}
_FROM_SPARK = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}


def spark_type(type_: FieldType) -> str:
    """The Spark type that holds exactly the values of a field type, as DDL."""
    match type_:
        case Primitive():
            return type_.name.upper()
        case Decimal(precision, scale):
            return f"DECIMAL({precision},{scale})"
        case Array(element):
            return f"ARRAY<{spark_type(element)}>"
        case Map(key, value):
            return f"MAP<{spark_type(key)}, {spark_type(value)}>"
        case Struct(fields):
            return "STRUCT<" + ", ".join(f"{q.name(n)}: {spark_type(t)}" for n, t in fields) + ">"


def schema_text(columns: tuple[tuple[str, FieldType], ...]) -> str:
    """Columns as the text of a schema."""
    return ", ".join(f"{q.name(n)} {spark_type(t)}" for n, t in columns)


def field_type(native: Any) -> FieldType | str:
    """The field type of a Spark type (its JSON value), or its own name where there is none."""
    if isinstance(native, str):
        if native.startswith("decimal("):
            precision, _, scale = native[8:-1].partition(",")
            return Decimal(int(precision), int(scale or 0))
        return _NAMES.get(_FROM_SPARK.get(native, native), native)
    match native["type"]:
        case "array":
            element = field_type(native["elementType"])
            return f"array<{element}>" if isinstance(element, str) else Array(element)
        case "map":
            key, value = field_type(native["keyType"]), field_type(native["valueType"])
            return f"map<{key},{value}>" if isinstance(key, str) or isinstance(value, str) else Map(key, value)
        case "struct":
            fields = [(f["name"], field_type(f["type"])) for f in native["fields"]]
            known = [(n, t) for n, t in fields if not isinstance(t, str)]
            return Struct(tuple(known)) if len(known) == len(fields) else "struct"
    return str(native["type"])


def column_types(frame: Any) -> list[tuple[str, FieldType | str, bool]]:
    """Name, type and whether it may be null of each column of a data frame; no data is read."""
    return [(f["name"], field_type(f["type"]), f["nullable"]) for f in frame.schema.jsonValue()["fields"]]
