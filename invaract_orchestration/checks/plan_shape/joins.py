"""The joins of a plan with the conditions that they really have.

A chain of comma joins is one join of several inputs. Its condition, and part of an inner join's, is in the WHERE
directly above: projections that rename nothing may stand between, and joins through which the columns come unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from invaract_orchestration.candidate.plan.expressions import ColumnReference, Expression
from invaract_orchestration.candidate.plan.nodes import (
    Filter,
    Generate,
    Join,
    Plan,
    Project,
    Read,
    SetOperation,
    Union,
    UnknownPlan,
)
from invaract_orchestration.candidate.plan.predicates import conjuncts
from invaract_orchestration.candidate.plan.traverse import fold, post_order, references, replaced

Parts = tuple[Expression, ...]
_MOST_WAYS = 64  # a shared node reached under more conditions than these is judged without one


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedInputs:
    """One join: its inputs by the ids of their columns, its own conjuncts, and those of the WHERE directly above it."""

    node: Join
    inputs: tuple[frozenset[int], ...]
    plans: tuple[Plan, ...]
    own: Parts
    above: Parts
    attached: tuple[tuple[frozenset[int], int], ...] = ()

    @property
    def is_comma(self) -> bool:
        """Whether no condition was written beside the join."""
        return is_comma_join(self.node)

    def place_of(self, column: ColumnReference) -> int | None:
        """The input that the column comes from."""
        for at, ids in enumerate(self.inputs):
            if column.id in ids:
                return at
        return next((at for ids, at in self.attached if column.id in ids), None)

    def places(self, part: Expression) -> frozenset[int]:
        """The inputs that a conjunct refers to."""
        found = (self.place_of(column) for column in references(part))
        return frozenset(at for at in found if at is not None)


def is_comma_join(node: Plan) -> bool:
    """An inner join without a condition: a comma, or JOIN without ON."""
    return isinstance(node, Join) and node.kind == "inner" and node.condition is None and not node.lateral


def joins_of(root: Plan) -> Iterator[JoinedInputs]:
    """The joins of one plan, not of the subqueries in it; a lateral that reads no dataset is none."""
    conditions = _Conditions()
    seen: dict[int, set[tuple[int, ...]]] = {}
    absorbed: set[int] = set()
    stack: list[tuple[Plan, Parts]] = [(root, ())]
    while stack:
        node, above = stack.pop()
        ways = seen.setdefault(id(node), set())
        above = () if len(ways) > _MOST_WAYS else above
        key = tuple(id(part) for part in above)
        if key in ways:
            continue
        ways.add(key)
        if isinstance(node, Join) and not (is_comma_join(node) and id(node) in absorbed) and is_join(node):
            yield _joined(node, above, absorbed)
        stack.extend(conditions.of_inputs(node, above))


def is_join(node: Join) -> bool:
    """Whether the node joins at all: a lateral subquery without a dataset only computes."""
    return not node.lateral or reads_dataset(node.right)


def reads_dataset(plan: Plan) -> bool:
    """Whether rows of a source (or of a part that is hidden) come into the plan."""
    return any(
        (isinstance(node, Read) and not node.inline) or (isinstance(node, UnknownPlan) and not node.inputs)
        for node in post_order(plan, subqueries=False)
    )


def is_correlated(node: Join) -> bool:
    """Whether a condition inside a lateral ties it to its left input, in each branch of a UNION there."""
    left = {attribute.id for attribute in node.left.output}

    def visit(plan: Plan, of: Callable[[Plan], bool]) -> bool:
        if isinstance(plan, Union):
            return all(of(branch) or not reads_dataset(branch) for branch in plan.branches)
        own = plan.expressions if isinstance(plan, Filter | Join) else ()
        return any(_ties(p, left) for e in own for p in conjuncts(e)) or any(of(child) for child in plan.children)

    return fold(node.right, visit, subqueries=False)


def correlation(node: Join) -> Parts:
    """The conjuncts that tie a lateral to its left input and hold for every row that it gives."""
    left = {attribute.id for attribute in node.left.output}
    parts: list[Expression] = []
    stack: list[Plan] = [node.right]
    while stack:
        plan = stack.pop()
        if isinstance(plan, Filter) or (isinstance(plan, Join) and plan.kind in ("inner", "cross", "semi")):
            parts.extend(p for e in plan.expressions for p in conjuncts(e) if _ties(p, left))
        if not isinstance(plan, Union | SetOperation):
            stack.extend(child for at, child in enumerate(plan.children) if at in _kept_sides(plan))
    return tuple(parts)


def _ties(part: Expression, left: set[int]) -> bool:
    read = list(references(part))
    return any(r.id in left for r in read) and any(not r.outer for r in read)


def _kept_sides(node: Plan) -> tuple[int, ...]:
    """The inputs whose rows come through the node as they are, less some."""
    if not isinstance(node, Join):
        return (0,)
    return {"left": (0,), "semi": (0,), "anti": (0,), "right": (1,), "full": ()}.get(node.kind, (0, 1))


def _joined(node: Join, above: Parts, absorbed: set[int]) -> JoinedInputs:
    own = () if node.condition is None else conjuncts(node.condition)
    takes_where = node.kind in ("inner", "cross")
    if is_comma_join(node):
        inputs, plans, attached = _chain(node, absorbed)
    else:
        plans, attached = (node.left, node.right), ()
        inputs = tuple(frozenset(a.id for a in plan.output) for plan in plans)
        if node.lateral:
            inside = frozenset(a.id for one in post_order(node.right) for a in one.output) - inputs[0]
            inputs = (inputs[0], inside)
    return JoinedInputs(
        node=node, inputs=inputs, plans=plans, own=own, above=above if takes_where else (), attached=attached
    )


def _chain(
    top: Join, absorbed: set[int]
) -> tuple[tuple[frozenset[int], ...], tuple[Plan, ...], tuple[tuple[frozenset[int], int], ...]]:
    """The inputs of a chain of comma joins; a table joined on to it goes with the chain's first input there."""
    units: list[Plan] = []
    attached: list[tuple[frozenset[int], int]] = []
    stack: list[tuple[Plan, int | None]] = [(top, None)]
    while stack:
        node, beside = stack.pop()
        if beside is not None:
            attached.append((frozenset(a.id for a in node.output), beside))
            continue
        inner = _through_projections(node)
        if isinstance(inner, Join) and is_comma_join(inner):
            absorbed.add(id(inner))
            stack.extend(((inner.right, None), (inner.left, None)))
            continue
        chained = _kept_chain(inner)
        if chained is not None:
            kept, other = chained
            stack.extend(((other, len(units)), (kept, None)))
            continue
        units.append(node)
    return tuple(frozenset(a.id for a in u.output) for u in units), tuple(units), tuple(attached)


