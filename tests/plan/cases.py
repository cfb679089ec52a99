"""Reads a file of plan cases."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter

from invaract_orchestration.candidate.plan.lineage import output_lineage
from invaract_orchestration.candidate.plan.nodes import Plan
from invaract_orchestration.candidate.plan.render import render_plan
from invaract_orchestration.candidate.plan.sensitivity import output_tags
from invaract_orchestration.checks.plan_shape import PlanFinding, judge_plan_rule
from invaract_orchestration.contract.field_types import Struct, parse_type
from invaract_orchestration.contract.plan_rules import PlanRule

RULES: TypeAdapter[PlanRule] = TypeAdapter(PlanRule)
EVERY_FRONT_END = ("sql", "spark", "spark_connect")


@dataclass(frozen=True)
class Case:
    """One entry: its text or its block of code, and what is expected of it."""

    id: str
    entry: dict[str, Any]

    @property
    def sql(self) -> str | None:
        return self.entry.get("sql")

    @property
    def dataframe(self) -> str | None:
        return self.entry.get("dataframe")

    @property
    def front_ends(self) -> tuple[str, ...]:
        return tuple(self.entry.get("front_ends", EVERY_FRONT_END))


@dataclass(frozen=True)
class CaseFile:
    content: dict[str, Any]

    @property
    def columns(self) -> dict[str, dict[str, str]]:
        return self.content["tables"]

    @property
    def schemas(self) -> dict[str, Struct]:
        return {
            table: Struct(tuple((name, parse_type(text)) for name, text in columns.items()))
            for table, columns in self.columns.items()
        }

    @property
    def functions(self) -> dict[str, dict[str, Any]]:
        return self.content.get("functions") or {}

    def of(self, kind: str) -> list[Case]:
        entries = self.content.get("cases" if kind == "rule" else kind) or []
        return [Case(entry["id"], entry) for entry in entries]


def load_cases(first: Path, *more: Path) -> CaseFile:
    """The cases of all files, over the tables and functions of the first."""
    content = yaml.safe_load(first.read_text(encoding="utf-8"))
    for path in more:
        added = yaml.safe_load(path.read_text(encoding="utf-8"))
        for kind in ("cases", "lineage", "sensitivity", "render", "literal"):
            content[kind] = [*(content.get(kind) or []), *(added.get(kind) or [])]
    return CaseFile(content)


def judge(case: Case, plan: Plan) -> PlanFinding:
    return judge_plan_rule(RULES.validate_python(case.entry["rule"]), plan)


def assert_finding(case: Case, finding: PlanFinding) -> None:
    assert finding.outcome == case.entry["expect"], (finding, case.entry.get("why"))
    assert finding.notes or not case.entry.get("note"), finding
    assert finding.reason
    assert (finding.hint is None) is (finding.outcome == "kept")


def assert_no_literal(case: Case, plan: Plan) -> None:
    """A literal can be a cell value: those of the case are LEAKA, LEAKB, 424242 and two dates."""
    judged = judge_plan_rule(RULES.validate_python({"type": "required_filter_columns", "columns": ["nothing"]}), plan)
    shown = render_plan(plan) + str(judged) + " ".join(output_lineage(plan))
    assert not [one for one in ("LEAK", "leak", "424242", "2020-02-03", "2021-02-03") if one in shown], (case.id, shown)


def assert_lineage(case: Case, plan: Plan) -> None:
    found = {
        name.lower(): ({str(s).lower() for s in one.sources}, one.derivation, set(one.aggregations))
        for name, one in output_lineage(plan).items()
    }
    assert found == {
        name.lower(): ({s.lower() for s in one["sources"]}, one["derivation"], set(one["aggregations"]))
        for name, one in case.entry["columns"].items()
    }


def assert_tags(case: Case, plan: Plan) -> None:
    found = {name.lower(): set(tags) for name, tags in output_tags(plan, case.entry["tags"]).items()}
    assert found == {name.lower(): set(tags) for name, tags in case.entry["expect"].items()}


def tag_rules(case: Case) -> list[tuple[dict[str, Any], str]]:
    """A rule that forbids each tag of a sensitivity case in turn, with its outcome by the tags that the output carries."""
    labels = sorted({label for tags in case.entry["tags"].values() for label in tags})
    carried = {label for tags in case.entry["expect"].values() for label in tags}
    return [
        ({"type": "forbid_tag_in_output", "tags": [label.upper()]}, "broken" if label in carried else "kept") for label in labels
    ]
