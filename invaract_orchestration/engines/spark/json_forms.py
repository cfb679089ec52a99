"""From a JSON value to a value of the declared type: a value has its JSON type, nothing is coerced.

A record is read as a variant, which keeps whole numbers and decimals of up to 38 digits exactly, and refuses an object that
holds a key twice.
"""

from __future__ import annotations

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
from invaract_orchestration.contract.fields import FieldSpec
from invaract_orchestration.engines.spark import json_repeats
from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.text_forms import Hold, again, is_finite, read_text
from invaract_orchestration.engines.spark.types import spark_type
from invaract_orchestration.errors import NotSupported

_OBJECT = "MAP<STRING, VARIANT>"
_RUN_AND_NUMBER = r'\G((?:[^"0-9-]++|"[^"\\]*+(?:\\[\s\S][^"\\]*+)*+")*+)(-?[0-9][0-9.eE+-]*+)'
_LONG = "[0-9][0-9.]{38}"
_RUN_AND_ZEROS = (
    r'\G((?:[^"0-9-]++|"[^"\\]*+(?:\\[\s\S][^"\\]*+)*+"|-(?![0-9]))*+)'
    r"(-?[0-9]++)(?:(?:(?<=[0-9]{20})\.0++|(\.(?:[0-9]*[1-9]|0))0*+)(?![0-9eE]))?"
)
_OBJECT_BEGIN = q.text('{"r":')


@dataclass(frozen=True, slots=True)
class JsonReading:
    """The SQL of a value, and per path below it whether what stands there has the declared type (null counts as right)."""

    value: str
    rights: tuple[tuple[tuple[str, ...], str], ...]


def record(line: str) -> str:
    """The variant of a line that is one JSON value and nothing else, else null.

    Spark's parser stops after the first value, so the line is also read inside of an array: there, what follows it is an
    error or another element. What would close that array is an error inside of an object.
    """
    inside = f"TRY_CAST(try_parse_json(concat('[', {line}, ']')) AS ARRAY<VARIANT>)"
    closes = rf"{line} RLIKE {q.text(chr(92) + '}' + chr(92) + 's*' + chr(92) + ']')}"
    other = f"try_parse_json(concat({_OBJECT_BEGIN}, {line}, {q.text('}')}))"
    return f"CASE WHEN size({inside}) = 1 AND (NOT ({closes}) OR {other} IS NOT NULL) THEN {inside}[0] END"


def without_zeros(text: str) -> str:
    """A JSON text that holds a long number without the zeros at the ends of its fractions: they do not count, and Spark makes a
    double of more than 38 digits. A fraction of a number that could be a bigint keeps one, as what is written so is no integer.
    """
    cut = f"regexp_replace({text}, {q.text(_RUN_AND_ZEROS)}, {q.text('$1$2$3')})"
    return f"CASE WHEN {text} RLIKE {q.text(_LONG)} AND is_valid_utf8({text}) THEN {cut} ELSE {text} END"  # else it is mended too


def is_object(value: str) -> str:
    """Whether a variant is an object; never null."""
    return f"coalesce(schema_of_variant({value}) LIKE 'OBJECT<%', false)"


def written(text: str) -> str:
    """A JSON text in which every number is a string, as which it is kept digit by digit."""
    return f"regexp_replace({text}, {q.text(_RUN_AND_NUMBER)}, {q.text('$1' + chr(34) + '$2' + chr(34))})"


def texts_of(text: str) -> str:
    """The texts of an object's members by their name: of strings without quotes and escapes, of numbers as Spark writes them,
    but for a text that is `written`.
    """
    return f"from_json({text}, 'MAP<STRING, STRING>')"


def elements_of(text: str) -> str:
    """The texts of an array's elements, see `texts_of`."""
    return f"from_json({text}, 'ARRAY<STRING>')"


def members(value: str) -> str:
    """The members of an object by their name."""
    return f"TRY_CAST({value} AS {_OBJECT})"


