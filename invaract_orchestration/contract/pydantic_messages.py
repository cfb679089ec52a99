"""Findings of pydantic in the grammar of this project's messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from invaract_orchestration.contract.field_types import TypeSyntaxError
from invaract_orchestration.contract.report import nearest, shown


def _plural(count: Any, one: str) -> str:
    return f"{count} {one}" if count == 1 else f"{count} {one}s"


_SENTENCES: dict[str, Callable[[dict[str, Any], Any], str]] = {
    "string_too_short": lambda c, v: f"expected at least {_plural(c['min_length'], 'character')}, found {len(v)}",
    "string_too_long": lambda c, v: f"expected at most {_plural(c['max_length'], 'character')}, found {len(v)}",
    "too_short": lambda c, v: (
        f"expected at least {_plural(c['min_length'], 'entry').replace('entrys', 'entries')}, "
        f"found {'none' if not c['actual_length'] else c['actual_length']}"
    ),
    "greater_than_equal": lambda c, v: f"expected {c['ge']} or more, found {v}",
    "less_than_equal": lambda c, v: f"expected {c['le']} or less, found {v}",
}


def sentence_of(detail: dict[str, Any], types: Iterable[str]) -> tuple[str, str | None]:
    """Message and hint for one entry of `ValidationError.errors()`."""
    kind, context, value = detail["type"], detail.get("ctx", {}), detail.get("input")
    if kind == "missing":
        return f"'{detail['loc'][-1]}' is missing", None
    if kind == "value_error":
        return _own_sentence(context["error"], value, types)
    known = _SENTENCES.get(kind)
    if known is not None:
        return known(context, value), None
    return f"{shown(str(value))} is not accepted here", None


def _own_sentence(error: Exception, value: Any, types: Iterable[str]) -> tuple[str, str | None]:
    message, hint = str(error), getattr(error, "hint", None)
    if hint is None and isinstance(error, TypeSyntaxError):
        word = str(value).split("<")[0].split("(")[0].strip()
        names = list(types)
        like = nearest(word, names)
        if word.lower() not in names:
            hint = f"did you mean '{like}'?" if like else f"types: {', '.join(names[:16])}"
    return message, hint
