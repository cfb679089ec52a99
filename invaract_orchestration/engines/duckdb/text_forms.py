"""From a written text to a value of the declared type, and whether the text is in the declared form.

No coercion: the form is checked on the text itself, since DuckDB's casts take `1.239` for a decimal(10,2), `1e3` for an
integer, ` 5`, `1_000` and `t`. Where a value's own text equals what was written the form is right, which is far quicker than a
pattern; only the others are matched.
"""

from __future__ import annotations

import re
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
    Decimal,
    FieldType,
)  # fmt: skip
from invaract_orchestration.contract.model import FieldSpec
from invaract_orchestration.engines.duckdb import sql_text as q
from invaract_orchestration.engines.duckdb.types import duckdb_type
from invaract_orchestration.errors import NotSupported

_INTEGER = "-?(0|[1-9][0-9]*)"
_FLOAT = r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?"
_CLOCK = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?"
_LOCAL = rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[T ]{_CLOCK}"
_ZONE = r"(Z|[+-](0[0-9]|1[0-7]):?[0-5][0-9]|[+-]18:?00|[+-](0[0-9]|1[0-8]))"
_DAYS = "BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"

# Spark's pattern letters: the text each may stand for, and DuckDB's word for it.
_LETTERS: dict[str, tuple[str, str]] = {
    "yyyy": ("[0-9]{4}", "%Y"), "yy": ("[0-9]{2}", "%y"), "MM": ("[0-9]{2}", "%m"), "M": ("[0-9]{1,2}", "%m"),
    "dd": ("[0-9]{2}", "%d"), "d": ("[0-9]{1,2}", "%d"), "HH": ("[0-9]{2}", "%H"), "H": ("[0-9]{1,2}", "%H"),
    "hh": ("[0-9]{2}", "%I"), "h": ("[0-9]{1,2}", "%I"), "a": ("(AM|PM)", "%p"),
    "mm": ("[0-9]{2}", "%M"), "m": ("[0-9]{1,2}", "%M"), "ss": ("[0-9]{2}", "%S"), "s": ("[0-9]{1,2}", "%S"),
    "SSSSSS": ("[0-9]{6}", "%f"), "SSS": ("[0-9]{3}", "%g"),
    "XXX": (r"(Z|[+-][0-9]{2}:[0-9]{2})", "%z"), "XX": (r"(Z|[+-][0-9]{4})", "%z"), "X": (r"(Z|[+-][0-9]{2})", "%z"),
    "MMM": ("[A-Z][a-z]{2}", "%b"), "MMMM": ("[A-Z][a-z]+", "%B"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reading:
    """The SQL of a value (null where the form is wrong) and of whether a non-null text is in the declared form."""

    value: str
    is_right: str


def read_text(text: str, type_: FieldType, spec: FieldSpec, zone: str) -> Reading:
    """How the SQL expression `text`, a varchar, is read as `type_`.

    `zone` is the contract's zone, used for instants written without one where the field allows it.

    Raises:
        NotSupported: a nested type, which a text cannot hold.
    """
    if type_ == STRING:
        return Reading(text, "true")
    if type_ == BOOLEAN:
        return Reading(f"CASE {text} WHEN 'true' THEN true WHEN 'false' THEN false END", f"{text} IN ('true', 'false')")
    if type_ in INTEGERS:
        value = f"TRY_CAST({text} AS {duckdb_type(type_)})"
        return Reading(value, _is_canonical(value, text, _INTEGER))
    if isinstance(type_, Decimal):
        return _decimal(text, type_, spec)
    if type_ in FLOATS:
        value = f"TRY_CAST({text} AS {duckdb_type(type_)})"
        return Reading(value, f"{text} = 'NaN' OR ({_is_canonical(value, text, _FLOAT)} AND isfinite({value}))")
    if type_ == DATE:
        return _date(text, spec)
    if type_ in (TIMESTAMP, TIMESTAMP_NTZ):
        return _timestamp(text, type_ == TIMESTAMP, spec, zone)
    if type_ == BINARY:
        value = f"TRY(from_base64({text}))"
        return Reading(value, f"{value} IS NOT NULL AND to_base64({value}) = {text}")
    raise NotSupported(
        f"field {spec.name!r}: a text cannot hold a {type_}",
        hint="use format json, parquet or delta for nested types, or declare the field as string",
    )


def _is_canonical(value: str, text: str, form: str) -> str:
    return (
        f"{value} IS NOT NULL AND (CAST({value} AS VARCHAR) = {text} OR regexp_full_match({text}, {q.text(form)}))"
    )


def _decimal(text: str, type_: Decimal, spec: FieldSpec) -> Reading:
    whole = max(type_.precision - type_.scale, 1)
    point = re.escape(spec.decimal_separator)
    fraction = f"({point}[0-9]{{1,{type_.scale}}})?" if type_.scale else ""
    forms = [f"-?[0-9]{{1,{whole}}}{fraction}"]
    plain = text
    if spec.group_separator is not None:
        group = re.escape(spec.group_separator)
        forms.append(f"-?[0-9]{{1,3}}({group}[0-9]{{3}})+{fraction}")
        plain = f"replace({plain}, {q.text(spec.group_separator)}, '')"
    if spec.decimal_separator != ".":
        plain = f"replace({plain}, {q.text(spec.decimal_separator)}, '.')"
    value = f"TRY_CAST({plain} AS {duckdb_type(type_)})"
    form = "|".join(f"({f})" for f in forms)
    if plain != text or type_.precision == type_.scale:  # a text of DuckDB's own begins with the point then
        return Reading(value, f"{value} IS NOT NULL AND regexp_full_match({text}, {q.text(form)})")
    return Reading(value, _is_canonical(value, text, form))


def _date(text: str, spec: FieldSpec) -> Reading:
    if spec.format is not None:
        form, words = spark_pattern(spec.format)
        value = f"TRY_CAST(TRY_STRPTIME({text}, {q.text(words)}) AS DATE)"
        return Reading(value, f"regexp_full_match({text}, {q.text(form)}) AND coalesce({value} {_DAYS}, false)")
    value = f"TRY_CAST({text} AS DATE)"
    return Reading(
        value, f"coalesce(CAST({value} AS VARCHAR) = {text} AND length({text}) = 10 AND {value} {_DAYS}, false)"
    )


def _timestamp(text: str, is_instant: bool, spec: FieldSpec, zone: str) -> Reading:
    if spec.format is not None:
        form, words = spark_pattern(spec.format)
        has_zone = "%z" in words
        zero = f"regexp_replace({text}, 'Z$', '+00:00')" if words.endswith("%z") else text  # strptime does not know Z
        parsed = f"TRY_STRPTIME({zero}, {q.text(words)})"
        zoned = f"CAST({parsed} AS TIMESTAMPTZ)" if has_zone else ""
        local = "" if has_zone else f"CAST({parsed} AS TIMESTAMP)"
        local_form, zoned_form = ("(?:^$)", form) if has_zone else (form, "")
    else:
        # no arithmetic is possible with `infinity`, nor near the ends of DuckDB's own time
        dated = f"CASE WHEN {text}[1] BETWEEN '0' AND '9' AND {text}[5] = '-' THEN {text} END"
        local, zoned = f"TRY_CAST({dated} AS TIMESTAMP)", f"TRY_CAST({text} AS TIMESTAMPTZ)"
        local_form, zoned_form = _LOCAL, _LOCAL + _ZONE
    if not is_instant:
        if not local:
            raise NotSupported(f"field {spec.name!r}: a timestamp_ntz has no zone, but its format {spec.format!r} has one")
        return Reading(local, _matches(text, local_form, local, "TIMESTAMP"))
    policy = spec.timezone or ("none" if spec.source_timezone or not zoned else "required")
    place = spec.source_timezone or zone
    instant, exists = _instant_of(local, place) if local else ("NULL", "false")
    is_zoned = _matches(text, zoned_form, zoned, "TIMESTAMPTZ") if zoned else "false"
    is_local = "false"
    if local:
        is_local = f"{_matches(text, local_form, local, 'TIMESTAMP')} AND {exists} AND {_in_years(instant, 'TIMESTAMPTZ')}"
    if policy == "required":
        return Reading(zoned or "NULL", is_zoned)
    if policy == "none":
        return Reading(instant, is_local)
    has = f"regexp_full_match({text}, {q.text(zoned_form)})" if zoned_form else "false"
    return Reading(
        f"CASE WHEN {has} THEN {zoned or 'NULL'} ELSE {instant} END", f"CASE WHEN {has} THEN {is_zoned} ELSE {is_local} END"
    )


def _matches(text: str, form: str, value: str, type_: str) -> str:
    return f"regexp_full_match({text}, {q.text(form)}) AND {_in_years(value, type_)}"


def _in_years(value: str, type_: str) -> str:
    """Whether a time is one that every engine and the table can hold."""
    first, last = f"0001-01-01 00:00:00{_utc(type_)}", f"9999-12-31 23:59:59.999999{_utc(type_)}"
    return f"coalesce({value} BETWEEN {type_} '{first}' AND {type_} '{last}', false)"


def _utc(type_: str) -> str:
    return "+00" if type_ == "TIMESTAMPTZ" else ""


def _instant_of(local: str, zone: str) -> tuple[str, str]:
    """The instant of a wall clock's time in a zone, and whether there is exactly one: none in a gap, two in an overlap.

    The zone's offsets a day before and after give the only two instants that can show this time.
    """
    z = q.text(zone)
    as_utc = f"({local} AT TIME ZONE 'UTC')"

    def candidate(days: str) -> str:
        near = f"({as_utc} {days})"
        return f"({as_utc} - (({near} AT TIME ZONE {z}) - ({near} AT TIME ZONE 'UTC')))"

    before, after = candidate("- INTERVAL 1 DAY"), candidate("+ INTERVAL 1 DAY")
    shows = f"(({before} AT TIME ZONE {z}) = {local})"
    shows_too = f"(({after} AT TIME ZONE {z}) = {local})"
    value = f"CASE WHEN {shows} THEN {before} ELSE {after} END"
    return value, f"({shows} OR {shows_too}) AND NOT ({shows} AND {shows_too} AND {before} <> {after})"


def spark_pattern(pattern: str) -> tuple[str, str]:
    """A Spark date pattern as (regular expression of the texts it takes, DuckDB's strptime format).

    Raises:
        NotSupported: a letter outside of the supported ones.
    """
    form, words, at = "", "", 0
    while at < len(pattern):
        letter = pattern[at]
        if letter == "'":
            end = pattern.find("'", at + 1)
            end = len(pattern) if end < 0 else end
            literal = pattern[at + 1 : end] or "'"
            form, words, at = form + re.escape(literal), words + literal.replace("%", "%%"), end + 1
            continue
        run = re.match(re.escape(letter) + "+", pattern[at:]).group(0)  # type: ignore[union-attr]
        if not letter.isalpha():
            form, words = form + re.escape(run), words + run.replace("%", "%%")
        elif run in _LETTERS:
            form, words = form + _LETTERS[run][0], words + _LETTERS[run][1]
        else:
            raise NotSupported(
                f"format {pattern!r}: {run!r} is not supported", hint=f"the supported letters are {', '.join(_LETTERS)}"
            )
        at += len(run)
    return form, words
