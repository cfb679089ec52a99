"""Quoting for DuckDB: every name and text that comes from a contract or a file goes through here."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path


def name(text: str) -> str:
    """A quoted identifier."""
    return '"' + text.replace('"', '""') + '"'


def text(value: str) -> str:
    """A text literal, also with NUL characters, which a plain literal cannot hold."""
    if "\0" in value:
        return " || ".join("'" + part.replace("'", "''") + "'" for part in value.split("\0")).join(
            ("(", ")")
        ).replace(" || ", " || chr(0) || ")
    return "'" + value.replace("'", "''") + "'"


def texts(values: Iterable[str]) -> str:
    """A list literal of texts."""
    return "[" + ", ".join(text(v) for v in values) + "]"


def paths(values: Iterable[str | Path]) -> str:
    """A list literal of file paths, each meant literally: DuckDB takes a path for a pattern otherwise."""
    return texts(re.sub(r"([*?\[])", r"[\1]", str(value)) for value in values)


def all_of(conditions: Iterable[str]) -> str:
    """The conjunction of conditions, `true` of none."""
    return " AND ".join(f"({c})" for c in conditions) or "true"
