"""What a predicate asserts when it holds: its conjuncts in negation-free form, and the equalities that they guarantee.

Only the truth of a predicate matters to a filter or a join, so null and false are one here. Negations are pushed down
to the comparisons (De Morgan), where three-valued logic allows it, and constants are folded.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from decimal import Decimal as Number
from typing import Any, NamedTuple

from invaract_orchestration.candidate.plan.expressions import (
    Arithmetic,
    BooleanExpr,
    Cast,
    Comparison,
    ComparisonOperator,
    Conditional,
    Expression,
    Function,
    Literal,
    Value,
)
from invaract_orchestration.candidate.plan.traverse import fold_expression, signature
from invaract_orchestration.contract.field_types import BIGINT, BOOLEAN, DATE, DOUBLE, TIMESTAMP, Decimal, FieldType

TRUE = Literal(True)
FALSE = Literal(False)

_NEGATED: dict[ComparisonOperator, ComparisonOperator] = {
    "=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">",
}  # fmt: skip
_NULL_TESTS = {"isnull": "isnotnull", "isnotnull": "isnull"}
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<=>": operator.eq, "!=": operator.ne,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_FIRST_VALUES = frozenset({"coalesce", "nvl", "ifnull", "if_null"})
_TRUTHS = dict.fromkeys(("true", "t", "yes", "y", "1"), True) | dict.fromkeys(("false", "f", "no", "n", "0"), False)
_EXACT = 2**53  # from here on a double does not hold every whole number
_MOMENTS = {DATE: re.compile(r"\d{4}-\d\d-\d\d"), TIMESTAMP: re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")}
_CALCULATE: dict[str, Callable[[Number, Number], Number]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
}  # fmt: skip


class Equality(NamedTuple):
    """Two operands that are equal, or both null, on every row that the predicate lets through."""

    left: Expression
    right: Expression


class _Forms(NamedTuple):
    """An expression when it is asserted, when its negation is, and its value where it is constant."""

    holds: Expression
    fails: Expression
    constant: tuple[Value, ...]


def conjuncts(condition: Expression) -> tuple[Expression, ...]:
    """The parts that all hold wherever the condition holds; none: it is always true."""
    held = fold_expression(condition, _forms).holds
    if isinstance(held, BooleanExpr) and held.operator == "AND":
        return held.operands
    if held is FALSE and len(parts := written_parts(condition)) > 1:  # what stands beside a part that never holds is asserted too
        return tuple(one for part in parts for one in conjuncts(part))
    return () if held is TRUE else (held,)


def written_parts(condition: Expression) -> tuple[Expression, ...]:
    """The operands of the ANDs that a condition is made of, as they are written."""
    stack, parts = [condition], []
    while stack:
        one = stack.pop()
        if isinstance(one, BooleanExpr) and one.operator == "AND":
            stack.extend(reversed(one.operands))
        else:
            parts.append(one)
    return tuple(parts)


def guaranteed_equalities(parts: tuple[Expression, ...]) -> list[Equality]:
    """The equalities among the conjuncts; an OR guarantees none, unless it spells out a null-safe equality."""
    found = []
    for part in parts:
        match part:
            case Comparison("=" | "<=>", left, right):
                found.append(Equality(left, right))
            case BooleanExpr("OR", (one, other)):
                spelled = _null_safe(one, other) or _null_safe(other, one)
                if spelled is not None:
                    found.append(spelled)
    return found


def excludes_nothing(part: Expression) -> bool:
    """Whether a conjunct is true of every value: `x = x`, `x >= x`, `x IS NULL OR x IS NOT NULL`."""
    match part:
        case Comparison("=" | "<=>" | "<=" | ">=", left, right):
            return signature(left) == signature(right)
        case Function("like" | "ilike", (_, Literal("%"))):
            return True
        case BooleanExpr("OR", arms):
            said = {signature(arm) for arm in arms}
            return any(excludes_nothing(a) or signature(fold_expression(a, _forms).fails) in said for a in arms)
    return False


def _null_safe(equal: Expression, both_null: Expression) -> Equality | None:
    match equal, both_null:
        case Comparison("=", left, right), BooleanExpr("AND", (Function("isnull", (one,)), Function("isnull", (other,)))):
            if {signature(left), signature(right)} == {signature(one), signature(other)}:
                return Equality(left, right)
    return None


def _forms(node: Expression, parts: tuple[_Forms, ...]) -> _Forms:
    match node:
        case BooleanExpr("NOT"):
            return _connected(parts[0].fails, parts[0].holds)
        case BooleanExpr("AND"):
            return _connected(_all([p.holds for p in parts]), _any([p.fails for p in parts]))
        case BooleanExpr("OR"):
            return _connected(_any([p.holds for p in parts]), _all([p.fails for p in parts]))
    constant = _constant(node, parts)
    if constant:
        truth = _truth(constant[0])
        return _Forms(TRUE if truth is True else FALSE, TRUE if truth is False else FALSE, constant)
    match node:
        case Comparison():
            return _comparison(node, parts)
        case Function("isnull" | "isnotnull", args):
            return _Forms(node, Function(_NULL_TESTS[node.name], args), ())
    return _Forms(node, BooleanExpr("NOT", (node,)), ())


def _connected(holds: Expression, fails: Expression) -> _Forms:
    """Both forms, and the value where one of them always holds or neither ever does."""
    constant: tuple[Value, ...] = (True,) if holds is TRUE else (False,) if fails is TRUE else ()
    return _Forms(holds, fails, (None,) if holds is FALSE and fails is FALSE else constant)


def _comparison(node: Comparison, parts: tuple[_Forms, ...]) -> _Forms:
    for (operand, forms), other in zip(
        ((node.left, parts[0]), (node.right, parts[1])), (parts[1].constant, parts[0].constant), strict=True
    ):
        if _is_predicate(operand) and other and isinstance(other[0], bool):
            is_kept = other[0] is (node.operator in ("=", "<=>"))
            if node.operator in ("=", "!="):
                return forms._replace(constant=()) if is_kept else _Forms(forms.fails, forms.holds, ())
            if node.operator == "<=>":
                return _Forms(forms.holds if is_kept else forms.fails, BooleanExpr("NOT", (node,)), ())
    if node.operator == "<=>":
        return _Forms(node, BooleanExpr("NOT", (node,)), ())
    return _Forms(node, Comparison(_NEGATED[node.operator], node.left, node.right), ())


def _is_predicate(node: Expression) -> bool:
    return isinstance(node, BooleanExpr | Comparison) or (isinstance(node, Function) and node.name in _NULL_TESTS)


def _all(operands: list[Expression]) -> Expression:
    """The conjunction, flat, without what is true anyway."""
    flat = [part for one in operands for part in _operands(one, "AND") if part is not TRUE]
    if FALSE in flat:
        return FALSE
    return BooleanExpr("AND", tuple(flat)) if len(flat) > 1 else flat[0] if flat else TRUE


def _any(operands: list[Expression]) -> Expression:
    """The disjunction, flat, without the arms that never hold."""
    flat = [part for one in operands for part in _operands(one, "OR") if part is not FALSE]
    if TRUE in flat:
        return TRUE
    return BooleanExpr("OR", tuple(flat)) if len(flat) > 1 else flat[0] if flat else FALSE


def _operands(node: Expression, word: str) -> tuple[Expression, ...]:
    return node.operands if isinstance(node, BooleanExpr) and node.operator == word else (node,)


def _constant(node: Expression, parts: tuple[_Forms, ...]) -> tuple[Value, ...]:
    """The node's value as a tuple of one, or an empty one where it is not known before the run."""
    values = [part.constant[0] for part in parts if part.constant]
    is_known = len(values) == len(parts)
    match node:
        case Literal():
            return (node.value,)
        case Comparison() | Arithmetic() if None in values and node.operator != "<=>":
            return (None,)
        case Comparison() if is_known:
            return _compared(node.operator, values[0], values[1])
        case Arithmetic() if is_known:
            return _calculated(node.operator, values)
        case Cast() if is_known:
            return _converted(node, values[0])
        case Function("isnull" | "isnotnull") if is_known:
            return ((values[0] is None) is (node.name == "isnull"),)
        case Function(name) if name in _FIRST_VALUES:
            return _first([part.constant for part in parts])
        case Conditional():
            return _chosen(node, [part.constant for part in parts])
    return ()


