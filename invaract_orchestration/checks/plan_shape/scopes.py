"""Where a required fact must stand: anywhere, on the outermost nodes, or in each branch of each UNION."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from invaract_orchestration.candidate.plan.nodes import Plan, Union, UnknownPlan
from invaract_orchestration.candidate.plan.traverse import fold, post_order
from invaract_orchestration.contract.plan_rules import Scope

Columns = frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Required:
    """A fact that a rule asks for: all `columns`, on one node or (`together`) on several.

    `facts` gives the columns that a node has, or null for a node of another kind.
    """

    columns: Columns
    facts: Callable[[Plan], Columns | None]
    together: bool = False

    def has_all(self, found: Sequence[Columns]) -> bool:
        """Whether these nodes are enough."""
        if self.together:
            return frozenset[str]().union(*found) >= self.columns
        return any(one >= self.columns for one in found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Whether the fact stands where the scope wants it. `lacking`: the node or branch in full view without it."""

    is_kept: bool
    lacking: Plan | None = None
    hidden_by: Plan | None = None


def stands(required: Required, plan: Plan, scope: Scope) -> Standing:
    """Whether the fact stands, is missing in full view, or may be hidden."""
    if scope == "final":
        return _on_outermost(required, plan)
    if scope == "every_branch" and any(isinstance(node, Union) for node in post_order(plan, subqueries=False)):
        return _in_branches(required, plan)
    return _anywhere(required, plan)


def _anywhere(required: Required, plan: Plan) -> Standing:
    nodes = list(post_order(plan, subqueries=False))
    if required.has_all([found for node in nodes if (found := required.facts(node)) is not None]):
        return Standing(is_kept=True)
    return _missing(None, next((node for node in nodes if _hides(node)), None))


def _on_outermost(required: Required, plan: Plan) -> Standing:
    outermost: list[tuple[Plan, Columns]] = []
    hidden: Plan | None = None
    seen: set[int] = set()
    stack: list[Plan] = [plan]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        found = required.facts(node)
        if found is not None:
            outermost.append((node, found))
            continue
        hidden = hidden or (node if _hides(node) else None)
        stack.extend(reversed(node.children))
    lacking = next((node for node, found in outermost if not found >= required.columns), None)
    if lacking is not None:
        return Standing(is_kept=False, lacking=lacking)
    if hidden is not None:
        return Standing(is_kept=False, hidden_by=hidden)
    return Standing(is_kept=bool(outermost))


def _in_branches(required: Required, plan: Plan) -> Standing:
    below = _facts_below(required, plan)
    missing: list[tuple[Plan, Plan | None]] = []
    seen: set[tuple[int, tuple[Columns, ...]]] = set()
    stack: list[tuple[Plan, tuple[Columns, ...]]] = [(plan, ())]
    while stack:
        node, above = stack.pop()
        if (id(node), above) in seen:
            continue
        seen.add((id(node), above))
        found = required.facts(node)
        if found:
            above = tuple(dict.fromkeys((*above, found)))
        if isinstance(node, Union):
            for branch in node.branches:
                inside, hidden = below[id(branch)]
                if not required.has_all([*above, *inside]):
                    missing.append((branch, hidden))
        stack.extend((child, above) for child in node.children)
    if not missing:
        return Standing(is_kept=True)
    in_view = next((branch for branch, hidden in missing if hidden is None), None)
    return _missing(in_view, None if in_view is not None else missing[0][1])


def _facts_below(required: Required, plan: Plan) -> dict[int, tuple[frozenset[Columns], Plan | None]]:
    """For each node: the facts in its whole subtree, and a node in it that hides some."""
    below: dict[int, tuple[frozenset[Columns], Plan | None]] = {}

    def visit(
        node: Plan, of: Callable[[Plan], tuple[frozenset[Columns], Plan | None]]
    ) -> tuple[frozenset[Columns], Plan | None]:
        parts = [of(child) for child in node.children]
        found = required.facts(node)
        facts = frozenset({found} if found else ()).union(*(p[0] for p in parts))
        hidden = next((p[1] for p in parts if p[1] is not None), node if _hides(node) else None)
        below[id(node)] = (facts, hidden)
        return below[id(node)]

    fold(plan, visit, subqueries=False)
    return below


def _missing(lacking: Plan | None, hidden: Plan | None) -> Standing:
    return Standing(is_kept=False, lacking=lacking, hidden_by=hidden)


def _hides(node: Plan) -> bool:
    return isinstance(node, UnknownPlan) and node.hides
