"""Checks of a pandera column as keys of a contract's field; of two of a kind the stricter one counts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date
from typing import Any

from invaract_orchestration.contract.field_types import INTEGERS, FieldType
from invaract_orchestration.contract.literals import literal_value
from invaract_orchestration.errors import UsageError

_ANCHORED = re.compile(r"\^\(\?:(.*)\)(?:\\?[$Zz]|\(\?!\[\\s\\S\]\))\Z", re.DOTALL)
_IN_RULE = "write it as a rule of quality.row_rules"


def carried_checks(name: str, checks: Iterable[Any], type_: FieldType, *, nullable: bool) -> dict[str, Any]:
    """The keys of a field that say what these checks of a column say.

    Raises:
        UsageError: a check that a contract cannot carry; the message names it.
    """
    found: dict[str, Any] = {}
    for check in checks:
        said = _carried(name, check, type_, nullable)
        for key, value in said.items():
            found[key] = _both(name, key, found[key], value, type_) if key in found else value
    return found


def _carried(name: str, check: Any, type_: FieldType, nullable: bool) -> dict[str, Any]:
    reader = _READERS.get(check.name or "")
    statistics = check.statistics or {}
    said = reader(name, statistics, type_) if reader is not None and statistics else {}
    if not said:
        what = f"the check {check.name or 'of its own'!r}"
        raise UsageError(f"pandera column {name!r} has {what}, which a contract cannot carry", hint=_IN_RULE)
    if getattr(check, "raise_warning", False):
        hint = f"{_IN_RULE}, with severity: warn"
        raise UsageError(f"pandera column {name!r} has a check that only warns, beside which others may stand", hint=hint)
    if nullable and getattr(check, "ignore_na", True) is False:
        hint = "say nullable=False, which is `required` in a contract"
        what = "a check that a null fails; a field's checks look at values alone"
        raise UsageError(f"pandera column {name!r} has {what}", hint=hint)
    return said


def _both(name: str, key: str, one: Any, other: Any, type_: FieldType) -> Any:
    """What keeps both of two values of a key."""
    match key:
        case "min" | "max":
            choose = max if key == "min" else min
            return choose(one, other, key=lambda text: literal_value(text, type_))
        case "min_length" | "max_length":
            return max(one, other) if key == "min_length" else min(one, other)
        case "allowed":
            both = [text for text in one if text in other]
            if both:
                return both
            raise UsageError(f"pandera column {name!r} has checks that leave no value", hint="leave one of them out")
    if one == other:
        return one
    raise UsageError(f"pandera column {name!r} has two patterns, and a contract's field has one", hint=_IN_RULE)


def _bounds(name: str, statistics: dict[str, Any], type_: FieldType) -> dict[str, Any]:
    found = {}
    for ours, theirs, step in (("min", "min_value", 1), ("max", "max_value", -1)):
        value = statistics.get(theirs)
        if value is None:
            continue
        if not statistics.get(f"include_{ours}", True):
            if type_ not in INTEGERS:
                raise UsageError(
                    f"pandera column {name!r} has an exclusive bound; a contract's bounds are inclusive",
                    hint="write it as a rule of quality.row_rules, such as `amount > 0`",
                )
            value += step
        found[ours] = _written(value)
    return found


def _exclusive(name: str, statistics: dict[str, Any], type_: FieldType) -> dict[str, Any]:
    return _bounds(name, statistics | {"include_min": False, "include_max": False}, type_)


def _pattern(name: str, statistics: dict[str, Any], _: FieldType) -> dict[str, Any]:
    pattern = statistics["pattern"]
    text = pattern.pattern if isinstance(pattern, re.Pattern) else str(pattern)
    whole = _ANCHORED.match(text)
    if whole:
        return {"pattern": whole.group(1)}
    if text.startswith("^") and text.endswith("$") and not text.endswith("\\$") and "|" not in text:
        return {"pattern": text[1:-1]}
    raise UsageError(
        f"pandera column {name!r} has a pattern without both ends; a contract's pattern matches the whole value",
        hint="write ^...$, with .* where anything may follow",
    )


def _length(_: str, statistics: dict[str, Any], __: FieldType) -> dict[str, Any]:
    exact = statistics.get("exact_value")
    low, high = (exact, exact) if exact is not None else (statistics.get("min_value"), statistics.get("max_value"))
    return {k: v for k, v in (("min_length", low), ("max_length", high)) if v is not None}


_READERS: dict[str, Callable[[str, dict[str, Any], FieldType], dict[str, Any]]] = {
    "greater_than_or_equal_to": _bounds, "less_than_or_equal_to": _bounds, "in_range": _bounds, "between": _bounds,
    "greater_than": _exclusive, "less_than": _exclusive,
    "isin": lambda _, s, __: {"allowed": [_written(v) for v in s["allowed_values"]]},
    "equal_to": lambda _, s, __: {"allowed": [_written(s["value"])]},
    "str_matches": _pattern, "str_length": _length,
}  # fmt: skip


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date) else str(value)
