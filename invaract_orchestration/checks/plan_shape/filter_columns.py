"""required_filter_columns: every listed column is read by at least one filter of the main plan."""

from __future__ import annotations

from invaract_orchestration.candidate.plan.expressions import Expression
from invaract_orchestration.candidate.plan.nodes import Filter, Plan
from invaract_orchestration.candidate.plan.predicates import conjuncts, excludes_nothing, written_parts
from invaract_orchestration.candidate.plan.traverse import post_order, references
from invaract_orchestration.checks.plan_shape.columns import Names
from invaract_orchestration.checks.plan_shape.finding import PlanFinding, broken, kept, quoted, unverifiable
from invaract_orchestration.checks.plan_shape.scopes import Required, stands
from invaract_orchestration.contract.plan_rules import RequiredFilterColumns


def judge_filter_columns(rule: RequiredFilterColumns, plan: Plan, names: Names) -> PlanFinding:
    """Kept (with a note where the predicate excludes nothing), broken, or unverifiable where a filter may be hidden."""
    wanted = frozenset(rule.columns)

    def facts(node: Plan) -> frozenset[str] | None:
        if not isinstance(node, Filter):
            return None
        return frozenset(column for column in rule.columns if _reads(column, node.condition, node, names))

    standing = stands(Required(columns=wanted, facts=facts, together=True), plan, rule.scope)
    nodes = [node for node in post_order(plan, subqueries=False) if isinstance(node, Filter)]
    if standing.is_kept:
        read = [node for node in nodes if facts(node)]
        return kept(f"filters read {quoted(wanted)}", at=read[-1], notes=_notes(rule, read, names))
    if standing.hidden_by is not None:
        return unverifiable(
            f"no filter in sight reads all of {quoted(wanted)}, and a step hides what came before it",
            at=standing.hidden_by,
        )
    hint = f"filter on {quoted(wanted)} in a WHERE of the transformation itself"
    if not nodes:
        return broken(f"the plan has no filter; expected one that reads {quoted(wanted)}", hint=hint)
    if rule.scope == "final" and standing.lacking is not None:
        missing = wanted - (facts(standing.lacking) or frozenset())
        return broken(f"the outermost filter does not read {quoted(missing)}", hint=hint, at=standing.lacking)
    if standing.lacking is not None:
        return broken(f"a branch of a UNION is not filtered on {quoted(wanted)}", hint=hint, at=standing.lacking)
    missing = wanted.difference(*(facts(node) or frozenset() for node in nodes))
    return broken(f"no filter reads {quoted(missing)}", hint=hint, at=nodes[-1])


def _reads(column: str, condition: Expression, node: Filter, names: Names) -> bool:
    return any(names.is_named(column, one, node.child, by_reading=True) for one in references(condition))


def _notes(rule: RequiredFilterColumns, nodes: list[Filter], names: Names) -> list[str]:
    """A note for each column that is read only where the predicate is true of every value."""
    notes = []
    for column in rule.columns:
        parts = [part for node in nodes for part in written_parts(node.condition) if _reads(column, part, node, names)]
        if parts and all(all(excludes_nothing(one) for one in conjuncts(part)) for part in parts):
            notes.append(f"the predicate on {column!r} is true of every value: no row is excluded by it")
    return notes
