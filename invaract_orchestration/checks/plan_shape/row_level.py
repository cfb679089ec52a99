"""The rules on MERGE, UPDATE and DELETE."""

from __future__ import annotations

from invaract_orchestration.candidate.plan.expressions import Expression, Function, UnknownExpression
from invaract_orchestration.candidate.plan.nodes import Plan, Read, UnknownPlan
from invaract_orchestration.candidate.plan.predicates import FALSE, conjuncts, excludes_nothing, guaranteed_equalities
from invaract_orchestration.candidate.plan.row_changes import Delete, Merge, Path, Script, Update, Write
from invaract_orchestration.candidate.plan.rule_names import names_dataset, same_name, split_name
from invaract_orchestration.candidate.plan.traverse import post_order, references, walk
from invaract_orchestration.checks.plan_shape.columns import Names, equated
from invaract_orchestration.checks.plan_shape.finding import PlanFinding, broken, kept, quoted, unverifiable
from invaract_orchestration.contract.plan_rules import AllowedUpdateColumns, ForbidUnconditionalDelete, MergeCondition

_BY_CHANCE = frozenset({"rand", "randn", "random", "uuid"})
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
    """Whether each DELETE, alone or in a MERGE, has a condition that excludes any row.

    INSERT OVERWRITE of a whole table and CREATE OR REPLACE TABLE delete every row first.
    """
    del rule
    for node in post_order(plan):
        bare = isinstance(node, Delete) and _takes_all(node.condition)
        bare = bare or (isinstance(node, Write) and node.mode == "overwrite")
        bare = bare or (isinstance(node, Merge) and any(_deletes_all(node)))
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
    """Whether every update, alone, in a MERGE or in an upsert, sets listed columns only."""
    unclear: Plan | None = None
    for node in post_order(plan):
        paths, dataset = _updated(node)
        for path in paths or ():
            if path and not any(_allows(one, path, dataset, case_sensitive=case_sensitive) for one in rule.columns):
                return broken(
                    f"the statement updates {'.'.join(path)!r}; allowed {quoted(rule.columns)}",
                    hint="leave the column out of SET, or allow it in the contract",
                    at=node,
                )
        if unclear is None and (paths is None or () in paths):
            unclear = node
    if unclear is not None:
        return unverifiable(
            "the statement updates columns that it does not name, of a target whose columns are not known",
            at=unclear,
            hint="name the columns in SET, or give the target's schema",
        )
    hidden = _statement_unknown(plan)
    if hidden is not None:
        return unverifiable("the statement cannot be read", at=hidden, hint=_WHAT_RUNS)
    return kept(f"updates set only {quoted(rule.columns)}")


def _matched(rule: MergeCondition, node: Merge, names: Names) -> set[str]:
    target, source = ({a.id for a in plan.output} for plan in (node.target, node.source))
    found: set[str] = set()
    for equality in guaranteed_equalities(conjuncts(node.condition)):
        pair = equated(equality)
        if pair is None:
            continue
        left, right = pair
        if (left.id in target and right.id in source) or (left.id in source and right.id in target):
            found |= {c for c in rule.columns if any(names.is_named(c, one, node.target, node.source) for one in pair)}
    return found


def _takes_all(condition: Expression | None) -> bool:
    return condition is None or not any(_restricts(part) for part in conjuncts(condition))


def _restricts(part: Expression) -> bool:
    """Whether a conjunct tells one row from another, by its columns or by chance; one that is never true takes no row."""
    if part is FALSE:
        return True
    reads = any(True for _ in references(part)) or any(isinstance(one, UnknownExpression) for one in walk(part))
    is_chance = any(isinstance(one, Function) and one.name in _BY_CHANCE for one in walk(part))
    return (reads or is_chance) and not excludes_nothing(part)


def _deletes_all(node: Merge) -> list[bool]:
    """Of each DELETE, whether neither its own condition nor, for rows that match, that of the MERGE restricts it."""
    return [
        _takes_all(action.condition) and (action.when != "matched" or _takes_all(node.condition))
        for action in node.actions
        if action.action == "delete"
    ]


def _allows(allowed: str, path: Path, dataset: str | None, *, case_sensitive: bool) -> bool:
    """Whether a listed column, alone or after its table's name, is the updated one or holds it."""
    parts = split_name(allowed)

    def holds(wanted: Path) -> bool:
        pairs = zip(wanted, path, strict=False)
        return len(wanted) <= len(path) and all(same_name(a, b, case_sensitive=case_sensitive) for a, b in pairs)

    return holds(parts) or any(
        dataset is not None
        and names_dataset(".".join(parts[:at]), dataset, case_sensitive=case_sensitive)
        and holds(parts[at:])
        for at in range(1, len(parts))
    )


def _updated(node: Plan) -> tuple[list[Path] | None, str | None]:
    """The columns that a node updates (null: all of a target that is not known), and the target's name."""
    match node:
        case Update():
            return [path for path, _ in node.assignments], node.target
        case Write():
            return (None if node.updated is None else list(node.updated)), node.target
        case Merge():
            everything: list[Path] | None = [(a.name,) for a in node.target.output] or None
            paths: list[Path] = []
            for action in node.actions:
                if action.action == "update":
                    assigned = everything if action.assigned is None else action.assigned
                    paths.extend([()] if assigned is None else assigned)
            return paths, _dataset(node.target)
    return [], None


def _dataset(target: Plan) -> str | None:
    return next((node.dataset for node in post_order(target) if isinstance(node, Read)), None)


def _statement_unknown(plan: Plan) -> Plan | None:
    """A statement of the text that is not known; a query with hidden parts is none."""
    statements = (plan.child, *plan.others) if isinstance(plan, Script) else (plan,)
    return next((one for one in statements if isinstance(one, UnknownPlan) and not one.inputs), None)
