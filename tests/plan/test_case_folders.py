"""Folders of cases: a setup that makes tables, a transformation, a contract's plan rules and the verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sqlglot
import yaml
from sqlglot import exp

from invaract_orchestration.candidate.plan.sql import translate_sql
from invaract_orchestration.checks.plan_shape import judge_plan_rule
from invaract_orchestration.contract.field_types import STRING, Struct
from tests.plan.cases import RULES

VERDICTS = {"kept": "PASS", "broken": "FAIL", "unverifiable": "ERROR"}


def accepted(expected: dict[str, Any]) -> set[str]:
    """The verdict, and those that the case also accepts where the choice is documented, as docs/plan-rules.md does."""
    return {expected["verdict"], *(text.split()[0] for text in expected.get("also_acceptable") or ())}


def schemas_of(setup: str) -> dict[str, Struct]:
    made = {}
    for statement in sqlglot.parse(setup, dialect="spark"):
        if isinstance(statement, exp.Create) and statement.expression is not None:
            plan = translate_sql(statement.expression.sql(dialect="spark"), {}).plan
            made[statement.this.name] = Struct(tuple((a.name, a.type or STRING) for a in plan.output))
    return made


def test_case_folder_with_a_transformation_in_sql_has_its_verdict(case_folder: Path) -> None:
    transform = case_folder / "transform.sql"
    if not transform.exists():
        pytest.skip(f"{case_folder.name} is not written in SQL")
    contract = yaml.safe_load((case_folder / "contract.yaml").read_text())
    expected = yaml.safe_load((case_folder / "expected.yaml").read_text())
    translation = translate_sql(transform.read_text(), schemas_of((case_folder / "setup.sql").read_text()))
    findings = {rule["type"]: judge_plan_rule(RULES.validate_python(rule), translation.plan) for rule in contract["plan_rules"]}
    broken = sorted(name for name, one in findings.items() if one.outcome != "kept")
    verdict = "PASS" if not broken else max(VERDICTS[findings[name].outcome] for name in broken)
    assert verdict in accepted(expected), findings
    if verdict == "FAIL":
        assert broken == [expected["rule"].removeprefix("plan.")]
