"""A part that the translation cannot see into is never a silent pass, and never hides what is in plain sight."""

from __future__ import annotations

from typing import Any

import pytest

from invaract_orchestration.candidate.plan.nodes import Plan
from invaract_orchestration.checks.plan_shape import judge_plan_rule
from tests.plan.cases import RULES
from tests.plan.hidden_cases import HIDDEN


@pytest.mark.parametrize(("rule", "plan", "outcome"), HIDDEN, ids=range(len(HIDDEN)))
def test_plan_with_a_hidden_part_has_its_outcome(rule: dict[str, Any], plan: Plan, outcome: str) -> None:
    assert judge_plan_rule(RULES.validate_python(rule), plan, tags={"t.a": ["pii"]}).outcome == outcome
