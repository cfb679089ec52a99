"""MERGE, UPDATE and DELETE, and tags in the output."""

from __future__ import annotations

from typing import Any

import pytest

from invaract_orchestration.candidate.plan.sql import translate_sql
from invaract_orchestration.checks.plan_shape import PlanFinding, judge_plan_rule
from tests.plan.cases import RULES
from tests.plan.row_level_cases import OF_DIALECTS, ONLY_AMOUNT, ROW_LEVEL, SCHEMAS


def judged(rule: dict[str, Any], sql: str, dialect: str = "spark") -> PlanFinding:
    return judge_plan_rule(RULES.validate_python(rule), translate_sql(sql, SCHEMAS, dialect=dialect).plan)


@pytest.mark.parametrize(("rule", "sql", "outcome"), ROW_LEVEL)
def test_row_level_statement_has_its_outcome(rule: dict[str, Any], sql: str, outcome: str) -> None:
    assert judged(rule, sql).outcome == outcome


@pytest.mark.parametrize(("dialect", "rule", "sql", "outcome"), OF_DIALECTS)
def test_statement_of_a_dialect_has_its_outcome(dialect: str, rule: dict[str, Any], sql: str, outcome: str) -> None:
    assert judged(rule, sql, dialect).outcome == outcome


def test_update_finding_names_the_column_and_the_line() -> None:
    finding = judged(ONLY_AMOUNT, "UPDATE\n gold.orders SET day = current_date()")
    assert finding.reason == "the statement updates 'day'; allowed 'amount'"
    assert finding.line == 2


@pytest.mark.parametrize(
    ("sql", "outcome"),
    [
        ("SELECT order_id, upper(email) AS e FROM batch", "broken"),
        ("SELECT order_id FROM batch WHERE email = 'x'", "kept"),
        ("SHOW TABLES", "unverifiable"),
    ],
)
def test_tag_in_the_output_is_judged(sql: str, outcome: str) -> None:
    rule = RULES.validate_python({"type": "forbid_tag_in_output", "tags": ["PII"]})
    finding = judge_plan_rule(rule, translate_sql(sql, SCHEMAS).plan, tags={"batch.email": ["pii"]})
    assert finding.outcome == outcome


def test_custom_rule_that_is_not_installed_is_unverifiable() -> None:
    finding = judged({"type": "custom", "rule": "no_such_rule"}, "SELECT order_id FROM batch")
    assert finding.outcome == "unverifiable"
    assert finding.reason == "the plan rule 'no_such_rule' is not installed"
