"""Rules of the user's own, from a package that is really installed: in a folder of its own on the path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from invaract_orchestration.candidate.plan.sql import translate_sql
from invaract_orchestration.checks.plan_shape import PlanFinding, judge_plan_rule
from invaract_orchestration.contract.field_types import INT, Struct
from tests.plan.cases import RULES

RULE_CODE = """
import sys

from invaract_orchestration.candidate.plan.nodes import Limit
from invaract_orchestration.candidate.plan.traverse import post_order
from invaract_orchestration.checks.plan_shape import PlanFinding, broken, kept, unverifiable


def no_limit(plan, most=0):
    for node in post_order(plan):
        if isinstance(node, Limit) and (node.count is None or node.count > most):
            yield broken("a LIMIT cuts rows off", hint="leave it out", at=node)


def unsure(plan):
    return [kept("one thing"), unverifiable("another cannot be seen")]


def content(plan):
    return [kept("all is well", notes=["a remark"])]


def failing(plan):
    yield kept("so far")
    raise RuntimeError("secret")


def leaving(plan):
    sys.exit(0)


def nothing(plan):
    return None


def text(plan):
    return ["kept"]


def own_word(plan):
    return [PlanFinding("fine", "a word of its own")]
"""
ENTRY_POINTS = "[invaract.plan_rules]\n" + "".join(
    f"{name} = example_rules:{name}\n"
    for name in ("no_limit", "unsure", "content", "failing", "leaving", "nothing", "text", "own_word", "missing")
)


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _install(tmp_path, "example_rules", RULE_CODE, ENTRY_POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))


def _install(folder: Path, package: str, code: str, entry_points: str) -> None:
    (folder / f"{package}.py").write_text(code, encoding="utf-8")
    told = folder / f"{package}-1.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8")
    (told / "entry_points.txt").write_text(entry_points, encoding="utf-8")


def judged(rule: str, sql: str = "SELECT a FROM t LIMIT 3", **options: Any) -> PlanFinding:
    schemas = {"t": Struct((("a", INT),))}
    entry = {"type": "custom", "rule": rule, "options": options}
    return judge_plan_rule(RULES.validate_python(entry), translate_sql(sql, schemas).plan)


def test_custom_rule_that_finds_an_offence_is_broken() -> None:
    finding = judged("no_limit")
    assert (finding.outcome, finding.reason, finding.hint) == ("broken", "a LIMIT cuts rows off", "leave it out")
    assert finding.node == "Limit(3)"


def test_custom_rule_that_finds_nothing_is_kept() -> None:
    assert judged("no_limit", "SELECT a FROM t").outcome == "kept"


def test_custom_rule_that_finds_nothing_in_a_plan_with_a_hidden_part_is_unverifiable() -> None:
    finding = judged("no_limit", "SHOW TABLES")
    assert finding.outcome == "unverifiable"
    assert finding.reason == "no_limit found nothing in sight, and a step hides what it is made of"
    assert judged("content", "SHOW TABLES").outcome == "kept"


def test_custom_rule_takes_its_options() -> None:
    assert judged("no_limit", most=3).outcome == "kept"
    assert judged("no_limit", most=2).outcome == "broken"


def test_custom_rule_ends_with_the_worst_of_its_findings() -> None:
    assert judged("unsure").outcome == "unverifiable"
    assert judged("content").notes == ("a remark",)


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("failing", "the plan rule 'failing' failed with RuntimeError"),
        ("leaving", "the plan rule 'leaving' failed with SystemExit"),
        ("nothing", "the plan rule 'nothing' failed with TypeError"),
        ("missing", "the plan rule 'missing' failed with AttributeError"),
        ("text", "the plan rule 'text' gave no PlanFinding"),
        ("own_word", "the plan rule 'own_word' gave no PlanFinding"),
        ("absent", "the plan rule 'absent' is not installed"),
    ],
)
def test_custom_rule_that_cannot_judge_is_unverifiable(rule: str, reason: str) -> None:
    finding = judged(rule)
    assert (finding.outcome, finding.reason) == ("unverifiable", reason)
    assert finding.hint is not None


def test_custom_rule_with_an_option_that_it_does_not_know_is_unverifiable() -> None:
    assert judged("content", surprise=1).outcome == "unverifiable"


def test_custom_rule_of_two_packages_is_unverifiable(tmp_path: Path) -> None:
    _install(
        tmp_path, "other_rules", "def content(plan):\n    return []\n", "[invaract.plan_rules]\ncontent = other_rules:content\n"
    )
    finding = judged("content")
    assert finding.outcome == "unverifiable"
    assert finding.reason == "the plan rule 'content' is named by several packages: example_rules:content, other_rules:content"
