"""The one way over plans and expressions: iterative, children first, each shared node once.

A loop of two thousand `withColumn` calls makes a plan that a recursive visitor does not survive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from invaract_orchestration.candidate.plan.expressions import (
    UDF,
    AggregateCall,
    Alias,
    Arithmetic,
    BooleanExpr,
    Cast,
    ColumnReference,
    Comparison,
    Conditional,
    Expression,
    Function,
    Literal,
    Subquery,
    UnknownExpression,
)
from invaract_orchestration.candidate.plan.nodes import Plan

T = TypeVar("T")


def post_order(root: Plan, *, subqueries: bool = True) -> Iterator[Plan]:
    """Every node once, children before their parent, and (if asked) the plans that stand inside the node."""
    done: set[int] = set()
    stack: list[tuple[Plan, bool]] = [(root, False)]
    while stack:
        node, is_ready = stack.pop()
        if id(node) in done:
            continue
        if is_ready:
            done.add(id(node))
            yield node
            continue
        stack.append((node, True))
        inner = plans_inside(node) if subqueries else []
        stack.extend((plan, False) for plan in reversed((*node.children, *inner)))


def fold(root: Plan, visit: Callable[[Plan, Callable[[Plan], T]], T], *, subqueries: bool = True) -> T:
    """The value of the root, where `visit` makes a node's value and may ask for that of any plan below it."""
    values: dict[int, T] = {}

    def value_of(plan: Plan) -> T:
        return values[id(plan)]

    for node in post_order(root, subqueries=subqueries):
        values[id(node)] = visit(node, value_of)
    return values[id(root)]


def fold_expression(root: Expression, visit: Callable[[Expression, tuple[T, ...]], T]) -> T:
    """The value of the root, where `visit` makes an expression's value from those of its children."""
    values: dict[int, T] = {}
    stack: list[tuple[Expression, bool]] = [(root, False)]
    while stack:
        node, is_ready = stack.pop()
        if id(node) in values:
            continue
        if is_ready:
            values[id(node)] = visit(node, tuple(values[id(child)] for child in node.children))
            continue
        stack.append((node, True))
        stack.extend((child, False) for child in reversed(node.children))
    return values[id(root)]


def walk(root: Expression, *, into: Callable[[Expression], bool] = lambda _: True) -> Iterator[Expression]:
    """Every expression, parents first, in the order of the text; not below those that `into` refuses."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        if into(node):
            stack.extend(reversed(node.children))


def plans_inside(node: Plan) -> list[Plan]:
    """The plans that belong to a node without being its inputs: of its subqueries, and of statements beside it."""
    return [*(s.plan for e in node.expressions for s in subqueries_of(e)), *node.beside]


def subqueries_of(root: Expression) -> Iterator[Subquery]:
    """The subqueries standing in the expression, not those inside their plans."""
    return (node for node in walk(root) if isinstance(node, Subquery))


def references(root: Expression, *, into: Callable[[Expression], bool] = lambda _: True) -> Iterator[ColumnReference]:
    """The columns that the expression reads, the outer references of its subqueries included."""
    for node in walk(root, into=into):
        if isinstance(node, ColumnReference):
            yield node
        elif isinstance(node, Subquery) and into(node):
            yield from free_references(node.plan)


def free_references(plan: Plan) -> list[ColumnReference]:
    """The columns that the plan reads of the query around it."""
    made: set[int] = set()
    outer: list[ColumnReference] = []
    for node in post_order(plan):
        made |= _made_by(node)
        for expression in node.expressions:
            outer.extend(r for r in walk(expression) if isinstance(r, ColumnReference) and r.outer)
    return [r for r in outer if r.id not in made]


def _made_by(node: Plan) -> set[int]:
    """The columns that a node adds to those of its inputs. One that it only passes in from the query around is none."""
    passed_in: set[int] = set()
    for one in node.expressions:
        if isinstance(one, Alias) and isinstance(one.expression, ColumnReference) and one.expression.outer:
            passed_in |= {one.attribute.id} & {one.expression.id}
    below = {attribute.id for child in node.children for attribute in child.output}
    return {attribute.id for attribute in node.output} - passed_in - below


def signature(root: Expression) -> str:
    """A text equal for two expressions exactly when they say the same; subqueries are the same only with themselves."""
    return fold_expression(root, _signature)


def _signature(node: Expression, parts: tuple[str, ...]) -> str:
    inner = ",".join(parts)
    match node:
        case ColumnReference():
            return f"#{node.id}" + "".join(f".{step.lower()}" for step in node.path)
        case Literal():
            return f"{type(node.value).__name__}:{node.value!r}"
        case Alias():
            return inner
        case Cast():
            return f"cast({inner} as {node.to})"
        case Arithmetic() | BooleanExpr():
            return f"{node.operator}({inner})"
        case Comparison():
            return f"({inner}){node.operator}"
        case Conditional():
            return f"case{len(node.branches)}({inner})"
        case Function():
            return f"{node.name}({inner})"
        case UDF():
            return f"udf:{node.name}({inner})"
        case AggregateCall():
            return f"{node.name}{'!' * node.distinct}{'?' * (node.filter is not None)}({inner})"
        case Subquery():
            return f"{node.kind}:{id(node.plan)}({inner})"
        case UnknownExpression():
            return f"unknown:{node.description}({inner})"


def rebuilt(node: Expression, parts: tuple[Expression, ...]) -> Expression:
    """The same expression over other children, given in the order of `children`."""
    match node:
        case ColumnReference() | Literal():
            return node
        case Alias():
            return Alias(node.attribute, parts[0])
        case Cast():
            return Cast(parts[0], node.to, node.source)
        case Arithmetic():
            return Arithmetic(node.operator, parts)
        case Comparison():
            return Comparison(node.operator, parts[0], parts[1])
        case BooleanExpr():
            return BooleanExpr(node.operator, parts)
        case Conditional():
            count = len(node.branches)
            branches = tuple((parts[2 * at], parts[2 * at + 1]) for at in range(count))
            return Conditional(branches, None if node.otherwise is None else parts[-1])
        case Function():
            return Function(node.name, parts, node.type)
        case UDF():
            return UDF(node.name, parts, node.is_aggregate)
        case AggregateCall():
            count = len(node.args)
            return AggregateCall(node.name, parts[:count], node.distinct, None if node.filter is None else parts[-1])
        case Subquery():
            return Subquery(node.kind, node.plan, parts)
        case UnknownExpression():
            return UnknownExpression(node.description, parts)


def replaced(root: Expression, instead: Callable[[Expression], Expression | None]) -> Expression:
    """The expression with the outermost parts that `instead` answers for replaced by its answers."""
    answers: dict[int, Expression] = {}
    for node in walk(root, into=lambda one: id(one) not in answers):
        other = instead(node)
        if other is not None:
            answers[id(node)] = other
    made: dict[int, Expression] = {}
    stack: list[tuple[Expression, bool]] = [(root, False)]
    while stack:
        node, is_ready = stack.pop()
        if id(node) in made:
            continue
        if id(node) in answers:
            made[id(node)] = answers[id(node)]
        elif is_ready:
            made[id(node)] = rebuilt(node, tuple(made[id(child)] for child in node.children))
        else:
            stack.append((node, True))
            stack.extend((child, False) for child in node.children)
    return made[id(root)]
