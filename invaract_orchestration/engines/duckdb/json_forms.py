"""From a JSON value to a value of the declared type: a value has its JSON type, nothing is coerced.

DuckDB's JSON reader keeps numbers as 64-bit integers or doubles, which loses digits of long decimals and how a number was
written, so in a line that holds a long number or an exponent every number is rewritten as an object of one reserved key, with
its text, before it is parsed (a line that holds that key itself is refused). It also takes a trailing comma, NaN and Infinity,
which are no JSON; they are refused here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from invaract_orchestration.contract.field_types import (
    BINARY,
    BOOLEAN,
    DATE,
    FLOATS,
    INTEGERS,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Array,
    Decimal,
    FieldType,
    Map,
    Struct,
)  # fmt: skip
from invaract_orchestration.contract.fields import FieldSpec, walk_fields
from invaract_orchestration.engines.duckdb import sql_text as q
from invaract_orchestration.engines.duckdb.text_forms import read_text
from invaract_orchestration.engines.duckdb.types import duckdb_type
from invaract_orchestration.errors import NotSupported

_STRING = r'"(?:[^"\\]|\\.)*"'
_WRITTEN_NUMBER = r"[0-9][0-9.]{15}|[0-9][eE][+-]?[0-9]"
_ANY_FRACTION = rf"{_WRITTEN_NUMBER}|[0-9]\.[0-9]|-0"
_RUN_AND_NUMBER = rf'((?:{_STRING}|[^"0-9-])+|)(-?[0-9][0-9.eE+-]*)?'
_ZEROS = r"^(-?[0-9]+(?:\.[0-9]*[1-9])?)\.?0*$"
_NO_NUMBER = "(?i)nan|inf"
_MARK = "\uf8ffn"
_MARK_WRITTEN = r"(?i)(\x{F8FF}|\\uf8ff)(n|\\u006e)"


@dataclass(frozen=True, slots=True)
class JsonReading:
    """The SQL of a value, and per path below it whether what stands there has the declared type (null counts as right)."""

    value: str
    rights: tuple[tuple[tuple[str, ...], str], ...]


def exact_line(line: str, fields: tuple[FieldSpec, ...]) -> str:
    """The JSON text of a line with its numbers kept digit by digit, where they are long or a field takes their text."""
    written = _ANY_FRACTION if any(f.as_text for _, f in walk_fields(fields)) else _WRITTEN_NUMBER
    as_object = "\\1{" + f'"{_MARK}":"' + '\\2"}'
    rewritten = f"regexp_replace({line}, {q.text(_RUN_AND_NUMBER)}, {q.text(as_object)}, 'g')"
    empty = q.text('{"' + _MARK + '":""}')
    return f"CASE WHEN regexp_matches({line}, {q.text(written)}) THEN replace({rewritten}, {empty}, '') ELSE {line} END"


def is_value(text: str) -> str:
    """Whether a text is one JSON value and nothing else, strictly."""
    bare = f"regexp_replace({text}, {q.text(_STRING)}, '0', 'g')"
    comma = rf"regexp_matches({text}, ',\s*[}}\]]') AND regexp_matches({bare}, ',\s*[}}\]]')"
    no_number = f"regexp_matches({text}, {q.text(_NO_NUMBER)}) AND regexp_matches({bare}, {q.text(_NO_NUMBER)})"
    return f"json_valid({text}) AND NOT ({comma}) AND NOT ({no_number})"


def is_record(line: str) -> str:
    """Whether a line is one JSON object, strictly."""
    is_object = f"json_type(TRY_CAST({line} AS JSON)) = 'OBJECT'"
    return f"{is_value(line)} AND {is_object} AND NOT regexp_matches({line}, {q.text(_MARK_WRITTEN)})"


def has_each_key_once(value: str) -> str:
    """Whether no key of a JSON object is there twice."""
    return f"len(json_keys({value})) = len(list_distinct(json_keys({value})))"


def members(value: str, names: list[str]) -> str:
    """A struct of an object's members, each as JSON, null where it is missing or null."""
    return f"from_json({value}, {q.text(json.dumps(dict.fromkeys(names, 'JSON')))})"


