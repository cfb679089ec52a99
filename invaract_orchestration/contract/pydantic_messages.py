"""Findings of pydantic in the grammar of this project's messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from invaract_orchestration.contract.report import shown


def _plural(count: Any, one: str) -> str:
    return f"{count} {one}" if count == 1 else f"{count} {one}s"


_SENTENCES: dict[str, Callable[[dict[str, Any], Any], str]] = {
    "string_too_short": lambda c, v: f"expected at least {_plural(c['min_length'], 'character')}, found {len(v)}",
    "string_too_long": lambda c, v: f"expected at most {_plural(c['max_length'], 'character')}, found {len(v)}",
    "too_short": lambda c, v: (
        f"expected at least {_plural(c['min_length'], 'entry').replace('entrys', 'entries')}, "
        f"found {'none' if not c['actual_length'] else c['actual_length']}"
    ),
    "greater_than_equal": lambda c, v: f"expected {c['ge']:g} or more, found {v:g}",
    "less_than_equal": lambda c, v: f"expected {c['le']:g} or less, found {v:g}",
}


def sentence_of(detail: dict[str, Any]) -> tuple[str, str | None]:
    """Message and hint for one entry of `ValidationError.errors()`."""
    kind, context, value = detail["type"], detail.get("ctx", {}), detail.get("input")
    if kind == "missing":
        return f"'{detail['loc'][-1]}' is missing", None
    if kind == "value_error":
        return str(context["error"]), getattr(context["error"], "hint", None)
    known = _SENTENCES.get(kind)
    if known is not None:
        return known(context, value), None
    return f"{shown(str(value))} is not accepted here", None
