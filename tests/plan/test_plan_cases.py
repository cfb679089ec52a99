"""Every case of the file, through the front end of SQL text."""

from __future__ import annotations

from invaract_orchestration.candidate.plan.diagnostics import Translation
from invaract_orchestration.candidate.plan.render import render_plan
from invaract_orchestration.candidate.plan.sql import translate_sql
from invaract_orchestration.checks.plan_shape import judge_plan_rule
from tests.plan.cases import (
    RULES,
    Case,
    CaseFile,
    assert_finding,
    assert_lineage,
    assert_no_literal,
    assert_tags,
    judge,
    tag_rules,
)

FRONT_END = "sql"


def translated(case: Case, plan_cases: CaseFile) -> Translation:
    assert case.sql is not None
    return translate_sql(case.sql, plan_cases.schemas, functions=frozenset(plan_cases.functions))


def test_rule_case_of_the_file_has_its_outcome(rule_case: Case, plan_cases: CaseFile) -> None:
    translation = translated(rule_case, plan_cases)
    assert translation.diagnostics == ()
    assert_finding(rule_case, judge(rule_case, translation.plan))


def test_lineage_case_of_the_file_has_its_sources(lineage_case: Case, plan_cases: CaseFile) -> None:
    assert_lineage(lineage_case, translated(lineage_case, plan_cases).plan)


def test_sensitivity_case_of_the_file_has_its_tags(sensitivity_case: Case, plan_cases: CaseFile) -> None:
    plan = translated(sensitivity_case, plan_cases).plan
    assert_tags(sensitivity_case, plan)
    for rule, outcome in tag_rules(sensitivity_case):
        finding = judge_plan_rule(RULES.validate_python(rule), plan, tags=sensitivity_case.entry["tags"])
        assert finding.outcome == outcome


def test_render_case_of_the_file_has_its_tree(render_case: Case, plan_cases: CaseFile) -> None:
    assert render_plan(translated(render_case, plan_cases).plan) == render_case.entry["tree"]


def test_literal_case_of_the_file_shows_no_literal(literal_case: Case, plan_cases: CaseFile) -> None:
    assert_no_literal(literal_case, translated(literal_case, plan_cases).plan)