def read_json(j: str, type_: FieldType, spec: FieldSpec, zone: str, path: tuple[str, ...], depth: int = 0) -> JsonReading:
    """How the SQL expression `j`, a JSON value or null, is read as `type_`."""
    kind = f"json_type({j})"
    match type_:
        case Array(element):
            return _array(j, element, spec, zone, path, depth)
        case Map(key, held):
            return _map(j, key, held, spec, zone, path, depth)
        case Struct(fields):
            return _struct(j, fields, spec, zone, path, depth)
    if type_ == STRING and not spec.as_text:
        return _leaf(path, j, f"({j} ->> '$')", f"{kind} = 'VARCHAR'")
    if type_ == BOOLEAN:
        return _leaf(path, j, f"TRY_CAST({j} AS BOOLEAN)", f"{kind} = 'BOOLEAN'")
    if type_ in (DATE, TIMESTAMP, TIMESTAMP_NTZ, BINARY):
        read = read_text(f"({j} ->> '$')", type_, spec, zone)
        return _leaf(path, j, read.value, f"{kind} = 'VARCHAR' AND ({read.is_right})")
    number = f"""(CASE {kind} WHEN 'OBJECT' THEN {j} ->> '$."{_MARK}"' ELSE CAST({j} AS VARCHAR) END)"""
    is_number = f"""({kind} IN ('UBIGINT', 'BIGINT', 'DOUBLE') OR ({kind} = 'OBJECT' AND json_exists({j}, '$."{_MARK}"')))"""
    if isinstance(type_, Decimal):  # a number ends with no zeros, however it was written
        number = f"regexp_replace({number}, {q.text(_ZEROS)}, '\\1')"
    if type_ == STRING:
        text = f"CASE WHEN {is_number} THEN {number} ELSE ({j} ->> '$') END"
        return _leaf(path, j, text, f"{kind} IN ('VARCHAR', 'BOOLEAN') OR {is_number}")
    if type_ in INTEGERS or isinstance(type_, Decimal):
        plain = FieldSpec(name=spec.name, type=type_)
        read = read_text(number, type_, plain, zone)
        return _leaf(path, j, read.value, f"{is_number} AND ({read.is_right})")
    if type_ in FLOATS:
        value = f"(TRY_CAST({number} AS {duckdb_type(type_)}) + CAST(0 AS {duckdb_type(type_)}))"  # a zero has no sign
        finite = f"(isfinite({value}) OR isnan({value}))"
        return _leaf(path, j, value, f"{is_number} AND {value} IS NOT NULL AND {finite}")
    raise NotSupported(f"field {spec.name!r}: {type_} cannot be read from JSON")


def _leaf(path: tuple[str, ...], j: str, value: str, is_right: str) -> JsonReading:
    return JsonReading(value, ((path, f"{_is_null(j)} OR coalesce({is_right}, false)"),))


def _is_null(j: str) -> str:
    return f"({j} IS NULL OR json_type({j}) = 'NULL')"


def _array(j: str, element: FieldType, spec: FieldSpec, zone: str, path: tuple[str, ...], depth: int) -> JsonReading:
    each = f"e{depth}"
    inner = read_json(each, element, _element(spec, element), zone, path, depth + 1)
    items = f"from_json({j}, '[\"JSON\"]')"
    value = f"CAST(list_transform({items}, lambda {each}: {inner.value}) AS {duckdb_type(Array(element))})"
    is_array = f"json_type({j}) = 'ARRAY'"
    return JsonReading(
        f"CASE WHEN {is_array} THEN {value} END", _of_each(j, is_array, items, each, path, inner.rights)
    )


