"""required_join_columns: one join guarantees an equality between its two inputs on every listed column."""

from __future__ import annotations

from invaract_orchestration.candidate.plan.expressions import ColumnReference
from invaract_orchestration.candidate.plan.nodes import Join, Plan
from invaract_orchestration.candidate.plan.predicates import guaranteed_equalities
from invaract_orchestration.checks.plan_shape.columns import Names, Pair, equated
from invaract_orchestration.checks.plan_shape.finding import PlanFinding, broken, kept, quoted, unverifiable
from invaract_orchestration.checks.plan_shape.joins import JoinedInputs, correlation, joins_of
from invaract_orchestration.checks.plan_shape.scopes import Required, stands
from invaract_orchestration.contract.plan_rules import RequiredJoinColumns


def judge_join_columns(rule: RequiredJoinColumns, plan: Plan, names: Names) -> PlanFinding:
    """Kept, broken, or unverifiable where a hidden part could hold the join."""
    wanted = frozenset(rule.columns)
    joins: dict[int, list[JoinedInputs]] = {}
    for joined in joins_of(plan):
        joins.setdefault(id(joined.node), []).append(joined)
    found = {
        at: frozenset.intersection(*(_equated(rule, joined, names) for joined in ways)) for at, ways in joins.items()
    }

    def facts(node: Plan) -> frozenset[str] | None:
        return found.get(id(node))

    standing = stands(Required(columns=wanted, facts=facts), plan, rule.scope)
    nodes = [ways[0].node for ways in joins.values()]
    if standing.is_kept:
        chosen = next(node for node in nodes if found[id(node)] >= wanted)
        notes = _notes(rule, joins[id(chosen)][0], names)
        return kept(f"a join equates {quoted(wanted)} between its inputs", at=chosen, notes=notes)
    if standing.hidden_by is not None:
        return unverifiable(
            f"no join in sight equates {quoted(wanted)}, and a step hides what came before it", at=standing.hidden_by
        )
    hint = f"join with an equality on {quoted(wanted)} between the two inputs, not under OR, CASE or a function"
    if not nodes:
        return broken(f"the plan has no join; expected one that equates {quoted(wanted)}", hint=hint)
    lacking = standing.lacking
    if lacking is not None and not isinstance(lacking, Join):
        return broken(f"a branch of a UNION has no join that equates {quoted(wanted)}", hint=hint, at=lacking)
    closest = lacking or max(nodes, key=lambda node: len(found[id(node)]))
    missing = quoted(wanted - found.get(id(closest), frozenset()))
    which = "the outermost join does not equate" if rule.scope == "final" else "no single join equates"
    return broken(f"{which} {quoted(wanted)} between its inputs: {missing} missing", hint=hint, at=closest)


def _equated(rule: RequiredJoinColumns, joined: JoinedInputs, names: Names) -> frozenset[str]:
    pairs = _pairs(joined)
    return frozenset(c for c in rule.columns if any(_is_named(c, one, joined, names) for pair in pairs for one in pair))


def _is_named(wanted: str, column: ColumnReference, joined: JoinedInputs, names: Names) -> bool:
    return names.is_named(wanted, column, joined.node.left, joined.node.right)


def _pairs(joined: JoinedInputs) -> list[Pair]:
    """The equated columns of different inputs, whose types differ at most by a cast that loses nothing."""
    tied = correlation(joined.node) if joined.node.lateral else ()
    pairs = []
    for equality in guaranteed_equalities((*joined.own, *joined.above, *tied)):
        pair = equated(equality)
        if pair is None:
            continue
        places = (joined.place_of(pair[0]), joined.place_of(pair[1]))
        if None not in places and places[0] != places[1]:
            pairs.append(pair)
    return pairs


def _notes(rule: RequiredJoinColumns, joined: JoinedInputs, names: Names) -> list[str]:
    inputs = (joined.node.left, joined.node.right)
    return [
        f"the operand {one.name!r} is computed below the join, it is no source column"
        for wanted in rule.columns
        for pair in _pairs(joined)
        for one in pair
        if _is_named(wanted, one, joined, names) and names.is_computed(one, *inputs)
    ]
