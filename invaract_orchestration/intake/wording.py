"""Texts from outside (names of columns, files and parameters), safe to show, and lists of them short enough to read."""

from __future__ import annotations

from collections.abc import Sequence

LONGEST_SHOWN = 64
LONGEST_PLACE = 300
"""Characters of a file's name or a location, which may be long."""
MOST_SHOWN = 10
_PLACES_SHOWN = 3
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", "'": "\\'", "<": "\\x3c", ">": "\\x3e", "`": "\\x60"}


def shown(text: str, limit: int = LONGEST_SHOWN) -> str:
    """The text with every control, invisible and markup character escaped, cut after `limit` characters."""
    cut = "".join(_SHORT.get(c) or (c if c.isprintable() else _code(c)) for c in text[:limit])
    return cut if len(text) <= limit else f"{cut}..."


def quoted(text: str, limit: int = LONGEST_SHOWN) -> str:
    """The escaped text in single quotes, for a message."""
    return f"'{shown(text, limit)}'"


def quoted_list(names: Sequence[str], most: int = MOST_SHOWN) -> str:
    """The first names, quoted, and how many more there are."""
    return listed([quoted(name) for name in names[:most]], len(names))


def listed(parts: Sequence[str], total: int | None = None, separator: str = ", ") -> str:
    """The first parts joined, and how many more of `total` there are."""
    more = (len(parts) if total is None else total) - min(len(parts), MOST_SHOWN)
    text = separator.join(parts[:MOST_SHOWN])
    return text if more <= 0 else f"{text} and {more} more"


def counted(number: int, noun: str) -> str:
    """A number with its noun in the right form: `1 file`, `2 files`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def by_place(said: Sequence[tuple[str, Sequence[str]]], places: int, noun: str = "file") -> str:
    """What is wrong in the first places, after in how many of all `places` something is."""
    parts = [f"{shown(name, LONGEST_PLACE)}: {listed(texts)}" for name, texts in said[:_PLACES_SHOWN]]
    more = len(said) - len(parts)
    text = "; ".join(parts) + (f"; and {counted(more, f'more {noun}')}" if more else "")
    return text if places == 1 else f"in {len(said):,} of {counted(places, noun)}: {text}"


def _code(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
