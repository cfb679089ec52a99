"""The rules on MERGE, UPDATE and DELETE."""

from __future__ import annotations

from invaract_orchestration.candidate.plan.expressions import Expression
from invaract_orchestration.candidate.plan.nodes import Delete, Merge, Plan, UnknownPlan, Update
from invaract_orchestration.candidate.plan.predicates import conjuncts, excludes_nothing, guaranteed_equalities
from invaract_orchestration.candidate.plan.rule_names import same_name, split_name
from invaract_orchestration.candidate.plan.traverse import post_order
from invaract_orchestration.checks.plan_shape.columns import Names, plain_column
from invaract_orchestration.checks.plan_shape.finding import PlanFinding, broken, kept, quoted, unverifiable
from invaract_orchestration.contract.plan_rules import AllowedUpdateColumns, ForbidUnconditionalDelete, MergeCondition

_WHAT_RUNS = "hand the gate the statement that publishes, as SQL that it can read"


def judge_merge_condition(rule: MergeCondition, plan: Plan, names: Names) -> PlanFinding:
    """Whether every MERGE matches by an equality of target and source on each listed column."""
    merges = [node for node in post_order(plan) if isinstance(node, Merge)]
    wanted = quoted(rule.columns)
    for node in merges:
        missing = set(rule.columns) - _matched(rule, node, names)
        if missing:
            return broken(
                f"the MERGE does not match target and source on {quoted(missing)}",
                hint=f"equate {wanted} of target and source in ON, joined by AND",
                at=node,
            )
    if merges:
        return kept(f"the MERGE matches on {wanted}", at=merges[0])
    hidden = _statement_unknown(plan)
    if hidden is not None:
        return unverifiable("the statement cannot be read", at=hidden, hint=_WHAT_RUNS)
    return broken("there is no MERGE", hint=f"publish by a MERGE that matches on {wanted}")


def judge_unconditional_delete(rule: ForbidUnconditionalDelete, plan: Plan) -> PlanFinding:
    """Whether a DELETE, or a MERGE's DELETE of target rows without a match, has a condition that excludes any row."""
    del rule
    for node in post_order(plan):
        bare = isinstance(node, Delete) and _takes_all(node.condition)
        bare = bare or (isinstance(node, Merge) and any(_deletes_unmatched(node)))
        if bare:
            return broken(
                "the statement deletes every row that it meets",
                hint="restrict the DELETE by a condition on its columns",
                at=node,
            )
    hidden = _statement_unknown(plan)
    if hidden is not None:
        return unverifiable("the statement cannot be read", at=hidden, hint=_WHAT_RUNS)
    return kept("no DELETE without a condition")


def judge_update_columns(rule: AllowedUpdateColumns, plan: Plan, *, case_sensitive: bool) -> PlanFinding:
    """Whether every update, alone or in a MERGE, sets listed columns only."""
    for node in post_order(plan):
        for name in _updated(node):
            if name is None:
                return unverifiable(
                    "the MERGE updates every column of a target whose columns are not known",
                    at=node,
                    hint="name the columns in UPDATE SET, or give the target's schema",
                )
            if not any(same_name(split_name(a)[-1], name, case_sensitive=case_sensitive) for a in rule.columns):
                return broken(
                    f"the statement updates {name!r}; allowed {quoted(rule.columns)}",
                    hint="leave the column out of SET, or allow it in the contract",
                    at=node,
                )
    hidden = _statement_unknown(plan)
    if hidden is not None:
        return unverifiable("the statement cannot be read", at=hidden, hint=_WHAT_RUNS)
    return kept(f"updates set only {quoted(rule.columns)}")


def _matched(rule: MergeCondition, node: Merge, names: Names) -> set[str]:
    target, source = ({a.id for a in plan.output} for plan in (node.target, node.source))
    found: set[str] = set()
    for equality in guaranteed_equalities(conjuncts(node.condition)):
        left, right = plain_column(equality.left), plain_column(equality.right)
        if left is None or right is None:
            continue
        if (left.id in target and right.id in source) or (left.id in source and right.id in target):
            pair = (left, right)
            found |= {c for c in rule.columns if any(names.is_named(c, one, node.target, node.source) for one in pair)}
    return found


def _takes_all(condition: Expression | None) -> bool:
    return condition is None or all(excludes_nothing(part) for part in conjuncts(condition))


def _deletes_unmatched(node: Merge) -> list[bool]:
    return [
        _takes_all(action.condition)
        for action in node.actions
        if action.action == "delete" and action.when == "not_matched_by_source"
    ]


def _updated(node: Plan) -> list[str | None]:
    """The columns that a node updates; null for all of a target that is not known."""
    if isinstance(node, Update):
        return [name for name, _ in node.assignments]
    if not isinstance(node, Merge):
        return []
    names: list[str | None] = []
    for action in node.actions:
        if action.action == "update":
            everything: list[str | None] = [a.name for a in node.target.output]
            everything = everything or [None]
            names.extend(everything if action.assigned is None else action.assigned)
    return names


def _statement_unknown(plan: Plan) -> Plan | None:
    return plan if isinstance(plan, UnknownPlan) and not plan.inputs else None
