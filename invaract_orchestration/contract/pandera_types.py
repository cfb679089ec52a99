"""Field types in the words of pandera's backends, and back."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from invaract_orchestration.contract.field_types import Array, Decimal, FieldType, Map, Primitive, Struct
from invaract_orchestration.errors import UsageError

_SPARK_JSON = {"tinyint": "byte", "smallint": "short", "int": "integer", "bigint": "long"}
_POLARS = {
    "string": "String", "boolean": "Boolean", "tinyint": "Int8", "smallint": "Int16", "int": "Int32", "bigint": "Int64",
    "float": "Float32", "double": "Float64", "date": "Date", "binary": "Binary",
}  # fmt: skip
_PANDAS = {
    "string": "str", "boolean": "bool", "tinyint": "int8", "smallint": "int16", "int": "int32", "bigint": "int64",
    "float": "float32", "double": "float64", "timestamp": "datetime64[ns, UTC]", "timestamp_ntz": "datetime64[ns]",
    "binary": "object",
}  # fmt: skip
_NAMES = {
    "str": "string", "string": "string", "object": "string", "bool": "boolean", "boolean": "boolean", "int8": "tinyint",
    "int16": "smallint", "int32": "int", "int64": "bigint", "float32": "float", "float64": "double", "date": "date",
    "binary": "binary", "datetime64[ns, utc]": "timestamp", "datetime64[us, utc]": "timestamp",
    "datetime64[ns]": "timestamp_ntz", "datetime64[us]": "timestamp_ntz", "stringtype()": "string",
    "booleantype()": "boolean", "bytetype()": "tinyint", "shorttype()": "smallint", "integertype()": "int",
    "longtype()": "bigint", "floattype()": "float", "doubletype()": "double", "datetype()": "date",
    "timestamptype()": "timestamp", "timestampntztype()": "timestamp_ntz", "binarytype()": "binary",
}  # fmt: skip
_DECIMAL = re.compile(r"decimal(?:type)?\((?:precision=)?(\d+), ?(?:scale=)?(\d+)\)\Z")


def native_type(type_: FieldType, backend: str, *, nullable: bool) -> Any:
    """The backend's type for a field type. `nullable` whole numbers of pandas are those with a missing value of their own."""
    if backend == "polars":
        return _polars(type_)
    if backend == "pyspark":
        types: Any = import_module("pandera.engines.pyspark_engine").pst
        field = {"name": "c", "type": _spark_json(type_), "nullable": True, "metadata": {}}
        return types.StructType.fromJson({"type": "struct", "fields": [field]}).fields[0].dataType
    return _pandas(type_, nullable)


def field_type_of(name: str, native: Any) -> FieldType:
    """The field type of a column's pandera type. Raises UsageError where there is none."""
    text = str(native).lower()
    decimal = _DECIMAL.match(text)
    if decimal:
        return Decimal(int(decimal.group(1)), int(decimal.group(2)))
    if text.startswith("datetime("):
        return Primitive("timestamp_ntz" if "time_zone=none" in text else "timestamp")
    known = _NAMES.get(text)
    if known is None:
        raise UsageError(
            f"pandera column {name!r} has the type {native}, which has no name in a contract",
            hint="the types are listed in docs/contract.md",
        )
    return Primitive(known)


def _spark_json(type_: FieldType) -> Any:
    match type_:
        case Primitive(name):
            return _SPARK_JSON.get(name, name)
        case Decimal():
            return str(type_)
        case Array(element):
            return {"type": "array", "elementType": _spark_json(element), "containsNull": True}
        case Map(key, value):
            return {"type": "map", "keyType": _spark_json(key), "valueType": _spark_json(value), "valueContainsNull": True}
        case Struct(fields):
            parts = [{"name": n, "type": _spark_json(t), "nullable": True, "metadata": {}} for n, t in fields]
            return {"type": "struct", "fields": parts}


def _polars(type_: FieldType) -> Any:
    polars: Any = import_module("polars")
    match type_:
        case Primitive("timestamp"):
            return polars.Datetime("us", "UTC")
        case Primitive("timestamp_ntz"):
            return polars.Datetime("us")
        case Primitive(name):
            return getattr(polars, _POLARS[name])
        case Decimal(precision, scale):
            return polars.Decimal(precision, scale)
        case Array(element):
            return polars.List(_polars(element))
        case Map(key, value):
            return polars.List(polars.Struct({"key": _polars(key), "value": _polars(value)}))
        case Struct(fields):
            return polars.Struct({n: _polars(t) for n, t in fields})


def _pandas(type_: FieldType, nullable: bool) -> Any:
    engine: Any = import_module("pandera.engines.pandas_engine")
    match type_:
        case Primitive("date"):
            return engine.Date()
        case Primitive("boolean") if nullable:
            return "boolean"
        case Primitive("tinyint" | "smallint" | "int" | "bigint" as name) if nullable:
            return _PANDAS[name].capitalize()
        case Primitive(name):
            return _PANDAS[name]
        case Decimal(precision, scale):
            return engine.Decimal(precision, scale)
    return "object"
