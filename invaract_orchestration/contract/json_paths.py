"""Paths into a JSON text, such as `$.items[0].price` or `$."a key"`, as their parts."""

from __future__ import annotations

import re

_PART = re.compile(
    r"""\.(?P<name>[^\W\d][\w-]*)|\."(?P<quoted>[^"\\]+)"|\['(?P<bracket>[^'\\]+)'\]|\["(?P<double>[^"\\]+)"\]"""
    r"|\[(?P<index>0|[1-9][0-9]{0,8})\]"
)
_OR = " | "
_UNREADABLE = frozenset("'\"\\?*")
"""Characters of a key that not every engine reads in a path."""


def json_paths(text: str) -> tuple[str, ...]:
    """The paths of a text, of which the first that leads to a value counts: they stand with ` | ` between them.

    Raises:
        ValueError: the text is no such path, with what is wrong in it.
    """
    found, at = [], 0
    while True:
        end = _end(text, at)
        found.append(text[at:end])
        if end == len(text):
            return tuple(found)
        if not text.startswith(_OR, end):
            raise ValueError(f"expected .key, .\"a key\" or [0] at character {end + 1} of the path")
        at = end + len(_OR)


def _end(text: str, begin: int) -> int:
    if not text.startswith("$", begin):
        raise ValueError(f"expected a path that begins with '$', such as '$.{text[begin:].lstrip('.') or 'key'}'")
    at = begin + 1
    while match := _PART.match(text, at):
        key = _key(match)
        if key is not None and set(key) & _UNREADABLE:
            raise ValueError(f"a key of the path holds one of {' '.join(sorted(_UNREADABLE))}, which not every engine reads")
        at = match.end()
    return at


def json_path(text: str) -> tuple[str | int, ...]:
    """Keys and positions of one path that is right; none for `$`, the whole."""
    found = ((_key(match), match.group("index")) for match in _PART.finditer(text, 1))
    return tuple(int(index) if key is None else key for key, index in found)


def _key(match: re.Match[str]) -> str | None:
    """The key of a part, none of a position."""
    return next((g for n in ("name", "quoted", "bracket", "double") if (g := match.group(n)) is not None), None)
