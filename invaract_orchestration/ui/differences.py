"""What differs between two versions of a contract, path by path. Parts with a name are matched by it, not by their place."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from invaract_orchestration.ui.answers import Change

_ABSENT = object()
_NAMES = ("name", "type", "columns")
_LEFT_OUT = ("version",)


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Added, removed and changed parts in the order of their paths; the version itself is left out."""
    kept = [{name: value for name, value in each.items() if name not in _LEFT_OUT} for each in (before, after)]
    return list(_compared("", *kept))


def compact(value: Any) -> str:
    """A value of a contract on one line; texts as they are."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)


def _compared(path: str, before: Any, after: Any) -> Iterator[Change]:
    if before is _ABSENT:
        yield Change(kind="added", path=path, before=None, after=_told(after))
    elif after is _ABSENT:
        yield Change(kind="removed", path=path, before=_told(before), after=None)
    elif isinstance(before, dict) and isinstance(after, dict):
        yield from _by_key(path, before, after)
    elif _named(before) and _named(after):
        yield from _by_key(path, _keyed(before), _keyed(after))
        if _common_order(before, after):
            yield Change(kind="changed", path=f"{path} (order)", before=_order(before), after=_order(after))
    elif before != after:
        yield Change(kind="changed", path=path, before=compact(before), after=compact(after))


def _by_key(path: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    for name in dict.fromkeys((*before, *after)):
        below = f"{path}.{name}" if path else name
        yield from _compared(below, before.get(name, _ABSENT), after.get(name, _ABSENT))


def _told(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {compact(each)}" for name, each in value.items() if name != "name")
    return compact(value)


def _named(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) and _name(each) for each in value)


def _name(part: Mapping[str, Any]) -> str:
    found = next((part[name] for name in _NAMES if part.get(name)), None)
    return "" if found is None else compact(found)


def _keyed(parts: list[Mapping[str, Any]]) -> dict[str, Any]:
    keyed: dict[str, Any] = {}
    for part in parts:
        name, number = _name(part), 2
        while name in keyed:
            name, number = f"{_name(part)} ({number})", number + 1
        keyed[name] = part
    return keyed


def _common_order(before: list[Any], after: list[Any]) -> bool:
    earlier, later = list(_keyed(before)), list(_keyed(after))
    return [n for n in earlier if n in later] != [n for n in later if n in earlier]


def _order(parts: list[Any]) -> str:
    return ", ".join(_keyed(parts))