def read_json(
    j: str, text: str, type_: FieldType, spec: FieldSpec, zone: str, path: tuple[str, ...], depth: int = 0, hold: Hold = again
) -> JsonReading:
    """How the SQL expression `j`, a variant or null, is read as `type_`; `text` is what it is `written` as."""
    match type_:
        case Array(element):
            return _array(j, text, element, spec, zone, path, depth)
        case Map(key, value_type):
            return _map(j, text, key, value_type, spec, zone, path, depth)
        case Struct(fields):
            return _struct(j, text, fields, spec, zone, path, depth, hold)
    kind = hold(f"schema_of_variant({j})")
    if type_ == STRING and spec.as_text:
        is_number = f"{kind} IN ('BIGINT', 'DOUBLE', 'FLOAT') OR {kind} LIKE 'DECIMAL(%'"
        return _leaf(path, j, text, f"({kind} IN ('STRING', 'BOOLEAN') OR {is_number})")
    if type_ == STRING:
        return _leaf(path, j, _text(j), f"{kind} = 'STRING'")
    if type_ == BOOLEAN:
        return _leaf(path, j, f"try_variant_get({j}, '$', 'boolean')", f"{kind} = 'BOOLEAN'")
    if type_ in (DATE, TIMESTAMP, TIMESTAMP_NTZ, BINARY):
        read = read_text(hold(_text(j)), type_, spec, zone, hold)
        return _leaf(path, j, read.value, f"{kind} = 'STRING' AND ({read.is_right})")
    value = f"try_variant_get({j}, '$', {q.text(spark_type(type_).lower())})"
    if type_ in FLOATS:
        value = hold(f"({value} + CAST(0 AS {spark_type(type_)}))")  # a zero has no sign
        is_number = f"({kind} IN ('BIGINT', 'DOUBLE', 'FLOAT') OR {kind} LIKE 'DECIMAL(%')"
        return _leaf(path, j, value, f"{is_number} AND {is_finite(value)}")
    value = hold(value)
    if type_ in INTEGERS:
        return _leaf(path, j, value, f"{kind} = 'BIGINT' AND {value} IS NOT NULL")
    if isinstance(type_, Decimal):
        scale = f"CAST(regexp_extract({kind}, {q.text(r',([0-9]+)')}, 1) AS INT)"
        is_exact = f"({kind} = 'BIGINT' OR ({kind} LIKE 'DECIMAL(%' AND {scale} <= {type_.scale}))"
        return _leaf(path, j, value, f"{is_exact} AND {value} IS NOT NULL")
    raise NotSupported(f"field {spec.name!r}: {type_} cannot be read from JSON")


def _text(j: str) -> str:
    return f"try_variant_get({j}, '$', 'string')"


def _leaf(path: tuple[str, ...], j: str, value: str, is_right: str) -> JsonReading:
    return JsonReading(value, ((path, f"{_is_null(j)} OR coalesce({is_right}, false)"),))


def _is_null(j: str) -> str:
    return f"({j} IS NULL OR is_variant_null({j}))"


def _array(j: str, text: str, element: FieldType, spec: FieldSpec, zone: str, path: tuple[str, ...], depth: int) -> JsonReading:
    each = f"e{depth}"
    texts = f"{elements_of(text)}[{each}_at]"
    inner = read_json(each, texts, element, _element(spec, element), zone, path, depth + 1)
    items = f"TRY_CAST({j} AS ARRAY<VARIANT>)"
    value = f"CAST(transform({items}, ({each}, {each}_at) -> {inner.value}) AS {spark_type(Array(element))})"
    is_array = f"coalesce(schema_of_variant({j}) LIKE 'ARRAY<%', false)"
    return JsonReading(f"CASE WHEN {is_array} THEN {value} END", _of_each(j, is_array, items, each, path, inner.rights))


