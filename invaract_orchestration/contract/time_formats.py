"""Formats of dates and times as a field declares them: the letters of Spark's patterns that every engine reads.

Source of the letters: Spark SQL, "Datetime Patterns for Formatting and Parsing".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LETTERS: dict[str, tuple[int, ...]] = {
    "y": (4,), "M": (1, 2, 3, 4), "d": (1, 2), "H": (1, 2), "h": (1, 2), "a": (1,), "m": (1, 2), "s": (1, 2),
    "S": (3, 6), "X": (1, 2, 3),
}  # fmt: skip
_MEANINGS = {
    "y": "year", "M": "month", "d": "day", "H": "hour", "h": "hour", "a": "half of the day", "m": "minute",
    "s": "second", "S": "fraction", "X": "zone",
}  # fmt: skip
_HINTS = {
    "Y": "the year is yyyy; YYYY is the year of the week", "D": "the day of the month is dd; D is the day of the year",
    "n": "a fraction is S, such as SSS",
    "z": "the zone is X, such as XXX for +01:00", "Z": "the zone is X, such as XXX for +01:00",
    "x": "the zone is X, such as XXX for +01:00", "u": "the year is yyyy", "%": "letters as in yyyy-MM-dd HH:mm:ss",
}  # fmt: skip
_ALL_LETTERS = "letters: y M d H h a m s S X; other text stands in quotes"
_NUMERIC = "yMdHhmsS"
_QUOTED = re.compile(r"'((?:[^']|'')*)'(?!')")


class TimeFormatError(ValueError):
    """A format that cannot be read; `offset` is the character at which it goes wrong."""

    def __init__(self, sentence: str, offset: int, hint: str | None = None) -> None:
        self.offset = offset
        self.hint = hint
        super().__init__(sentence)


@dataclass(frozen=True, slots=True)
class TimePart:
    """One part of a format: a letter of `yMdHhamsSX` with its width, or a literal text where `letter` is empty."""

    letter: str
    width: int
    text: str

    @property
    def is_literal(self) -> bool:
        """Whether the part stands for its own text."""
        return not self.letter


def parse_time_format(text: str) -> tuple[TimePart, ...]:
    """The parts of a format such as `dd/MM/yyyy HH:mm:ss` or `yyyy-MM-dd'T'HH:mm:ssXXX`.

    `M`, `d`, `H`, `h`, `m`, `s` once take one or two digits, twice exactly two; `MMM` and `MMMM` are English names. `h`
    is the hour of the half of the day that `a` (AM, PM) names. `X` is `Z` or `+01`, `XX` `+0100`, `XXX` `+01:00`.

    Raises:
        TimeFormatError: a letter or width that is not supported, a letter given twice, or digits that run together.
    """
    parts: list[TimePart] = []
    at = 0
    while at < len(text):
        part, width = _quoted(text, at) if text[at] == "'" else _part(text, at)
        if part.letter and any(p.letter == part.letter for p in parts):
            raise TimeFormatError(f"the {_MEANINGS[part.letter]} '{part.letter}' stands twice", at)
        if parts and _runs_together(parts[-1], part):
            raise TimeFormatError(f"where '{parts[-1].text}' ends and '{part.text}' begins cannot be told", at)
        parts.append(part)
        at += width
    letters = format_letters(tuple(parts))
    if ("h" in letters) != ("a" in letters) or {"h", "H"} <= letters:
        raise TimeFormatError("the hour is not clear", 0, "write HH for 00 to 23, or hh with a for AM and PM")
    return tuple(parts)


def format_letters(parts: tuple[TimePart, ...]) -> frozenset[str]:
    """The letters of a format, without its literal texts."""
    return frozenset(p.letter for p in parts if p.letter)


def _runs_together(before: TimePart, part: TimePart) -> bool:
    return before.letter in tuple(_NUMERIC) and before.width == 1 and part.letter in tuple(_NUMERIC)


def _quoted(text: str, at: int) -> tuple[TimePart, int]:
    if text.startswith("''", at):
        return TimePart("", 1, "'"), 2
    match = _QUOTED.match(text, at)
    if match is None:
        raise TimeFormatError("a quote ' is not closed", at)
    literal = match.group(1).replace("''", "'")
    return TimePart("", len(literal), literal), match.end() - at


def _part(text: str, at: int) -> tuple[TimePart, int]:
    c = text[at]
    if c.isascii() and (c.isalpha() or c == "%"):
        width = len(text[at:]) - len(text[at:].lstrip(c))
        widths = _LETTERS.get(c)
        if widths is None:
            raise TimeFormatError(f"unknown letter '{c}'", at, _HINTS.get(c, _ALL_LETTERS))
        if width not in widths:
            known = ", ".join(c * w for w in widths)
            raise TimeFormatError(f"'{c * width}' is not supported", at, f"the {_MEANINGS[c]} is one of {known}")
        return TimePart(c, width, c * width), width
    if c in "[]{}#":
        raise TimeFormatError(f"'{c}' is not supported", at, "write one fixed form, and quote literal text")
    return TimePart("", 1, c), 1
