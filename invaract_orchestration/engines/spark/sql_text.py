"""Quoting for Spark SQL: every name and text that comes from a contract or a file goes through here.

Texts that are not plain are written as the bytes of their UTF-8, so that no setting of a session (escaped literals, double
quoted names) can read them in another way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_PLAIN = re.compile(r"[ !#%&(-\[\]-~]*\Z")
_GLOB = re.compile(r"([*?{}\[\]\\])")


def name(text: str) -> str:
    """A quoted identifier."""
    return "`" + text.replace("`", "``") + "`"


def text(value: str | bytes) -> str:
    """A text literal; bytes are taken as they are."""
    if isinstance(value, str) and _PLAIN.match(value):
        return f"'{value}'"
    data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    return f"CAST(X'{data.hex().upper()}' AS STRING)"


def texts(values: Iterable[str]) -> str:
    """An array literal of texts."""
    return f"CAST(array({', '.join(text(v) for v in values)}) AS ARRAY<STRING>)"


def path(value: str | Path) -> str:
    """A path that is meant literally: readers take it for a pattern otherwise."""
    return _GLOB.sub(r"\\\1", str(value))


def all_of(conditions: Iterable[str]) -> str:
    """The conjunction of conditions, `true` of none."""
    return " AND ".join(f"({c})" for c in conditions) or "true"


def moment(nanoseconds: str) -> str:
    """The instant of a number of nanoseconds, or the microsecond that it falls in."""
    return f"timestamp_micros({nanoseconds} DIV 1000L - CAST({nanoseconds} % 1000L < 0 AS BIGINT))"