def _map(
    j: str, text: str, key: FieldType, value: FieldType, spec: FieldSpec, zone: str, path: tuple[str, ...], depth: int
) -> JsonReading:  # fmt: skip
    each = f"e{depth}"
    keys = read_text(f"{each}.key", key, FieldSpec(name=spec.name, type=key), zone)
    inner = read_json(f"{each}.value", f"{texts_of(text)}[{each}.key]", value, _element(spec, value), zone, path, depth + 1)
    own_key = f"({keys.value} + CAST(0 AS {spark_type(key)}))" if key in FLOATS else keys.value  # a zero has no sign
    entries = f"map_entries({members(j)})"
    is_once = f"size(array_distinct(transform({entries}, {each} -> {own_key}))) = size({entries})"
    is_whole = f"({is_object(j)} AND NOT {json_repeats.is_marked(j)} AND coalesce({is_once}, false))"
    rights = _of_each(j, is_whole, entries, each, path, ((path, keys.is_right), *inner.rights))
    own = q.all_of(r for p, r in rights if p == path)
    built = f"map_from_entries(transform({entries}, {each} -> struct({own_key} AS key, {inner.value} AS value)))"
    return JsonReading(
        f"CASE WHEN {is_whole} AND {own} THEN CAST({built} AS {spark_type(Map(key, value))}) END", rights
    )


def _element(spec: FieldSpec, type_: FieldType) -> FieldSpec:
    """What is declared of the elements: the format of the field is theirs, its fields are those of each."""
    return spec.model_copy(update={"type": type_})


def _of_each(
    j: str, is_right_kind: str, items: str, each: str, path: tuple[str, ...], rights: tuple[tuple[tuple[str, ...], str], ...]
) -> tuple[tuple[tuple[str, ...], str], ...]:
    """The forms of the elements become forms of the field: those of an element itself stand under its own path."""

    def all_are(right: str) -> str:
        return f"coalesce(forall({items}, {each} -> {right}), true)"

    own = all_are(q.all_of(r for p, r in rights if p == path))
    below = tuple((p, f"CASE WHEN NOT {is_right_kind} THEN true ELSE {all_are(r)} END") for p, r in rights if p != path)
    return ((path, f"{_is_null(j)} OR CASE WHEN {is_right_kind} THEN {own} ELSE false END"), *below)


def part_of(spec: FieldSpec, name: str, type_: FieldType) -> FieldSpec:
    """A field of a struct of which the type alone is declared: it is as complete as what it stands in."""
    return FieldSpec(name=name, type=type_, complete=spec.complete)


def _struct(
    j: str, text: str, fields: tuple[tuple[str, FieldType], ...], spec: FieldSpec, zone: str, path: tuple[str, ...],
    depth: int, hold: Hold,
) -> JsonReading:  # fmt: skip
    parts, is_right_kind = hold(members(j)), hold(is_object(j))
    children = {child.name: child for child in spec.fields}
    inner = []
    for n, t in fields:
        part = hold(f"{parts}[{q.text(n)}]")
        own = f"{texts_of(text)}[{q.text(n)}]"
        inner.append((n, t, read_json(part, own, t, children.get(n, part_of(spec, n, t)), zone, (*path, n), depth, hold)))
    packed = ", ".join(f"{q.text(n)}, CAST({r.value} AS {spark_type(t)})" for n, t, r in inner)
    known = f"size(array_except(map_keys({parts}), {q.texts([n for n, _ in fields])})) = 0"
    if spec.complete:
        known += f" AND size(array_except({q.texts([n for n, _ in fields])}, map_keys({parts}))) = 0"
    right = (path, f"{_is_null(j)} OR coalesce({is_right_kind} AND {known}, false)")
    below = tuple((p, f"NOT {is_right_kind} OR ({r})") for _, _, read in inner for p, r in read.rights)
    return JsonReading(f"CASE WHEN {is_right_kind} THEN named_struct({packed}) END", (right, *below))
