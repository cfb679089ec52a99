"""forbid_cross_join: no join pairs every row of one input with every row of another."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from invaract_orchestration.candidate.plan.expressions import Expression
from invaract_orchestration.candidate.plan.nodes import (
    Aggregate,
    Distinct,
    Filter,
    Join,
    Limit,
    Plan,
    Project,
    Read,
    Sort,
    UnknownPlan,
    Window,
)
from invaract_orchestration.candidate.plan.predicates import conjuncts
from invaract_orchestration.candidate.plan.render import node_text
from invaract_orchestration.candidate.plan.traverse import fold, plans_inside, post_order
from invaract_orchestration.checks.plan_shape.finding import PlanFinding, broken, kept, unverifiable
from invaract_orchestration.checks.plan_shape.joins import JoinedInputs, is_correlated, joins_of
from invaract_orchestration.contract.plan_rules import ForbidCrossJoin


def judge_cross_join(rule: ForbidCrossJoin, plan: Plan) -> PlanFinding:
    """Broken by any offence in plain sight; else unverifiable where a step hides joins; else kept."""
    joins = [joined for root in _roots(plan) for joined in joins_of(root)]
    offences = {id(j.node): (j, why) for j in joins if (why := _offence(j, rule)) is not None}
    if offences:
        first = next(iter(offences.values()))[0].node
        is_one = len(offences) == 1
        listed = "; ".join(f"{node_text(j.node)}{'' if is_one else _line(j.node)} {why}" for j, why in offences.values())
        count = f"{len(offences)} join{'s' * (len(offences) > 1)}"
        return broken(
            f"{count} without a condition between the inputs: {listed}",
            hint="relate the inputs in ON (or, for a comma join, in the WHERE directly above)",
            at=first,
        )
    hidden = next((node for node in post_order(plan) if _hides_joins(node)), None)
    if hidden is not None:
        return unverifiable(f"a step {_told(hidden)}, so its joins cannot be seen", at=hidden)
    looked_at = len({id(joined.node) for joined in joins})
    return kept(f"every join relates its inputs ({looked_at} looked at)" if looked_at else "the plan has no join")


def _told(hidden: Plan) -> str:
    if len(hidden.children) > 1:
        return "combines several inputs as code"
    return "cannot be seen into" if hidden.children else "hides what came before it"


def _line(node: Plan) -> str:
    return "" if node.line is None else f" (line {node.line}{'' if node.file is None else f' of {node.file}'})"


def _roots(plan: Plan) -> Iterator[Plan]:
    """The main plan, those of subqueries, and those of statements beside it."""
    yield plan
    for node in post_order(plan):
        yield from plans_inside(node)


def _offence(joined: JoinedInputs, rule: ForbidCrossJoin) -> str | None:
    node = joined.node
    if rule.allow_single_row and _enough_single(joined):
        return None
    if node.lateral and is_correlated(node):
        return None
    if node.kind == "cross" and not (node.lateral and _relates(joined, joined.own)):
        return "is an explicit CROSS JOIN" if not node.lateral else "is a lateral subquery that is not correlated"
    if joined.is_comma or (node.lateral and node.condition is None and node.kind == "inner"):
        return None if _connects(joined, (*joined.own, *joined.above)) else "has no condition that relates its inputs"
    if node.condition is None:
        return "has no condition"
    if not conjuncts(node.condition):
        return "has a condition that is always true"
    return None if _relates(joined, joined.own) else "has no condition that refers to both inputs"


def _relates(joined: JoinedInputs, parts: tuple[Expression, ...]) -> bool:
    return any(len(joined.places(part)) > 1 for part in parts)


def _connects(joined: JoinedInputs, parts: tuple[Expression, ...]) -> bool:
    """Whether the conjuncts that refer to several inputs connect all of them, directly or through others."""
    groups = [{at} for at in range(len(joined.inputs))]
    for part in parts:
        places = joined.places(part)
        if len(places) > 1:
            touched = [group for group in groups if group & places]
            groups = [group for group in groups if not group & places]
            groups.append(set().union(*touched))
    return len(groups) == 1


def _enough_single(joined: JoinedInputs) -> bool:
    """Whether the inputs of more than one row, if there are several, are connected by conditions."""
    single = [_is_single_row(plan) for plan in joined.plans]
    if len(joined.inputs) == 2:
        return any(single)
    many = [at for at, one in enumerate(single) if not one]
    kept_inputs = JoinedInputs(
        node=joined.node,
        inputs=tuple(joined.inputs[at] for at in many),
        plans=tuple(joined.plans[at] for at in many),
        own=joined.own,
        above=joined.above,
    )
    return len(many) < 2 or _connects(kept_inputs, (*joined.own, *joined.above))


def _is_single_row(plan: Plan) -> bool:
    """Whether the plan gives one row at most, by construction."""

    def visit(node: Plan, of: Callable[[Plan], bool]) -> bool:
        match node:
            case Read():
                return node.rows is not None and node.rows <= 1
            case Aggregate():
                return all(not one for one in node.sets) and len(node.sets) == 1 and not node.pivot
            case Limit():
                return (node.count is not None and node.count <= 1) or of(node.child)
            case Join():
                if node.kind in ("semi", "anti"):
                    return of(node.left)
                return node.kind != "full" and all(of(child) for child in node.children)  # two that do not match are two rows
            case Project() | Filter() | Sort() | Distinct() | Window():  # a sample can take a row more than once
                return of(node.child)
        return False

    return fold(plan, visit, subqueries=False)


def _hides_joins(node: Plan) -> bool:
    """Code combines several inputs as it likes; what nobody knows may hold a join in a subquery of its own."""
    return isinstance(node, UnknownPlan) and (node.hides or len(node.inputs) > 1)
