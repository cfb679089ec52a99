"""Queries of other dialects, judged as their own engine reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from invaract_orchestration.candidate.plan.sql import translate_sql
from invaract_orchestration.checks.plan_shape import judge_plan_rule
from tests.plan.cases import RULES, CaseFile

CASES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "dialect_cases.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[f"{one['dialect']}-{n}" for n, one in enumerate(CASES)])
def test_query_of_a_dialect_has_its_outcome(case: dict[str, Any], plan_cases: CaseFile) -> None:
    plan = translate_sql(case["sql"], plan_cases.schemas, dialect=case["dialect"]).plan
    assert judge_plan_rule(RULES.validate_python(case["rule"]), plan).outcome == case["expect"]
