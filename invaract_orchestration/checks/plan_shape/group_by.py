"""required_group_by: some single aggregation groups by every listed column."""

from __future__ import annotations

from invaract_orchestration.candidate.plan.expressions import UDF, ColumnReference, Expression, Subquery
from invaract_orchestration.candidate.plan.nodes import Aggregate, Plan
from invaract_orchestration.candidate.plan.traverse import post_order, walk
from invaract_orchestration.checks.plan_shape.columns import Names, plain_column
from invaract_orchestration.checks.plan_shape.finding import PlanFinding, broken, kept, quoted, unverifiable
from invaract_orchestration.checks.plan_shape.scopes import Required, stands
from invaract_orchestration.contract.plan_rules import RequiredGroupBy


def judge_group_by(rule: RequiredGroupBy, plan: Plan, names: Names) -> PlanFinding:
    """Kept, broken, or unverifiable where a hidden part could hold the aggregation."""
    wanted = frozenset(rule.columns)

    def facts(node: Plan) -> frozenset[str] | None:
        return _grouped(rule, node, names) if isinstance(node, Aggregate) else None

    standing = stands(Required(columns=wanted, facts=facts), plan, rule.scope)
    nodes = [node for node in post_order(plan, subqueries=False) if isinstance(node, Aggregate)]
    if standing.is_kept:
        chosen = next(node for node in nodes if (facts(node) or frozenset()) >= wanted)
        return kept(f"an aggregation groups by {quoted(wanted)}", at=chosen, notes=_notes(rule, chosen, names))
    if standing.hidden_by is not None:
        return unverifiable(
            f"no aggregation in sight groups by {quoted(wanted)}, and a step hides what came before it",
            at=standing.hidden_by,
        )
    hint = f"group by {quoted(wanted)}"
    if not nodes:
        return broken(f"the plan has no aggregation; expected one that groups by {quoted(wanted)}", hint=hint)
    if standing.lacking is not None and not isinstance(standing.lacking, Aggregate):
        return broken(f"a branch of a UNION has no aggregation by {quoted(wanted)}", hint=hint, at=standing.lacking)
    closest = standing.lacking or max(nodes, key=lambda node: len(facts(node) or ()))
    return broken(_reason(rule, closest, facts(closest) or frozenset()), hint=hint, at=closest)


def _grouped(rule: RequiredGroupBy, node: Aggregate, names: Names) -> frozenset[str]:
    """The listed columns that every grouping set of the aggregation holds."""

    def is_held(column: str) -> bool:
        matching = {at for at, key in enumerate(node.keys) if _is_key(rule, column, key, node, names)}
        return bool(node.sets) and all(matching.intersection(one) for one in node.sets)

    return frozenset(column for column in rule.columns if is_held(column))


def _is_key(rule: RequiredGroupBy, column: str, key: Expression, node: Aggregate, names: Names) -> bool:
    plain = plain_column(key)
    if plain is not None and names.is_named(column, plain, node.child):
        return True
    if not rule.allow_expressions:
        return False
    read = walk(key, into=lambda one: not isinstance(one, UDF | Subquery))  # a user's function may fold values together
    return any(isinstance(one, ColumnReference) and names.is_named(column, one, node.child) for one in read)


def _notes(rule: RequiredGroupBy, node: Aggregate, names: Names) -> list[str]:
    plain = [column for key in node.keys if (column := plain_column(key)) is not None]
    return [
        f"the key {one.name!r} is computed below the aggregation, it is no source column"
        for wanted in rule.columns
        for one in plain
        if names.is_named(wanted, one, node.child) and names.is_computed(one, node.child)
    ]


def _reason(rule: RequiredGroupBy, node: Plan, found: frozenset[str]) -> str:
    missing = quoted(set(rule.columns) - found)
    if isinstance(node, Aggregate) and not node.keys:
        return f"the aggregation has no key; expected {quoted(rule.columns)}"
    if isinstance(node, Aggregate) and len(node.sets) > 1:
        return f"not every grouping set holds {missing}"
    which = "the outermost aggregation does not group" if rule.scope == "final" else "no single aggregation groups"
    return f"{which} by {quoted(rule.columns)}: {missing} missing"
