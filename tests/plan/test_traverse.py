"""The fold, the nodes' own truth, and that every node and expression is handled everywhere."""

from __future__ import annotations

import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invaract_orchestration.candidate.plan import expressions, nodes, row_changes
from invaract_orchestration.candidate.plan.expressions import (
    Alias,
    Attribute,
    BooleanExpr,
    ColumnReference,
    Literal,
    passed,
    reference,
)
from invaract_orchestration.candidate.plan.lineage import output_lineage
from invaract_orchestration.candidate.plan.nodes import Aggregate, Filter, Join, Plan, Project, Read, Union
from invaract_orchestration.candidate.plan.render import render_expression, render_plan
from invaract_orchestration.candidate.plan.sql import translate_sql
from invaract_orchestration.candidate.plan.traverse import fold, free_references, post_order, rebuilt, replaced, signature

A, B = Attribute(1, "a"), Attribute(2, "b")
READ = Read(dataset="t", columns=(A,))
OTHER = Read(dataset="u", columns=(B,))

EVERY_PLAN: list[Plan] = [
    READ,
    row_changes.Write(child=READ, target="out"),
    Project(child=READ, items=(passed(A),)),
    Filter(child=READ, condition=Literal(True)),
    Join(left=READ, right=OTHER, kind="inner"),
    Aggregate(child=READ, keys=(reference(A),), items=(passed(A),), grouping_sets=((0,), ())),
    Union(branches=(READ, OTHER), columns=(Attribute(3, "c"),)),
    nodes.SetOperation(operator="EXCEPT", left=READ, right=OTHER, columns=(Attribute(3, "c"),)),
    nodes.Distinct(child=READ, columns=(reference(A),)),
    nodes.Sort(child=READ, keys=(reference(A),)),
    nodes.Limit(child=READ, count=3),
    nodes.Sample(child=READ),
    nodes.Window(child=READ, items=(Alias(B, expressions.Function("rank")),), partition_by=(reference(A),)),
    nodes.Generate(child=READ, generator=expressions.Function("explode", (reference(A),)), columns=(B,)),
    nodes.UnknownPlan(description="step", source_type="test", inputs=(READ,), columns=(B,)),
    row_changes.Merge(
        target=READ,
        source=OTHER,
        condition=Literal(True),
        actions=(row_changes.MergeAction(when="matched", action="delete"),),
    ),
    row_changes.Update(child=READ, condition=None, assignments=((("a",), Literal(1)),)),
    row_changes.Delete(child=READ, condition=Literal(True)),
    row_changes.Script(child=READ, others=(row_changes.Delete(child=OTHER, condition=None),)),
]
EVERY_EXPRESSION: list[expressions.Expression] = [
    reference(A),
    Literal(1),
    passed(A),
    expressions.Cast(reference(A), None),
    expressions.Arithmetic("+", (reference(A), Literal(1))),
    expressions.Comparison("=", reference(A), Literal(1)),
    BooleanExpr("NOT", (Literal(True),)),
    expressions.Conditional(((Literal(True), reference(A)),), Literal(2)),
    expressions.Function("upper", (reference(A),)),
    expressions.UDF("own", (reference(A),)),
    expressions.AggregateCall("SUM", (reference(A),), filter=Literal(True)),
    expressions.Subquery("in", OTHER, (reference(A),)),
    expressions.UnknownExpression("odd", (reference(A),)),
]


def test_every_kind_of_plan_stands_in_the_list() -> None:
    assert {type(one) for one in EVERY_PLAN} == set(typing.get_args(Plan))


def test_every_kind_of_expression_stands_in_the_list() -> None:
    assert {type(one) for one in EVERY_EXPRESSION} == set(typing.get_args(expressions.Expression))


@pytest.mark.parametrize("plan", EVERY_PLAN, ids=lambda plan: type(plan).__name__)
def test_plan_of_every_kind_has_lineage_and_a_text(plan: Plan) -> None:
    assert list(output_lineage(plan)) == list(dict.fromkeys(a.name for a in plan.output))
    assert render_plan(plan).endswith("\n")


