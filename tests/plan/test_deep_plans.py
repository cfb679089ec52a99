"""Plans from loops: nothing overflows, and seconds are enough (a wide bound, not a measurement)."""

from __future__ import annotations

import sys
import threading
import time

from invaract_orchestration.candidate.plan.expressions import Alias, Arithmetic, Attribute, Literal, passed, reference
from invaract_orchestration.candidate.plan.lineage import output_lineage
from invaract_orchestration.candidate.plan.nodes import Filter, Plan, Project, Read
from invaract_orchestration.candidate.plan.predicates import TRUE
from invaract_orchestration.candidate.plan.render import render_plan
from invaract_orchestration.candidate.plan.sql import translate_sql
from invaract_orchestration.candidate.plan.traverse import post_order
from invaract_orchestration.checks.plan_shape import judge_plan_rule
from invaract_orchestration.contract.field_types import INT, Struct
from tests.plan.cases import RULES

SCHEMAS = {"orders": Struct((("order_id", INT), ("qty", INT), ("is_deleted", INT)))}
EVERY_RULE = [
    {"type": "required_group_by", "columns": ["qty"]},
    {"type": "forbid_cross_join"},
    {"type": "required_join_columns", "columns": ["qty"], "scope": "final"},
    {"type": "required_filter_columns", "columns": ["qty"], "scope": "every_branch"},
]


def judged(plan: Plan) -> list[str]:
    return [judge_plan_rule(RULES.validate_python(rule), plan).outcome for rule in EVERY_RULE]


def test_plan_of_5000_nodes_is_judged_and_rendered() -> None:
    start = time.monotonic()
    orders = Read(dataset="orders", columns=(Attribute(0, "order_id"), Attribute(1, "qty")))
    plan: Plan = orders
    score = Attribute(1, "qty")
    for step in range(2_500):
        made = Attribute(step + 2, "score")
        added = Alias(made, Arithmetic("+", (reference(score), Literal(step))))
        plan = Project(child=plan, items=(*(passed(a) for a in orders.output), added))
        plan = Filter(child=plan, condition=TRUE)
        score = made
    assert len(list(post_order(plan))) == 5_001
    assert judged(plan) == ["broken", "kept", "broken", "broken"]
    assert str(output_lineage(plan)["score"]) == "{orders.qty} Computed"
    assert render_plan(plan).count("\n") > 5_000
    assert time.monotonic() - start < 60


def test_sql_of_2000_nested_projections_is_translated_and_judged() -> None:
    start, calls = time.monotonic(), sys.getrecursionlimit()
    sql = "SELECT order_id, qty FROM orders WHERE qty > 0"
    for step in range(2_000):
        sql = f"SELECT order_id, qty, qty + {step} AS score FROM ({sql}) t{step}"
    translation = translate_sql(sql, SCHEMAS)
    assert translation.diagnostics == ()
    assert judged(translation.plan) == ["broken", "kept", "broken", "kept"]
    assert sys.getrecursionlimit() == calls
    assert threading.stack_size() == 0
    assert time.monotonic() - start < 60


def test_sql_of_2000_common_table_expressions_is_translated() -> None:
    steps = ["s0 AS (SELECT order_id, qty FROM orders)"]
    steps += [f"s{n} AS (SELECT order_id, qty + {n} AS qty FROM s{n - 1})" for n in range(1, 2_000)]
    translation = translate_sql(f"WITH {', '.join(steps)} SELECT qty FROM s1999", SCHEMAS)
    assert translation.diagnostics == ()
    assert str(output_lineage(translation.plan)["qty"]) == "{orders.qty} Computed"


def test_common_table_expressions_that_double_are_not_copied() -> None:
    steps = ["s0 AS (SELECT order_id, qty FROM orders WHERE qty > 0)"]
    steps += [
        f"s{n} AS (SELECT a.order_id, b.qty FROM s{n - 1} a, s{n - 1} b WHERE a.order_id = b.order_id)" for n in range(1, 40)
    ]
    translation = translate_sql(f"WITH {', '.join(steps)} SELECT * FROM s39", SCHEMAS)
    assert len(list(post_order(translation.plan))) < 400
    assert judged(translation.plan) == ["broken", "kept", "broken", "kept"]


def test_condition_of_5000_terms_is_read() -> None:
    terms = " OR ".join(f"qty = {n}" for n in range(5_000))
    added = " + ".join(["qty"] * 5_000)
    translation = translate_sql(f"SELECT {added} AS total FROM orders WHERE {terms}", SCHEMAS)
    assert judged(translation.plan) == ["broken", "kept", "broken", "kept"]


def test_union_of_1000_branches_is_read() -> None:
    sql = " UNION ALL ".join(f"SELECT qty FROM orders WHERE qty > {n}" for n in range(1_000))
    translation = translate_sql(sql, SCHEMAS)
    assert judged(translation.plan) == ["broken", "kept", "broken", "kept"]


def test_text_of_a_plan_whose_parts_are_read_many_times_stays_short() -> None:
    steps = ["s0 AS (SELECT order_id, qty FROM orders)"]
    steps += [f"s{n} AS (SELECT a.order_id, b.qty FROM s{n - 1} a JOIN s{n - 1} b USING (order_id))" for n in range(1, 25)]
    text = render_plan(translate_sql(f"WITH {', '.join(steps)} SELECT * FROM s24", SCHEMAS).plan)
    assert text.count("\n") < 3_000
    assert text.count("(as above)") > 10
