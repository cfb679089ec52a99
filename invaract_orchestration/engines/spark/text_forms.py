"""From a written text to a value of the declared type, and whether the text is in the declared form.

No coercion: the form is checked on the text itself, since Spark's casts trim blanks, take `+5`, `1.5f` and `t`, and round
decimals. The session's zone is UTC, see `session`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
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
from invaract_orchestration.contract.fields import FieldSpec
from invaract_orchestration.contract.time_formats import TimePart, format_letters, parse_time_format
from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.types import spark_type
from invaract_orchestration.errors import NotSupported

_INTEGER = "-?(0|[1-9][0-9]*)"
_FLOAT = r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?"
_CLOCK = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?"
_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_LOCAL = rf"{_DAY}[T ]{_CLOCK}"
_ZONE = r"(Z|[+-](0[0-9]|1[0-7]):?[0-5][0-9]|[+-]18:?00|[+-](0[0-9]|1[0-8]))"
_NO_SECONDS = r"\A(.{13}:[0-9]{2})([Z+-].*)\z"
_YEARS = "BETWEEN 1 AND 9999"

_FORMS = {
    "yyyy": "[0-9]{4}", "MM": "[0-9]{2}", "M": "[0-9]{1,2}", "MMM": "[A-Z][a-z]{2}", "MMMM": "[A-Z][a-z]+",
    "dd": "[0-9]{2}", "d": "[0-9]{1,2}", "HH": "[0-9]{2}", "H": "[0-9]{1,2}", "hh": "[0-9]{2}", "h": "[0-9]{1,2}",
    "a": "(AM|PM)", "mm": "[0-9]{2}", "m": "[0-9]{1,2}", "ss": "[0-9]{2}", "s": "[0-9]{1,2}", "SSSSSS": "[0-9]{6}",
    "SSS": "[0-9]{3}", "XXX": "(Z|[+-][0-9]{2}:[0-9]{2})", "XX": "(Z|[+-][0-9]{4})", "X": "(Z|[+-][0-9]{2})",
}  # fmt: skip


Hold = Callable[[str], str]
"""Gives what stands for an expression that is needed more than once: the expression again, or a column that holds it."""


def again(sql: str) -> str:
    """The expression itself, each time: for places that have no columns of their own, as the elements of an array."""
    return sql


@dataclass(frozen=True, slots=True)
class Reading:
    """The SQL of a value (null where the form is wrong) and of whether a non-null text is in the declared form."""

    value: str
    is_right: str


def read_text(text: str, type_: FieldType, spec: FieldSpec, zone: str, hold: Hold = again) -> Reading:
    """How the SQL expression `text`, a string, is read as `type_`.

    `zone` is the contract's zone, used for instants written without one where the field allows it.

    Raises:
        NotSupported: a nested type, which a text cannot hold.
    """
    if type_ == STRING:
        return Reading(text, "true")
    if type_ == BOOLEAN:
        return Reading(f"CASE {text} WHEN 'true' THEN true WHEN 'false' THEN false END", f"{text} IN ('true', 'false')")
    if type_ in INTEGERS:
        value = hold(f"TRY_CAST({text} AS {spark_type(type_)})")
        return Reading(value, f"{value} IS NOT NULL AND {matches(text, _INTEGER)}")
    if isinstance(type_, Decimal):
        return _decimal(text, type_, spec, hold)
    if type_ in FLOATS:
        value = hold(f"TRY_CAST({text} AS {spark_type(type_)})")
        return Reading(value, f"{text} = 'NaN' OR ({matches(text, _FLOAT)} AND {is_finite(value)})")
    if type_ == DATE:
        return _date(text, spec, hold)
    if type_ in (TIMESTAMP, TIMESTAMP_NTZ):
        return _timestamp(text, type_ == TIMESTAMP, spec, zone, hold)
    if type_ == BINARY:
        value = hold(f"try_to_binary({text}, 'base64')")
        written = f"replace(base64({value}), {q.text(chr(13) + chr(10))}, '')"
        return Reading(value, f"{value} IS NOT NULL AND {written} = {text}")
    raise NotSupported(
        f"field {spec.name!r}: a text cannot hold a {type_}",
        hint="use format json, parquet or delta for nested types, or declare the field as string",
    )


def matches(text: str, form: str) -> str:
    """Whether a text is in a form from its first to its last character."""
    anchored = rf"\A(?:{form})\z"
    return f"{text} RLIKE {q.text(anchored)}"


def is_finite(value: str) -> str:
    """Whether a float is a number that is not infinite."""
    return f"({value} IS NOT NULL AND NOT isnan({value}) AND abs({value}) < CAST('Infinity' AS DOUBLE))"


def _decimal(text: str, type_: Decimal, spec: FieldSpec, hold: Hold) -> Reading:
    whole = max(type_.precision - type_.scale, 1)
    point = re.escape(spec.decimal_separator)
    fraction = f"({point}[0-9]{{1,{type_.scale}}})?" if type_.scale else ""
    forms = [f"-?[0-9]{{1,{whole}}}{fraction}"]
    plain = text
    if spec.group_separator is not None:
        forms.append(f"-?[0-9]{{1,3}}({re.escape(spec.group_separator)}[0-9]{{3}})+{fraction}")
        plain = f"replace({plain}, {q.text(spec.group_separator)}, '')"
    if spec.decimal_separator != ".":
        plain = f"replace({plain}, {q.text(spec.decimal_separator)}, '.')"
    value = hold(f"TRY_CAST({plain} AS {spark_type(type_)})")
    return Reading(value, f"{value} IS NOT NULL AND {matches(text, '|'.join(f'({f})' for f in forms))}")


def _date(text: str, spec: FieldSpec, hold: Hold) -> Reading:
    if spec.format is None:
        value, form = hold(f"TRY_CAST({text} AS DATE)"), _DAY
    else:
        parts = parse_time_format(spec.format)
        value, form = hold(f"CAST({_parsed(text, parts)} AS DATE)"), _form(parts)
    return Reading(value, f"{matches(text, form)} AND coalesce(year({value}) {_YEARS}, false)")


def _form(parts: tuple[TimePart, ...]) -> str:
    return "".join(re.escape(p.text) if p.is_literal else _FORMS[p.text] for p in parts)


def _parsed(text: str, parts: tuple[TimePart, ...]) -> str:
    letters = "".join("'" + p.text.replace("'", "''") + "'" if p.is_literal else p.text for p in parts)
    return f"try_to_timestamp({text}, {q.text(letters)})"


def _timestamp(text: str, is_instant: bool, spec: FieldSpec, zone: str, hold: Hold) -> Reading:
    whole = f"regexp_replace({text}, {q.text(_NO_SECONDS)}, {q.text('$1:00$2')})"  # Spark reads no zone after minutes
    instant = f"TRY_CAST({whole} AS TIMESTAMP)"  # without a zone it is the time in UTC
    local_form, zoned_form = _LOCAL, _LOCAL + _ZONE
    if spec.format is not None:
        parts = parse_time_format(spec.format)
        instant, form = _parsed(text, parts), _form(parts)
        local_form, zoned_form = ("", form) if "X" in format_letters(parts) else (form, "")
    instant = hold(instant)
    in_years = f"coalesce(year({instant}) {_YEARS}, false)"
    is_local = f"{matches(text, local_form)} AND {in_years}" if local_form else "false"
    is_zoned = f"{matches(text, zoned_form)} AND {in_years}" if zoned_form else "false"
    if not is_instant:
        if not local_form:
            raise NotSupported(f"field {spec.name!r}: a timestamp_ntz has no zone, but its format {spec.format!r} has one")
        return Reading(f"CAST({instant} AS TIMESTAMP_NTZ)", is_local)
    policy = spec.timezone or ("none" if spec.source_timezone or not zoned_form else "required")
    if policy == "required":
        return Reading(instant if zoned_form else "CAST(NULL AS TIMESTAMP)", is_zoned)
    wall = hold(f"CASE WHEN {in_years} THEN {instant} END")  # Spark's own time ends a day beyond which it raises
    there, exists = _instant_of(wall, spec.source_timezone or zone, hold)
    exists += f" AND coalesce(year({there}) {_YEARS}, false)"
    if policy == "none":
        return Reading(there, f"{is_local} AND {exists}")
    has = matches(text, zoned_form) if zoned_form else "false"
    return Reading(
        f"CASE WHEN {has} THEN {instant} ELSE {there} END",
        f"CASE WHEN {has} THEN {is_zoned} ELSE {is_local} AND {exists} END",
    )


def _instant_of(wall: str, zone: str, hold: Hold) -> tuple[str, str]:
    """The instant of a wall clock's time in a zone, and whether there is exactly one: none in a gap, two in an overlap.

    `wall` is the time as if it were UTC. The zone's offsets a day before and after give the only two instants that can
    show it.
    """
    z = q.text(zone)

    def candidate(micros: int) -> str:
        near = hold(f"timestamp_micros(unix_micros({wall}) + {micros}L)")
        offset = f"(unix_micros(from_utc_timestamp({near}, {z})) - unix_micros({near}))"
        return hold(f"timestamp_micros(unix_micros({wall}) - {offset})")

    before, after = candidate(-86_400_000_000), candidate(86_400_000_000)
    shows = hold(f"(from_utc_timestamp({before}, {z}) = {wall})")
    shows_too = hold(f"(from_utc_timestamp({after}, {z}) = {wall})")
    value = hold(f"CASE WHEN {shows} THEN {before} ELSE {after} END")
    return value, f"coalesce(({shows} OR {shows_too}) AND NOT ({shows} AND {shows_too} AND {before} <> {after}), false)"
