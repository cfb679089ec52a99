"""What a predicate asserts, against its truth on rows: three-valued, with nulls."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invaract_orchestration.candidate.plan.expressions import (
    BooleanExpr,
    Cast,
    ColumnReference,
    Comparison,
    Expression,
    Function,
    Literal,
)
from invaract_orchestration.candidate.plan.predicates import (
    conjuncts,
    excludes_nothing,
    guaranteed_equalities,
)
from invaract_orchestration.candidate.plan.traverse import fold_expression
from invaract_orchestration.contract.field_types import BIGINT, DATE, Decimal

Row = dict[int, int | None]
A, B, C = (ColumnReference(n, name) for n, name in enumerate("abc"))

operands = st.sampled_from([A, B, C, Literal(1), Literal(2), Literal(None)])
comparisons = st.builds(Comparison, st.sampled_from(["=", "<=>", "!=", "<", "<=", ">", ">="]), operands, operands)
null_tests = st.builds(Function, st.sampled_from(["isnull", "isnotnull"]), st.tuples(operands))
predicates = st.recursive(
    st.one_of(comparisons, null_tests, st.sampled_from([Literal(True), Literal(False), Literal(None)])),
    lambda inner: st.one_of(
        st.builds(BooleanExpr, st.sampled_from(["AND", "OR"]), st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(BooleanExpr, st.just("NOT"), st.tuples(inner)),
        st.builds(Comparison, st.sampled_from(["=", "<=>", "!="]), inner, st.sampled_from([Literal(True), Literal(False)])),
    ),
    max_leaves=8,
)
rows = st.fixed_dictionaries({n: st.sampled_from([None, 1, 2]) for n in range(3)})


def compare(operator: str, left: object, right: object) -> object:
    if operator == "<=>":
        return left == right
    if left is None or right is None:
        return None
    outcome = {"=": left == right, "!=": left != right}
    if operator in outcome:
        return outcome[operator]
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[operator]  # type: ignore[operator]


def truth(condition: Expression, row: Row) -> object:
    def visit(node: Expression, parts: tuple[object, ...]) -> object:
        match node:
            case ColumnReference():
                return row[node.id]
            case Literal():
                return node.value
            case Comparison():
                return compare(node.operator, *parts)
            case Function("isnull"):
                return parts[0] is None
            case Function("isnotnull"):
                return parts[0] is not None
            case BooleanExpr("NOT"):
                return None if parts[0] is None else not parts[0]
            case BooleanExpr("AND"):
                return False if False in parts else None if None in parts else True
            case BooleanExpr("OR"):
                return True if True in parts else None if None in parts else False
        raise AssertionError(node)

    return fold_expression(condition, visit)


@settings(max_examples=600, deadline=None)
@given(condition=predicates, row=rows)
def test_conjuncts_hold_exactly_where_the_condition_holds(condition: Expression, row: Row) -> None:
    assert all(truth(part, row) is True for part in conjuncts(condition)) is (truth(condition, row) is True)


@settings(max_examples=600, deadline=None)
@given(condition=predicates, row=rows)
def test_guaranteed_equality_holds_wherever_the_condition_holds(condition: Expression, row: Row) -> None:
    if truth(condition, row) is True:
        for equality in guaranteed_equalities(conjuncts(condition)):
            assert truth(equality.left, row) == truth(equality.right, row)


@settings(max_examples=600, deadline=None)
@given(condition=predicates, row=st.fixed_dictionaries({n: st.sampled_from([1, 2]) for n in range(3)}))
def test_part_that_excludes_nothing_is_true_of_every_value(condition: Expression, row: Row) -> None:
    if all(excludes_nothing(part) for part in conjuncts(condition)):
        assert truth(condition, row) is True


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (Comparison("=", Literal(1), Literal(1)), True),
        (Comparison("=", Literal(1), Literal("1")), False),
        (Comparison(">", Cast(Literal(3), BIGINT), Literal(2)), True),
        (Comparison("=", Cast(Literal("2026-01-01"), DATE), Cast(Literal("2026-01-01"), DATE)), True),
        (Comparison("=", Cast(Literal(3), Decimal(2, 1)), Literal(3)), True),
        (Comparison("=", Cast(Literal(30), Decimal(2, 1)), Literal(30)), False),
        (Comparison("=", A, A), False),
        (Literal(None), False),
    ],
)
def test_condition_that_folds_to_true_is_always_true(condition: Expression, expected: bool) -> None:
    assert (not conjuncts(condition)) is expected


def test_null_safe_equality_spelled_out_is_guaranteed() -> None:
    both_null = BooleanExpr("AND", (Function("isnull", (B,)), Function("isnull", (A,))))
    found = guaranteed_equalities(conjuncts(BooleanExpr("OR", (both_null, Comparison("=", A, B)))))
    assert [(one.left, one.right) for one in found] == [(A, B)]


def test_null_safe_equality_of_other_columns_is_not_guaranteed() -> None:
    both_null = BooleanExpr("AND", (Function("isnull", (C,)), Function("isnull", (A,))))
    assert guaranteed_equalities(conjuncts(BooleanExpr("OR", (both_null, Comparison("=", A, B))))) == []


def test_negated_null_safe_equality_guarantees_nothing() -> None:
    condition = BooleanExpr("NOT", (Comparison("=", Comparison("<=>", A, B), Literal(True)),))
    assert guaranteed_equalities(conjuncts(condition)) == []
