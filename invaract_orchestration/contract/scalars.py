"""What the parts of a contract are made of: closed parts, and texts with a form of their own."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, WithJsonSchema

from invaract_orchestration.contract.field_types import FieldType, parse_type

Severity = Literal["error", "warn"]
Phase = Literal["pre", "post"]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,127}\Z")
_VERSION = re.compile(r"(0|[1-9]\d{0,8})(\.(0|[1-9]\d{0,8})){2}\Z|[1-9]\d{0,8}\Z", re.ASCII)
_DURATION = re.compile(r"(\d{1,9})([smhd])\Z", re.ASCII)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_LONGEST_DAYS = 365_000
"""No calendar goes back much further from today."""


def duration_seconds(text: str) -> int:
    """Seconds in a duration such as `36h`, `7d`, `30m` or `10s`.

    Raises:
        ValueError: the text is not a whole number followed by s, m, h or d, or more than a thousand years.
    """
    match = _DURATION.match(text)
    if match is None:
        raise ValueError(f"{text!r} is not a duration: expected a whole number followed by s, m, h or d, such as 36h")
    seconds = int(match.group(1)) * _SECONDS[match.group(2)]
    if seconds > _LONGEST_DAYS * _SECONDS["d"]:
        raise ValueError(f"{text!r} is longer than {_LONGEST_DAYS}d, and no calendar goes as far")
    return seconds


def _checked_duration(value: Any) -> Any:
    if isinstance(value, str):
        duration_seconds(value)
    return value


def _checked_name(value: Any) -> Any:
    if isinstance(value, str) and not _NAME.match(value):
        raise ValueError(
            f"{value!r} is not a name here: expected a letter, then letters, digits, '_', '.' or '-' (at most 128)"
        )
    return value


def _checked_version(value: Any) -> Any:
    if isinstance(value, str) and not _VERSION.match(value):
        raise ValueError(f"{value!r} is not a version: expected MAJOR.MINOR.PATCH, such as '1.2.0'")
    return value


def _type_from_text(value: Any) -> Any:
    return parse_type(value) if isinstance(value, str) else value


def _text(value: Any) -> Any:
    """Numbers given from Python become the text a contract would hold."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if value is None or isinstance(value, str) else str(value)


Duration = Annotated[
    str, BeforeValidator(_checked_duration), WithJsonSchema({"type": "string", "pattern": "^[0-9]{1,9}[smhd]$"})
]
Name = Annotated[
    str,
    BeforeValidator(_checked_name),
    WithJsonSchema({"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_.-]{0,127}$"}),
]
Version = Annotated[
    str,
    BeforeValidator(_checked_version),
    WithJsonSchema({"type": "string", "pattern": r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$"}),
]
WrittenValue = Annotated[str, BeforeValidator(_text), WithJsonSchema({"type": ["string", "number", "boolean"]})]
"""A value of the data, kept as the text that was written."""
TypeOfField = Annotated[
    FieldType,
    BeforeValidator(_type_from_text),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "examples": ["string", "bigint", "decimal(10,2)", "struct<zip:string>"]}),
]


class Closed(BaseModel):
    """A frozen part of a contract that refuses unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)
