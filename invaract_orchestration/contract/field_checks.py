"""What the keys of one field must have in common with its type and with each other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from zoneinfo import ZoneInfo, available_timezones

from invaract_orchestration.contract import field_types as ft
from invaract_orchestration.contract.fields import fold
from invaract_orchestration.contract.literals import Ordered, literal_value
from invaract_orchestration.contract.model import Contract, FieldSpec
from invaract_orchestration.contract.patterns import PatternError, check_pattern
from invaract_orchestration.contract.report import Path, Report, nearest, shown, suggest
from invaract_orchestration.contract.time_formats import TimeFormatError, format_letters, parse_time_format

_NUMBERS = (*ft.INTEGERS, *ft.FLOATS)
_TIMES = (ft.DATE, ft.TIMESTAMP, ft.TIMESTAMP_NTZ)
_TEXT_ONLY = ("not_blank", "pattern", "min_length", "max_length", "normalize")
_COLUMN_ONLY = ("unique", "may_be_absent", "phase")
_FORMAT_EXAMPLES = {
    "date": "yyyy-MM-dd", "timestamp": "yyyy-MM-dd'T'HH:mm:ssXXX", "timestamp_ntz": "yyyy-MM-dd HH:mm:ss",
}  # fmt: skip


def check_fields(contract: Contract, report: Report) -> None:
    """Report fields whose names collide and whose checks do not fit their type, nested ones too."""
    _check_names(contract.fields, ("fields",), report)
    for path, spec in _located(contract.fields, ("fields",)):
        if len(path) > 2:
            _check_column_only(path, spec, report)
        if report.is_sound((*path, "type")):
            _check_field(path, spec, report)


def is_number(type_: ft.FieldType) -> bool:
    """Whether values of the type are numbers."""
    return isinstance(type_, ft.Decimal) or type_ in _NUMBERS


def is_nested(type_: ft.FieldType) -> bool:
    """Whether values of the type hold other values."""
    return isinstance(type_, ft.Array | ft.Map | ft.Struct)


def is_zone(name: str) -> bool:
    """Whether a text names a time zone of the IANA database."""
    try:
        return ZoneInfo(name).key == name
    except (OSError, ValueError, KeyError):
        return False


def _located(fields: tuple[FieldSpec, ...], above: Path) -> Iterator[tuple[Path, FieldSpec]]:
    for at, spec in enumerate(fields):
        path = (*above, at)
        yield path, spec
        if spec.fields:
            yield from _located(spec.fields, (*path, "fields"))


def _check_names(fields: tuple[FieldSpec, ...], above: Path, report: Report) -> None:
    seen: dict[str, str] = {}
    for at, spec in enumerate(fields):
        path = (*above, at)
        if not report.is_sound((*path, "name")) or not isinstance(spec.name, str):
            continue
        first = seen.get(fold(spec.name))
        if first is None:
            seen[fold(spec.name)] = spec.name
        else:
            is_case = first.lower() == spec.name.lower()
            how = f"differs from '{first}' only by letter case" if is_case else f"is the same as {first!a} to many readers"
            how = "is there twice" if first == spec.name else how
            report.add((*path, "name"), f"field {shown(spec.name)} {how}", hint="rename or remove one of them")
        _check_names(spec.fields or (), (*path, "fields"), report)


def _check_column_only(path: Path, spec: FieldSpec, report: Report) -> None:
    for key in _COLUMN_ONLY:
        if getattr(spec, key):
            report.add((*path, key), f"'{key}' is for columns, not for a field inside of one")


def _check_field(path: Path, spec: FieldSpec, report: Report) -> None:
    _check_type_fits(path, spec, report)
    _check_values(path, spec, report)
    _check_text(path, spec, report)
    _check_written_form(path, spec, report)
    if spec.fields:
        _check_nested(path, spec, report)


def _misfit(path: Path, key: str, what: str, spec: FieldSpec, report: Report, hint: str | None = None) -> None:
    report.add((*path, key), f"'{key}' is for {what}, and '{spec.name}' is of type {spec.type}", hint=hint)


def _check_type_fits(path: Path, spec: FieldSpec, report: Report) -> None:
    for key in _TEXT_ONLY:
        if getattr(spec, key) not in (None, ()) and spec.type != ft.STRING:
            hint = "a bound of the value is `min`, `max`" if key in ("min_length", "max_length") else None
            _misfit(path, key, "string", spec, report, hint)
    for key in ("min", "max"):
        if getattr(spec, key) is not None and not (is_number(spec.type) or spec.type in _TIMES):
            hint = "a bound of the length is `min_length`, `max_length`" if spec.type == ft.STRING else None
            _misfit(path, key, "numbers, dates and timestamps", spec, report, hint)
    if spec.allowed is not None and (is_nested(spec.type) or spec.type == ft.BINARY):
        _misfit(path, "allowed", "single values", spec, report)
    if spec.unique and is_nested(spec.type):
        _misfit(path, "unique", "single values", spec, report)
    for key in ("timezone", "source_timezone"):
        if getattr(spec, key) is not None and spec.type != ft.TIMESTAMP:
            _misfit(path, key, "timestamp", spec, report)
    if spec.format is not None and spec.type not in _TIMES:
        hint = "the form of a number is `decimal_separator`, `group_separator`" if is_number(spec.type) else None
        _misfit(path, "format", "dates and timestamps", spec, report, hint)
    for key, plain in (("decimal_separator", "."), ("group_separator", None)):
        if getattr(spec, key) != plain and not isinstance(spec.type, ft.Decimal):
            _misfit(path, key, "decimal", spec, report)


def _check_values(path: Path, spec: FieldSpec, report: Report) -> None:
    low, high = _bound(path, "min", spec, report), _bound(path, "max", spec, report)
    if low is not None and high is not None and low > high:  # type: ignore[operator]  # one type, so they compare
        message = f"min {shown(str(spec.min))} is above max {shown(str(spec.max))}: no value is possible"
        report.add((*path, "min"), message)
    if spec.allowed is not None and report.is_sound((*path, "allowed")):
        if not spec.allowed:
            report.add((*path, "allowed"), "no value is listed, so none is possible")
        for at, text in enumerate(spec.allowed):
            _value((*path, "allowed", at), text, spec, report)


def _bound(path: Path, key: str, spec: FieldSpec, report: Report) -> Ordered | None:
    text = getattr(spec, key)
    is_open = text is not None and report.is_sound((*path, key))
    return _value((*path, key), text, spec, report) if is_open else None


def _value(path: Path, text: str, spec: FieldSpec, report: Report) -> Ordered | None:
    try:
        value = literal_value(text, spec.type)
    except ValueError as error:
        report.add(path, str(error))
        return None
    if isinstance(value, float) and math.isnan(value):
        report.add(path, "NaN is no number, so no value ever keeps this")
        return None
    return value


def _check_text(path: Path, spec: FieldSpec, report: Report) -> None:
    if spec.min_length is not None and spec.max_length is not None and spec.min_length > spec.max_length:
        message = f"min_length {spec.min_length} is above max_length {spec.max_length}: no text is possible"
        report.add((*path, "min_length"), message)
    if spec.pattern is not None and report.is_sound((*path, "pattern")):
        try:
            check_pattern(spec.pattern)
        except PatternError as error:
            report.add((*path, "pattern"), str(error), hint=error.hint, offset=error.offset)


def _check_written_form(path: Path, spec: FieldSpec, report: Report) -> None:
    if spec.source_timezone is not None and not is_zone(spec.source_timezone):
        report_zone((*path, "source_timezone"), spec.source_timezone, report)
    if spec.source_timezone is not None and spec.timezone == "required":
        message = "'source_timezone' is for times without a zone, and 'timezone' requires a zone"
        report.add((*path, "source_timezone"), message, hint="use timezone: any to take both")
    if spec.group_separator is not None and spec.group_separator == spec.decimal_separator:
        report.add((*path, "group_separator"), "the group separator is the decimal separator too")
    if spec.format is not None and spec.type in _TIMES and report.is_sound((*path, "format")):
        _check_format((*path, "format"), spec.format, spec, report)


def report_zone(path: Path, name: str, report: Report) -> None:
    """Report a text that names no zone; the zones themselves are many, so only a near one is told."""
    like = nearest(name, available_timezones())
    hint = f"did you mean '{like}'?" if like else "a name such as Europe/Paris or UTC"
    report.add(path, f"expected a time zone of the IANA database, found {shown(name)}", hint=hint)


def _check_format(path: Path, text: str, spec: FieldSpec, report: Report) -> None:
    example = _FORMAT_EXAMPLES[str(spec.type)]
    try:
        letters = format_letters(parse_time_format(text))
    except TimeFormatError as error:
        report.add(path, f"format {shown(text)}: {error}", hint=error.hint, offset=error.offset)
        return
    missing = [w for letter, w in (("y", "year"), ("M", "month"), ("d", "day")) if letter not in letters]
    if missing:
        report.add(path, f"format {shown(text)} has no {' and no '.join(missing)}", hint=f"such as {example}")
    elif spec.type == ft.DATE and letters - set("yMd"):
        hint = "declare it a timestamp"
        report.add(path, f"format {shown(text)} holds a time, and '{spec.name}' is a date", hint=hint)
    elif spec.type == ft.TIMESTAMP_NTZ and "X" in letters:
        hint = "declare it a timestamp"
        report.add(path, f"format {shown(text)} holds a zone, and '{spec.name}' is a timestamp_ntz", hint=hint)
    elif spec.timezone == "required" and "X" not in letters:
        report.add(path, f"format {shown(text)} has no zone, and 'timezone' requires one", hint=f"such as {example}")
    elif spec.timezone == "none" and "X" in letters:
        report.add(path, f"format {shown(text)} has a zone, and 'timezone' allows none", hint="leave one of them out")


def _check_nested(path: Path, spec: FieldSpec, report: Report) -> None:
    """Nested fields describe the struct that a struct, the elements of an array or the values of a map hold."""
    inner: ft.FieldType = spec.type
    while isinstance(inner, ft.Array | ft.Map):
        inner = inner.element if isinstance(inner, ft.Array) else inner.value
    if not isinstance(inner, ft.Struct):
        report.add((*path, "fields"), f"'{spec.name}' is of type {spec.type}, which holds no named fields")
        return
    known = dict(inner.fields)
    for at, child in enumerate(spec.fields):
        where = (*path, "fields", at)
        if not report.is_sound(where):
            continue
        if child.name not in known:
            hint = suggest(child.name, known, "fields")
            report.add((*where, "name"), f"unknown field {shown(child.name)}", hint=hint)
        elif child.type != known[child.name]:
            message = f"expected type {known[child.name]}, as the type of '{spec.name}' says, found {child.type}"
            report.add((*where, "type"), message)