def _truth(value: Value) -> bool | None:
    """What a constant is as a condition: some engines take a number or a text there."""
    if isinstance(value, str):
        return _TRUTHS.get(value.strip().lower())
    return None if value is None else bool(value)


def _first(values: list[tuple[Value, ...]]) -> tuple[Value, ...]:
    """The first value that is not null, where all before it are known."""
    for one in values:
        if not one or one[0] is not None:
            return one
    return (None,)


def _chosen(node: Conditional, values: list[tuple[Value, ...]]) -> tuple[Value, ...]:
    """The value of the branch that is taken, where the conditions up to it are known."""
    for at in range(len(node.branches)):
        test, value = values[2 * at], values[2 * at + 1]
        if not test:
            return ()
        if _truth(test[0]) is True:
            return value
    return (None,) if node.otherwise is None else values[-1]


def _compared(word: str, left: Value, right: Value) -> tuple[Value, ...]:
    if left is None or right is None:
        return (left is right,)
    if isinstance(left, str) is not isinstance(right, str) or isinstance(left, bool) is not isinstance(right, bool):
        return ()
    return (_COMPARE[word](left, right),)


def _calculated(word: str, values: list[Value]) -> tuple[Value, ...]:
    if not all(isinstance(value, int | float | Number) and not isinstance(value, bool) for value in values):
        return ()
    numbers = [Number(str(value)) for value in values]
    if len(numbers) == 1:
        return (-numbers[0] if word == "-" else numbers[0],) if word in "+-" else ()
    if word not in _CALCULATE:
        return ()
    try:
        return (_CALCULATE[word](numbers[0], numbers[1]),)
    except ArithmeticError:
        return ()


def _converted(node: Cast, value: Value) -> tuple[Value, ...]:
    """A date or time of day that is written in full, a number that its new type holds, or a truth."""
    if value is None:
        return (None,)
    if node.to == BOOLEAN:
        truth = _truth(value)
        return () if truth is None else (truth,)
    if isinstance(value, str):
        is_moment = node.to in _MOMENTS and _MOMENTS[node.to].fullmatch(value) is not None
        return (f"{node.to} {value}",) if is_moment else ()
    return (value,) if not isinstance(value, bool) and _holds(node.to, Number(str(value))) else ()


def _holds(type_: FieldType | None, number: Number) -> bool:
    if isinstance(type_, Decimal):
        largest = Number(10) ** (type_.precision - type_.scale)
        return number == round(number, type_.scale) and abs(number) < largest
    return type_ in (BIGINT, DOUBLE) and number == number.to_integral_value() and abs(number) < _EXACT