def _kept_chain(node: Plan) -> tuple[Plan, Plan] | None:
    """The side of a join that holds a comma chain and comes through unchanged, and the other side."""
    if not isinstance(node, Join) or node.kind == "full":
        return None
    kept, other = (node.right, node.left) if node.kind == "right" else (node.left, node.right)
    inner = _through_projections(kept)
    while isinstance(inner, Join) and not is_comma_join(inner) and inner.kind != "full":
        inner = _through_projections(inner.right if inner.kind == "right" else inner.left)
    return (kept, other) if is_comma_join(inner) else None


def _through_projections(node: Plan) -> Plan:
    while isinstance(node, Project) and _keeps_ids(node):
        node = node.child
    return node


def _keeps_ids(node: Project) -> bool:
    return all(
        isinstance(item.expression, ColumnReference) and item.expression.id == item.attribute.id for item in node.items
    ) and _renames_nothing(node)


def _renames_nothing(node: Project) -> bool:
    return all(
        item.attribute.name.lower() == item.expression.name.lower()
        for item in node.items
        if isinstance(item.expression, ColumnReference) and not item.expression.path
    )


class _Conditions:
    """Hands conjuncts down a plan, each made once, so that a shared node is not judged again for every path to it."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, ...], Parts] = {}
        self._alive: list[Parts] = []

    def of_inputs(self, node: Plan, above: Parts) -> list[tuple[Plan, Parts]]:
        """The node's children, each with the conjuncts that stand directly above it."""
        match node:
            case Filter():
                own = self._once((id(node),), lambda: conjuncts(node.condition))
                return [(node.child, _within(node.child, (*above, *own)))]
            case Project() if _renames_nothing(node):
                key = (id(node), *(id(part) for part in above))
                return [(node.child, self._once(key, lambda: _below(node, above)))]
            case Generate():
                return [(node.child, above)]
            case Join():
                kept = _kept_sides(node)
                return [(child, _within(child, above) if at in kept else ()) for at, child in enumerate(node.children)]
        return [(child, ()) for child in node.children]

    def _once(self, key: tuple[int, ...], make: Callable[[], Parts]) -> Parts:
        if key not in self._made:
            self._made[key] = make()
            self._alive.append(self._made[key])  # ids stay unique only while what they name lives
        return self._made[key]


def _within(plan: Plan, parts: Parts) -> Parts:
    """The conjuncts that can relate two inputs of a join inside the plan: they read two of its columns or more."""
    if not parts:
        return parts
    ids = {attribute.id for attribute in plan.output}
    return tuple(part for part in parts if len({r.id for r in references(part)} & ids) > 1)


def _below(node: Project, above: Parts) -> Parts:
    """The conjuncts with the ids that the columns have below a projection."""
    changed = {
        item.attribute.id: item.expression
        for item in node.items
        if isinstance(item.expression, ColumnReference) and item.expression.id != item.attribute.id
    }
    if not changed or not above:
        return above

    def instead(one: Expression) -> Expression | None:
        if not isinstance(one, ColumnReference) or one.id not in changed:
            return None
        inner = changed[one.id]
        return ColumnReference(inner.id, inner.name, (*inner.path, *one.path), one.type, one.outer)

    return tuple(replaced(part, instead) for part in above)
