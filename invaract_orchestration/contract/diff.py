"""What changed between two versions of a contract, and which version that asks for.

A change is breaking where a reader of the table can rely on less than before, compatible where as much is promised or more, and
documentation where words alone changed. What is not known to be harmless is breaking.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

from invaract_orchestration.contract.digest import canonical_json
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.contract.report import shown
from invaract_orchestration.contract.scalars import duration_seconds

Kind = Literal["breaking", "compatible", "documentation"]
_KINDS: tuple[Kind, ...] = ("breaking", "compatible", "documentation")
_Place = tuple[str, ...]
_NAMED = ("fields", "keys", "row_rules", "dataset_rules", "rules", "links")
"""Lists whose entries are told apart by what they are called, not by where they stand."""
_WORDS = ("description", "fields.description", "owner", "consumers", "arrives", "extensions", "notifications")
_ARRIVAL = (
    "source", "schema_policy", "quarantine", "publish.candidate", "publish.evolve", "fields.format", "fields.timezone",
    "fields.source_timezone", "fields.decimal_separator", "fields.group_separator", "fields.as_text", "fields.complete",
    "fields.may_be_absent",
)  # fmt: skip
"""How rows arrive and where things are kept: what is published is promised as before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference. `was` and `now` are what the contracts say there, null where one of them leaves it out."""

    kind: Kind
    place: str
    what: Literal["added", "removed", "changed"]
    was: Any = None
    now: Any = None

    def __str__(self) -> str:
        values = [shown(v if isinstance(v, str) else json.dumps(v)) for v in (self.was, self.now) if v is not None]
        return f"{self.kind:<13}  {self.place} {self.what}" + (f": {' -> '.join(values)}" if values else "")


@dataclass(frozen=True, slots=True)
class _Said:
    """What stands at one place; `shape` is the place without names, and an entry is one of a named list."""

    shape: str
    value: Any
    is_entry: bool = False
    is_warning: bool = False


def differences(old: Contract, new: Contract) -> tuple[Change, ...]:
    """Every change but that of the version, breaking ones first; none only where both mean the same."""
    if _content(old) == _content(new):
        return ()
    before, after = dict(_said(_content(old))), dict(_said(_content(new)))
    found = list(_changes(before, after))
    kept = [spec.name for spec in new.fields if old.field(spec.name)]
    if kept != [spec.name for spec in old.fields if new.field(spec.name)]:
        found.append(Change(kind="compatible", place="the order of the fields", what="changed"))
    if not found:
        found.append(Change(kind="documentation", place="the order of entries", what="changed"))
    return tuple(sorted(found, key=lambda c: (_KINDS.index(c.kind), c.place)))


def needed_version(old: Contract, changes: tuple[Change, ...]) -> str:
    """The least version for these changes: the next MAJOR for a breaking one, MINOR for a compatible one, else PATCH.

    Before 1.0.0 a breaking change asks for the next MINOR. A version that is a whole number asks for the next one.
    """
    if not changes:
        return old.version
    major, minor, patch = _parts(old.version)
    if "." not in old.version:
        return str(major + 1)
    worst = min((c.kind for c in changes), key=_KINDS.index)
    if worst == "documentation":
        return f"{major}.{minor}.{patch + 1}"
    return f"{major + 1}.0.0" if worst == "breaking" and major else f"{major}.{minor + 1}.0"


def is_enough(version: str, needed: str) -> bool:
    """Whether a version is the needed one or a later one."""
    return _parts(version) >= _parts(needed)


def _parts(version: str) -> tuple[int, int, int]:
    major, minor, patch = [*map(int, version.split(".")), 0, 0][:3]
    return major, minor, patch


def _content(contract: Contract) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(canonical_json(contract))
    return {key: value for key, value in content.items() if key not in ("contract", "version")}


def _said(value: Any, place: _Place = (), shape: _Place = (), is_warning: bool = False) -> Iterator[tuple[_Place, _Said]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _said(inner, (*place, key), shape if shape[-1:] == (key,) else (*shape, key), is_warning)
    elif isinstance(value, list) and shape[-1] in _NAMED and all(isinstance(item, dict) for item in value):
        for item in value:
            own, is_warning = (*place, _called(shape[-1], item)), item.get("severity") == "warn"
            yield own, _Said(".".join(shape), True, is_entry=True, is_warning=is_warning)
            rest = {key: inner for key, inner in item.items() if shape[-1] != "keys" or key != "columns"}
            yield from _said(rest, own, shape, is_warning)
    else:
        yield place, _Said(".".join(shape), value, is_warning=is_warning)


def _called(kind: str, item: dict[str, Any]) -> str:
    """The name of an entry; that of a key are its columns, and a rule on the plan without a name is what it asks for."""
    if kind == "keys":
        return "+".join(sorted(item["columns"]))
    return str(item.get("name") or json.dumps({k: v for k, v in item.items() if k != "severity"}, sort_keys=True))


def _changes(before: dict[_Place, _Said], after: dict[_Place, _Said]) -> Iterator[Change]:
    ends = {place for place in before.keys() ^ after.keys() if (before.get(place) or after[place]).is_entry}
    for place in sorted(before.keys() | after.keys()):
        was, now = before.get(place), after.get(place)
        said = was or now
        is_same = was is not None and now is not None and was.value == now.value
        if said is None or is_same or any(place[:end] in ends for end in range(len(place))):
            continue
        what: Literal["added", "removed", "changed"] = "changed" if was and now else "removed" if was else "added"
        values = {} if said.is_entry else {"was": was.value if was else None, "now": now.value if now else None}
        yield Change(kind=_kind(said, was, now), place=".".join(place), what=what, **values)


def _kind(said: _Said, was: _Said | None, now: _Said | None) -> Kind:
    old, new = was.value if was else None, now.value if now else None
    if _is_below(said.shape, _WORDS) or (said.shape == "status" and new == "deprecated"):
        return "documentation"
    if said.is_entry and (now is not None or said.is_warning):
        return "compatible"
    judge = _JUDGES.get(said.shape)
    is_warning = was is not None and was.is_warning and said.shape not in ("fields.type", "fields.sensitivity_tags")
    if is_warning or (judge is not None and judge(old, new)):
        return "compatible"
    return "compatible" if judge is None and _is_below(said.shape, _ARRIVAL) else "breaking"


def _is_below(shape: str, above: tuple[str, ...]) -> bool:
    return any(shape == part or shape.startswith(f"{part}.") for part in above)


def _rank(value: Any) -> tuple[int, Any]:
    """Numbers and durations by size, other texts (days, instants, times of day) as they are."""
    text = str(value)
    try:
        return 0, Decimal(duration_seconds(text))
    except ValueError:
        pass
    try:
        return 0, Decimal(text)
    except InvalidOperation:
        return 1, text


def _is_raised(was: Any, now: Any) -> bool:
    return was is None or (now is not None and _rank(now) >= _rank(was))


def _is_lowered(was: Any, now: Any) -> bool:
    return was is None or (now is not None and _rank(now) <= _rank(was))


def _is_added(was: Any, now: Any) -> bool:
    return was is None


def _is_dropped(was: Any, now: Any) -> bool:
    return now is None


_JUDGES: dict[str, Callable[[Any, Any], bool]] = {
    **dict.fromkeys(
        ("fields.min", "fields.min_length", "quality.dataset_rules.row_count.min", "quality.dataset_rules.must_be.at_least",
         "quality.dataset_rules.must_be.greater_than"), _is_raised),
    **dict.fromkeys(
        ("fields.max", "fields.max_length", "quality.dataset_rules.row_count.max", "quality.dataset_rules.must_be.at_most",
         "quality.dataset_rules.must_be.less_than", "quality.dataset_rules.null_share.max", "quality.max_quarantined.rows",
         "quality.max_quarantined.percent", "freshness.expected_by", "freshness.every", "freshness.max_age"), _is_lowered),
    **dict.fromkeys(
        ("fields.required", "fields.unique", "fields.pattern", "keys.across", "publish.constraints", "freshness.column"),
        _is_added),
    **dict.fromkeys(
        ("fields.severity", "keys.severity", "quality.row_rules.severity", "quality.dataset_rules.severity", "rules.severity",
         "quality.row_rules.null_is", "keys.nulls", "quality.on_row_failure", "publish.allow_empty_overwrite"), _is_dropped),
    "status": lambda was, now: now is None,
    "source.sql": lambda was, now: False,
    "source.empty": lambda was, now: now != "accept",
    "fields.not_blank": lambda was, now: was is None or now == "whitespace",
    "fields.allowed": lambda was, now: was is None or (now is not None and set(now) <= set(was)),
    "fields.sensitivity_tags": lambda was, now: set(was or ()) <= set(now or ()),
}  # fmt: skip
"""Whether what is said now promises at least as much as before, where that can be told."""