def _map(j: str, key: FieldType, value: FieldType, spec: FieldSpec, zone: str, path: tuple[str, ...], depth: int) -> JsonReading:
    each = f"e{depth}"
    keys = read_text(f"{each}.key", key, FieldSpec(name=spec.name, type=key), zone)
    own_key = f"({keys.value} + CAST(0 AS {duckdb_type(key)}))" if key in FLOATS else keys.value  # a zero has no sign
    inner = read_json(f"{each}.value", value, _element(spec, value), zone, path, depth + 1)
    entries = f"""map_entries(from_json({j}, '"MAP(VARCHAR,JSON)"'))"""
    is_once = f"len(list_distinct(list_transform({entries}, lambda {each}: {own_key}))) = len({entries})"
    is_whole = f"CASE WHEN json_type({j}) = 'OBJECT' AND {has_each_key_once(j)} THEN {is_once} ELSE false END"
    rights = _of_each(j, is_whole, entries, each, path, ((path, keys.is_right), *inner.rights))
    own = q.all_of(r for p, r in rights if p == path)
    built = f"map_from_entries(list_transform({entries}, lambda {each}: {{'k': {own_key}, 'v': {inner.value}}}))"
    value_sql = f"CAST({built} AS {duckdb_type(Map(key, value))})"
    return JsonReading(f"CASE WHEN {j} IS NOT NULL AND json_type({j}) = 'OBJECT' AND ({own}) THEN {value_sql} END", rights)


def part_of(spec: FieldSpec, name: str, type_: FieldType) -> FieldSpec:
    """A field of a struct of which the type alone is declared: it is as complete as what it stands in."""
    return FieldSpec(name=name, type=type_, complete=spec.complete)


def _element(spec: FieldSpec, type_: FieldType) -> FieldSpec:
    """What is declared of the elements: the format of the field is theirs, its fields are those of each."""
    return spec.model_copy(update={"type": type_})


def _of_each(
    j: str, is_right_kind: str, items: str, each: str, path: tuple[str, ...], rights: tuple[tuple[tuple[str, ...], str], ...]
) -> tuple[tuple[tuple[str, ...], str], ...]:
    """The forms of the elements become forms of the field: those of an element itself stand under its own path."""

    def all_are(right: str) -> str:
        return f"coalesce(list_bool_and(list_transform({items}, lambda {each}: {right})), true)"

    own = all_are(q.all_of(r for p, r in rights if p == path))
    below = tuple(
        (p, f"CASE WHEN NOT coalesce({is_right_kind}, false) THEN true ELSE {all_are(r)} END") for p, r in rights if p != path
    )
    return ((path, f"{_is_null(j)} OR CASE WHEN {is_right_kind} THEN {own} ELSE false END"), *below)


def _struct(
    j: str, fields: tuple[tuple[str, FieldType], ...], spec: FieldSpec, zone: str, path: tuple[str, ...], depth: int
) -> JsonReading:
    parts = members(j, [n for n, _ in fields])
    children = {child.name: child for child in spec.fields}
    inner = [
        (n, read_json(f"{parts}.{q.name(n)}", t, children.get(n, part_of(spec, n, t)), zone, (*path, n), depth))
        for n, t in fields
    ]
    packed = ", ".join(f"{q.name(n)} := {r.value}" for n, r in inner)
    is_object = f"(json_type({j}) = 'OBJECT' AND {has_each_key_once(j)})"
    names = q.texts([n for n, _ in fields])
    known = f"list_has_all({names}, json_keys({j}))"
    if spec.complete:
        known += f" AND list_has_all(json_keys({j}), {names})"
    own = (path, f"{_is_null(j)} OR coalesce({is_object} AND {known}, false)")
    below = tuple((p, f"NOT coalesce({is_object}, false) OR {r}") for _, read in inner for p, r in read.rights)
    return JsonReading(f"CASE WHEN {is_object} THEN struct_pack({packed}) END", (own, *below))


