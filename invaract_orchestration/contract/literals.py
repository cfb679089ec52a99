"""Values written in a contract (`min`, `max`, `allowed`, a partition), read strictly as a field's type.

The form is the one that data has without a declared format: what would be a breach in a file is refused here. It is the
same whatever `format` or separators the field declares for its data.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal as ExactNumber

from invaract_orchestration.contract import field_types as ft

_WHOLE = re.compile(r"-?(0|[1-9][0-9]*)\Z", re.ASCII)
_DECIMAL = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?\Z", re.ASCII)
_FLOAT = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?\Z", re.ASCII)
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})\Z", re.ASCII)
_TIMESTAMP = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?(Z|[+-]\d{2}:?\d{2})?\Z", re.ASCII
)
_MOST_OFFSET = timedelta(hours=18)
_MOST_DIGITS = 400

Ordered = int | float | ExactNumber | date | datetime | str | bool


def canonical_literal(text: str, type_: ft.FieldType) -> str:
    """The one text for the value that `text` says as that type: `0.1` is `0.10` as decimal(10,2); an instant is in UTC.

    Raises:
        ValueError: the text is not of that type's form, or its value does not fit; the message says what was expected.
    """
    if isinstance(type_, ft.Decimal):
        return _decimal(text, type_)
    read = _READERS.get(type_) if isinstance(type_, ft.Primitive) else None
    if read is None:
        raise ValueError(f"a value of type {type_} cannot be written in a contract")
    return read(text)


def literal_value(text: str, type_: ft.FieldType) -> Ordered:
    """The value of a text as something that compares with others of the type, in the order that bounds mean.

    Raises:
        ValueError: as `canonical_literal`.
    """
    canonical = canonical_literal(text, type_)
    if isinstance(type_, ft.Decimal):
        return ExactNumber(canonical)
    if type_ in ft.INTEGERS:
        return int(canonical)
    if type_ in ft.FLOATS:
        return float(canonical)
    return canonical  # dates and instants are of fixed width and zone, so their texts are in their own order


def _expected(what: str, text: str) -> ValueError:
    shown = text if len(text) <= 60 else text[:57] + "..."
    return ValueError(f"expected {what}, found {shown!r}")


def _integer(type_: ft.Primitive) -> Callable[[str], str]:
    most = 2 ** (ft.INTEGER_BITS[type_] - 1)

    def read(text: str) -> str:
        if not _WHOLE.match(text):
            raise _expected(f"a whole number such as 10 ({type_})", text)
        if len(text) > 20 or not -most <= int(text) < most:
            raise _expected(f"a whole number from {-most} to {most - 1} ({type_})", text)
        return str(int(text))

    return read


def _decimal(text: str, type_: ft.Decimal) -> str:
    match = _DECIMAL.match(text)
    if match is None:
        raise _expected(f"a number in plain digits such as 10.50 ({type_})", text)
    sign, whole, fraction = match.group(1), match.group(2), match.group(3) or ""
    if len(fraction.rstrip("0")) > type_.scale:
        raise _expected(f"at most {type_.scale} digits after the point ({type_})", text)
    if whole != "0" and len(whole) > type_.precision - type_.scale:
        raise _expected(f"at most {type_.precision - type_.scale} digits before the point ({type_})", text)
    kept = fraction[: type_.scale].ljust(type_.scale, "0")
    digits = f"{whole}.{kept}" if kept else whole
    return digits if not digits.strip("0.") else sign + digits


def _double(text: str) -> str:
    if text == "NaN":
        return text
    if not _FLOAT.match(text) or len(text) > _MOST_DIGITS:
        raise _expected("a finite number such as 10.5 or 1e-3 (double)", text)
    value = float(text)
    if math.isinf(value):
        raise _expected("a number that a double can hold", text)
    return repr(value + 0.0)


def _float(text: str) -> str:
    if text == "NaN":
        return text
    if not _FLOAT.match(text) or len(text) > _MOST_DIGITS:
        raise _expected("a finite number such as 10.5 or 1e-3 (float)", text)
    try:
        packed = struct.pack("<f", float(text))
    except OverflowError:
        raise _expected("a number that a float can hold", text) from None
    value = struct.unpack("<f", packed)[0]
    shortest = next(t for p in range(1, 10) if struct.pack("<f", float(t := f"{value:.{p}g}")) == packed)
    return repr(float(shortest) + 0.0)


def _boolean(text: str) -> str:
    if text not in ("true", "false"):
        raise _expected("true or false", text)
    return text


def _date(text: str) -> str:
    match = _DATE.match(text)
    if match is None:
        raise _expected("a date such as 2026-01-31", text)
    try:
        return date(*(int(part) for part in match.groups())).isoformat()
    except ValueError:
        raise _expected("a day that exists, such as 2026-01-31", text) from None


def _wall_clock(text: str, what: str) -> tuple[datetime, str | None]:
    match = _TIMESTAMP.match(text)
    if match is None:
        raise _expected(what, text)
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    micro = (fraction or "").ljust(6, "0")
    try:
        when = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second or 0), int(micro))
    except ValueError:
        raise _expected(f"{what}, of a day and time that exist", text) from None
    return when, zone


def _timestamp(text: str) -> str:
    what = "an instant with its zone such as 2026-01-31T10:00:00Z"
    when, zone = _wall_clock(text, what)
    if zone is None:
        raise _expected(what, text)
    offset = timedelta()
    if zone != "Z":
        offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
        if offset > _MOST_OFFSET or int(zone[-2:]) > 59:
            raise _expected("a zone of at most 18 hours", text)
    try:
        instant = (when - offset if zone[0] != "-" else when + offset).replace(tzinfo=UTC)
    except OverflowError:
        raise _expected("an instant of the years 1 to 9999", text) from None
    return instant.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _timestamp_ntz(text: str) -> str:
    what = "a wall-clock time without a zone such as 2026-01-31T10:00:00"
    when, zone = _wall_clock(text, what)
    if zone is not None:
        raise _expected(what, text)
    return when.isoformat(timespec="microseconds")


def _string(text: str) -> str:
    return text


_READERS: dict[ft.Primitive, Callable[[str], str]] = {
    ft.STRING: _string, ft.BOOLEAN: _boolean, ft.TINYINT: _integer(ft.TINYINT), ft.SMALLINT: _integer(ft.SMALLINT),
    ft.INT: _integer(ft.INT), ft.BIGINT: _integer(ft.BIGINT), ft.FLOAT: _float, ft.DOUBLE: _double, ft.DATE: _date,
    ft.TIMESTAMP: _timestamp, ft.TIMESTAMP_NTZ: _timestamp_ntz,
}  # fmt: skip
