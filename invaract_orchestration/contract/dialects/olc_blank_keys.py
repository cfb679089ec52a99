"""Blank keys of an Open Lakehouse Contract's deduplication: one rule a step, under the name that the contract gives it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from invaract_orchestration.contract.dialects.olc_parts import is_true, key, mapping, rule_name, text, texts
from invaract_orchestration.contract.dialects.olc_references import phase_of_step, written_names
from invaract_orchestration.contract.yaml_tree import ListNode, MapNode, Node, ScalarNode

_ANY_COLUMN = ("sql", "rollup", "pivot", "unpivot", "cast", "trim", "lower", "upper")
"""Kinds of steps that may write any column."""
_NOT_NULL = re.compile(r"\s*(`?)(\w+)\1\s+is\s+not\s+null\s*\Z", re.IGNORECASE)


def not_null_columns(fields: Node | None, rules: list[Node]) -> set[str]:
    """The columns, in lower case, of which a check asks that no value is null."""
    found = set()
    for item in fields.items if isinstance(fields, ListNode) else ():
        if isinstance(item, MapNode) and is_true(item.get("required")):
            found |= {name.text.lower() for name in texts(item.get("name"))}
    for rule in rules:
        sql, severity = (rule.get("sql"), rule.get("severity")) if isinstance(rule, MapNode) else (None, None)
        match = _NOT_NULL.match(sql.text) if isinstance(sql, ScalarNode) else None
        if match and not (isinstance(severity, ScalarNode) and severity.text == "warn"):
            found.add(match.group(2).lower())
    return found


def blank_keys(steps: list[Node], covered: Collection[str]) -> tuple[list[Node], list[Node]]:
    """The steps, where only a null is blank, and a rule for each key that has to have every part."""
    pairs = [_step(step, covered, steps[:at]) for at, step in enumerate(steps)]
    return [step for step, _ in pairs], [rule for _, rules in pairs for rule in rules]


def _step(step: Node, covered: Collection[str], before: list[Node]) -> tuple[Node, list[Node]]:
    options = step.get("deduplicate") if isinstance(step, MapNode) else None
    chosen = options.get("blank_keys") if isinstance(options, MapNode) else None
    is_known = chosen is None or (isinstance(chosen, ScalarNode) and chosen.text in ("quarantine", "keep"))
    if not isinstance(step, MapNode) or not isinstance(options, MapNode) or not is_known:
        return step, []
    at = options.at
    said = (key("blank_keys", at), text("keep", at)), (key("blank", at), text("missing", at))
    entries = (*(e for e in options.entries if e[0].text != "blank_keys"), *said)
    changed = step.with_entries(tuple((k, mapping(at, *entries) if v is options else v) for k, v in step.entries))
    is_kept = isinstance(chosen, ScalarNode) and chosen.text == "keep"
    return changed, [] if is_kept else list(_rule(step, options, covered, before))


def _rule(step: MapNode, options: MapNode, covered: Collection[str], before: list[Node]) -> Iterator[Node]:
    columns = texts(options.get("on"))
    if not columns or all(c.text.lower() in covered for c in columns):
        return
    at = options.at
    phase = _phase(step, {c.text.lower() for c in columns}, before)
    sql = " AND ".join("`" + c.text.replace("`", "``") + "` IS NOT NULL" for c in columns)
    name = rule_name("__".join(c.text for c in columns) + "_required_for_dedup")
    said = [(key("phase", at), text(phase, at))] if phase is not None else []
    yield mapping(at, (key("name", at), text(name, at)), (key("sql", at), text(sql, at)), *said)


def _phase(step: MapNode, columns: set[str], before: list[Node]) -> str | None:
    """The phase of a rule: of a post step by default that of its columns, which a later step may leave out."""
    if phase_of_step(step) == "pre":
        return "pre"
    late = [s for s in before if phase_of_step(s) != "pre"]
    is_rewritten = any(isinstance(s, MapNode) and any(s.has(k) for k in _ANY_COLUMN) for s in late)
    is_rewritten = is_rewritten or any(name.text.lower() in columns for s in late for name in written_names(s))
    return "post" if is_rewritten else None
