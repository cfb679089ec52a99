"""A result as text, JSON and JUnit: stable, readable, and safe to print."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import fields, replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from invaract_orchestration.audit.junit import junit_failure, junit_report
from invaract_orchestration.audit.records import Counts, PublicationRecord
from invaract_orchestration.audit.report import counts_text, headline, json_report, result_document, text_report
from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.checks.result import CheckResult

AT = datetime(2026, 11, 30, 1, 2, 3, tzinfo=UTC)
KEPT = CheckResult(check="id|required", stage="rows", outcome="kept", expected="no null", found="none", evidence="scan", rows=9)
BROKEN = CheckResult(
    check="amount|min", stage="rows", outcome="broken", expected="0 or more", found="2 rows of 9 failed", evidence="scan",
    rows=9, failed=2, hint="ask the owner",
)  # fmt: skip
UNKNOWN = CheckResult(
    check="plan", stage="plan", outcome="unverifiable", expected="a plan", found="no plan", evidence="none"
)
RESULT = GateResult(
    state="rejected", contract="orders", version="1.0.0", target="/lake/orders", submission_id="s-1", attempt_id="a-0123456789",
    is_check=False, environment=None, parameters={"day": "d1"}, checks=(KEPT, BROKEN), counts=Counts(read=9, good=7, failing=2),
    code="amount|min", message="1 blocking check not kept: amount|min", started_at=AT, finished_at=AT,
)  # fmt: skip
PUBLICATION = PublicationRecord(
    submission_id="s-1", attempt_id="a-0", target="/lake/orders", table_version=4, mode="append", method="promoted",
    committed_at=AT,
)  # fmt: skip


def test_text_of_a_rejection_reads_as_written() -> None:
    assert text_report(RESULT) == (
        "REJECTED  orders 1.0.0, day=d1\n"
        "    1 blocking check not kept: amount|min\n"
        "\n"
        "  broken        amount|min\n"
        "    expected    0 or more\n"
        "    found       2 rows of 9 failed [scan]\n"
        "    Hint: ask the owner\n"
        "\n"
        "    checks      1 kept, 1 broken\n"
        "    rows        9 read, 7 good, 2 failing\n"
        "    target      /lake/orders\n"
        "    published   nothing\n"
        "    submission  s-1\n"
        "    attempt     a-0123456789  (invaract show a-01234567)\n"
    )


def test_headline_says_each_way_to_end() -> None:
    published = replace(RESULT, state="published", publication=PUBLICATION, checks=(KEPT,), counts=Counts())
    assert [
        headline(published),
        headline(replace(published, is_recorded=False)),
        headline(replace(published, counts=Counts(quarantined=3))),
        headline(replace(RESULT, state="judged", is_check=True)),
        headline(replace(RESULT, state="no_op", code=None)),
        headline(replace(RESULT, state="no_op", code="adopted")),
    ] == ["PUBLISHED", "PUBLISHED, NOT RECORDED", "PUBLISHED, ROWS QUARANTINED", "WOULD PUBLISH", "NO OP", "ADOPTED"]


def test_text_of_an_unknown_outcome_does_not_say_that_nothing_was_published() -> None:
    assert "    published   not known yet\n" in text_report(replace(RESULT, state="unknown"))


def test_counts_leave_out_what_is_not_known_and_nothings() -> None:
    assert counts_text(Counts()) == "not read"
    assert counts_text(Counts(read=1000, good=0, quarantined=5, failing=5, updated=0)) == "1,000 read, 0 good, 5 quarantined"


def test_json_has_every_part_of_a_result() -> None:
    document = json.loads(json_report(RESULT))
    assert {f.name for f in fields(GateResult)} <= set(document)
    assert document["checks"][1] == {
        "check": "amount|min", "stage": "rows", "outcome": "broken", "severity": "error", "expected": "0 or more",
        "found": "2 rows of 9 failed", "evidence": "scan", "hint": "ask the owner", "place": None, "origin": "contract",
        "rows": 9, "failed": 2, "undecided": 0, "nulls": None, "is_set_aside": False, "passed": 7, "is_blocking": True,
        **{name: document["checks"][1][name] for name in document["checks"][1] if name.startswith("waive")},
    }  # fmt: skip
    assert document["started_at"] == "2026-11-30T01:02:03+00:00"


def test_junit_tells_failures_errors_and_warnings_apart() -> None:
    warning = replace(BROKEN, check="amount|max", severity="warn")
    suite = ET.fromstring(junit_report(replace(RESULT, checks=(KEPT, BROKEN, UNKNOWN, warning))))[0]
    found = {case.get("name"): [part.tag for part in case] for case in suite.iter("testcase")}
    assert found == {"id|required": [], "amount|min": ["failure"], "plan": ["error"], "amount|max": ["system-out"]}
    assert [suite.get(name) for name in ("tests", "failures", "errors")] == ["4", "1", "1"]


def test_junit_of_a_gate_that_could_not_judge_is_an_error() -> None:
    suite = ET.fromstring(junit_report(replace(RESULT, state="failed", checks=(), code="input.missing", message="no file")))[0]
    assert [(c.get("name"), c[0].tag, c[0].get("type")) for c in suite.iter("testcase")] == [("gate", "error", "input.missing")]
    assert ET.fromstring(junit_failure("usage", "no\nHint: x"))[0].get("errors") == "1"


@given(st.text(max_size=40))
def test_any_name_is_printed_without_control_characters_and_is_valid_xml_and_json(name: str) -> None:
    result = replace(RESULT, checks=(replace(BROKEN, check=name, place=name, found=name, hint=name),), message=name)
    assert all(c.isprintable() or c == "\n" for c in text_report(result))
    ET.fromstring(junit_report(result))
    assert json.loads(json_report(result))["message"] == name
    assert result_document(result)["checks"][0]["check"] == name