@pytest.mark.parametrize("expression", EVERY_EXPRESSION, ids=lambda one: type(one).__name__)
def test_expression_of_every_kind_is_rendered_and_rebuilt_the_same(expression: expressions.Expression) -> None:
    again = rebuilt(expression, expression.children)
    assert signature(again) == signature(expression)
    assert render_expression(again) == render_expression(expression)


def test_statement_over_a_file_is_rendered_as_one_tree() -> None:
    text = "INSERT INTO gold.customer_orders SELECT id, SUM(value) AS lifetime_value FROM csv.`file:/data/sample.csv` GROUP BY id"
    plan = translate_sql(text, {}).plan
    assert render_plan(plan) == (
        "Write(gold.customer_orders)\n"
        "└─ Aggregate\n"
        "   ├─ Read(file:/data/sample.csv)\n"
        "   ├─ GROUP BY id\n"
        "   ├─ id = id\n"
        "   └─ lifetime_value = SUM(value)\n"
    )
    assert str(output_lineage(plan)["lifetime_value"]) == "{sample.csv.value} Computed {SUM}"


def test_script_shows_its_other_statements() -> None:
    plan = translate_sql("DELETE FROM t WHERE a = 1; INSERT INTO t SELECT a FROM u", {}).plan
    assert render_plan(plan) == ("Script\n├─ Write(t)\n│  └─ Read(u)\n└─ Delete\n   ├─ Read(t)\n   └─ WHERE a = ?\n")


def test_literal_is_not_shown_unless_allowed() -> None:
    plan = Filter(child=READ, condition=expressions.Comparison("=", reference(A), Literal("secret")))
    assert "secret" not in render_plan(plan)
    assert "a = 'secret'" in render_plan(plan, literals=True)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=30))
def test_shared_nodes_are_visited_once_children_first(choices: list[int]) -> None:
    made: list[Plan] = [READ]
    for at in choices:
        child = made[at % len(made)]
        made.append(Union(branches=(child, made[-1]), columns=child.output))
    order = list(post_order(made[-1]))
    assert len({id(node) for node in order}) == len(order)
    places = {id(node): at for at, node in enumerate(order)}
    assert all(places[id(child)] < places[id(node)] for node in order for child in node.children)
    assert fold(made[-1], lambda node, of: 1 + max((of(c) for c in node.children), default=0)) >= 2


def test_replaced_takes_the_outermost_match() -> None:
    inner = expressions.Arithmetic("+", (reference(A), Literal(1)))
    whole = expressions.Function("f", (inner, reference(A)))
    made = replaced(whole, lambda node: Literal(0) if node is inner or node is whole.children[1] else None)
    assert render_expression(made, literals=True) == "f(0, 0)"


def test_join_of_inputs_that_share_a_column_is_refused() -> None:
    with pytest.raises(ValueError, match="share a column id"):
        Join(left=READ, right=READ, kind="inner")


def test_grouping_set_of_a_missing_key_is_refused() -> None:
    with pytest.raises(ValueError, match="not there"):
        Aggregate(child=READ, keys=(), items=(), grouping_sets=((0,),))


def test_union_of_unlike_branches_is_refused() -> None:
    with pytest.raises(ValueError, match="one width"):
        Union(branches=(READ, Join(left=READ, right=OTHER, kind="inner")), columns=(A,))


def test_column_that_a_subquery_only_passes_in_is_read_of_the_query_around() -> None:
    around = ColumnReference(7, "c", outer=True)
    row = Read(dataset="(one row)", columns=(), inline=True, rows=1)
    inner = Project(child=row, items=(Alias(Attribute(7, "c"), around),))
    assert free_references(inner) == [around]
    assert free_references(Filter(child=inner, condition=ColumnReference(7, "c"))) == [around]
