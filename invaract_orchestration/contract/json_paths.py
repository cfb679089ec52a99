"""Paths into a JSON text, such as `$.items[0].price` or `$."a key"`, as their parts."""

from __future__ import annotations

import re

_PART = re.compile(
    r"""\.(?P<name>[^\W\d][\w-]*)|\."(?P<quoted>[^"\\]+)"|\['(?P<bracket>[^'\\]+)'\]|\["(?P<double>[^"\\]+)"\]"""
    r"|\[(?P<index>0|[1-9][0-9]{0,8})\]"
)
_UNREADABLE = frozenset("'\"\\?*")
"""Characters of a key that not every engine reads in a path."""


def json_path(text: str) -> tuple[str | int, ...]:
    """Keys and positions of a path; none for `$`, the whole.

    Raises:
        ValueError: the text is no such path, with what is wrong in it.
    """
    if not text.startswith("$"):
        raise ValueError(f"expected a path that begins with '$', such as '$.{text.lstrip('.') or 'key'}'")
    parts: list[str | int] = []
    at = 1
    while at < len(text):
        match = _PART.match(text, at)
        if match is None:
            raise ValueError(f"expected .key, .\"a key\" or [0] at character {at + 1} of the path")
        index = match.group("index")
        key = next((g for n in ("name", "quoted", "bracket", "double") if (g := match.group(n)) is not None), "")
        if index is None and set(key) & _UNREADABLE:
            raise ValueError(f"a key of the path holds one of {' '.join(sorted(_UNREADABLE))}, which not every engine reads")
        parts.append(int(index) if index is not None else key)
        at = match.end()
    return tuple(parts)
