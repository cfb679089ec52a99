"""What every audit does, in memory, on SQLite and on PostgreSQL."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Protocol

import pytest

from invaract_orchestration.audit.log import AuditLog, AuditReader, WaiverLog
from invaract_orchestration.audit.records import Counts
from invaract_orchestration.errors import AuditError, ContractVersionReused
from invaract_orchestration.stores import open_store
from invaract_orchestration.testing.audit_records import (
    START,
    build_attempt,
    build_event,
    build_outcome,
    build_publication,
    build_result,
    build_submission,
    build_verdict,
    build_version,
    build_waiver,
    record_published,
    record_rejected,
)
from invaract_orchestration.testing.memory_audit import MemoryAudit
from tests.postgres_server import postgres_server, postgres_url  # noqa: F401


class Audit(AuditLog, AuditReader, WaiverLog, Protocol):
    """All ports of the audit."""


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def audit(request: pytest.FixtureRequest, tmp_path: Path):
    if request.param == "memory":
        yield MemoryAudit()
        return
    url = f"sqlite:///{tmp_path}/audit.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    with open_store(url) as store:
        yield store


def open_first(audit: Audit) -> None:
    audit.open_attempt(build_submission(), build_attempt(), build_event())


def test_open_attempt_new_reads_back_whole(audit: Audit) -> None:
    submission = build_submission(parameters={"month": "1", "year": "2013"})
    attempt = build_attempt(context={"dag_id": "load", "try_number": "2"}, environment=None)
    first = build_event(detail={"files": 3, "digest": "ab", "left": None})
    audit.open_attempt(submission, attempt, first)
    view = audit.attempt("att-1")
    assert view is not None
    assert (view.submission, view.attempt, view.events) == (submission, attempt, (first,))
    assert (view.state, view.verdict, view.outcome) == ("received", None, None)


def test_open_attempt_repeated_is_recorded_once(audit: Audit) -> None:
    open_first(audit)
    open_first(audit)
    view = audit.attempt("att-1")
    assert view is not None
    assert len(view.events) == 1


def test_open_attempt_second_try_belongs_to_same_submission(audit: Audit) -> None:
    open_first(audit)
    audit.open_attempt(build_submission(), build_attempt("att-2"), build_event("att-2"))
    views = audit.attempts(submission_id="sub-1")
    assert [view.attempt.attempt_id for view in views] == ["att-2", "att-1"]


def test_open_attempt_version_with_other_digest_is_refused(audit: Audit) -> None:
    open_first(audit)
    changed = build_attempt("att-2", contract_version=build_version(digest="d2"))
    with pytest.raises(ContractVersionReused, match=r"Version '1\.0\.0' of contract 'flights'"):
        audit.open_attempt(build_submission(), changed, build_event("att-2"))
    assert audit.attempt("att-2") is None


def test_open_attempt_files_touched_again_is_same_submission(audit: Audit) -> None:
    open_first(audit)
    files = tuple(replace(file, modified=START + timedelta(days=1)) for file in build_submission().files)
    audit.open_attempt(build_submission(files=files), build_attempt("att-2"), build_event("att-2"))
    view = audit.attempt("att-2")
    assert view is not None
    assert view.submission.files[0].modified == START


def test_open_attempt_same_submission_id_with_other_content_is_refused(audit: Audit) -> None:
    open_first(audit)
    with pytest.raises(AuditError, match="another content"):
        audit.open_attempt(build_submission(intake_digest="else"), build_attempt("att-2"), build_event("att-2"))


@pytest.mark.parametrize("changed", [{"host": "there"}, {"context": {"dag_id": "x"}}, {"kind": "check"}])
def test_open_attempt_same_attempt_id_with_other_content_is_refused(audit: Audit, changed: dict[str, object]) -> None:
    open_first(audit)
    with pytest.raises(AuditError, match="another content"):
        audit.open_attempt(build_submission(), build_attempt(**changed), build_event())


def test_open_attempt_ids_that_differ_is_refused(audit: Audit) -> None:
    with pytest.raises(AuditError, match="name different ids"):
        audit.open_attempt(build_submission("sub-2"), build_attempt(), build_event())
    assert audit.attempts() == []


def test_append_step_moves_state(audit: Audit) -> None:
    open_first(audit)
    audit.append(build_event(state="materialised"))
    view = audit.attempt("att-1")
    assert view is not None
    assert (view.state, [event.state for event in view.events]) == ("materialised", ["received", "materialised"])


def test_append_same_step_again_is_recorded_once(audit: Audit) -> None:
    open_first(audit)
    for _ in range(2):
        audit.append(build_event(state="publishing", detail={"version": 4}))
    audit.append(build_event(state="publishing", detail={"version": 5}))
    view = audit.attempt("att-1")
    assert view is not None
    assert [dict(event.detail) for event in view.events] == [{}, {"version": 4}, {"version": 5}]


def test_append_unknown_attempt_is_refused(audit: Audit) -> None:
    with pytest.raises(AuditError, match="'att-1' is not recorded"):
        audit.append(build_event())


def test_append_after_settled_outcome_keeps_state(audit: Audit) -> None:
    record_published(audit, 1)
    with pytest.raises(AuditError, match="settled as published and cannot become failed"):
        audit.append(build_event(state="failed"))
    audit.append(build_event(state="published", message="cleaned up"))
    view = audit.attempt("att-1")
    assert view is not None
    assert (view.state, view.events[-1].message) == ("published", "cleaned up")


def test_record_verdict_reads_back_with_results_in_order(audit: Audit) -> None:
    open_first(audit)
    results = (
        build_result("z|required", hint="look", place="a.csv"),
        build_result("a|unique", stage="keys", outcome="broken", failed=2, undecided=1, nulls=3, severity="warn"),
        build_result("b|allowed", outcome="broken", failed=2, is_set_aside=True),
        build_result("header", stage="header", rows=None, failed=None, evidence="header", origin="gate"),
    )
    verdict = build_verdict(passed=False, results=results, reasons=("a|unique",), target_version=None)
    audit.record_verdict(verdict, build_event(state="judged"))
    view = audit.attempt("att-1")
    assert view is not None
    assert view.verdict == verdict
    listed = audit.attempts()[0].verdict
    assert listed == replace(verdict, results=())


def test_record_verdict_repeated_is_recorded_once(audit: Audit) -> None:
    open_first(audit)
    for seconds in (0, 1):
        verdict = build_verdict(at=START + timedelta(seconds=seconds))
        audit.record_verdict(verdict, build_event(state="judged", at=verdict.at))
    view = audit.attempt("att-1")
    assert view is not None
    assert view.verdict == build_verdict()
    assert len(view.events) == 2


@pytest.mark.parametrize(
    "changed",
    [{"passed": False}, {"results": ()}, {"results": (build_result(found="9 values"),)}, {"counts": Counts()}],
)
def test_record_verdict_of_same_target_version_with_other_content_is_refused(
    audit: Audit, changed: dict[str, object]
) -> None:
    open_first(audit)
    audit.record_verdict(build_verdict(), build_event(state="judged"))
    with pytest.raises(AuditError, match="another content"):
        audit.record_verdict(build_verdict(**changed), build_event(state="judged", message="again"))


def test_record_verdict_on_later_target_version_is_the_one_shown(audit: Audit) -> None:
    open_first(audit)
    audit.record_verdict(build_verdict(target_version=4), build_event(state="judged"))
    audit.append(build_event(state="publishing"))
    later = build_verdict(target_version=5, results=(build_result(), build_result("other|unique")))
    audit.record_verdict(later, build_event(state="judged", message="judged again"))
    view = audit.attempt("att-1")
    assert view is not None
    assert view.verdict == later
    assert [event.state for event in view.events] == ["received", "judged", "publishing", "judged"]


def test_record_outcome_published_reads_back_with_publication(audit: Audit) -> None:
    open_first(audit)
    outcome = build_outcome(publication=build_publication())
    audit.record_outcome(outcome, build_event(state="published"))
    view = audit.attempt("att-1")
    assert view is not None
    assert (view.state, view.outcome) == ("published", outcome)
    published = audit.publications("flights", "lake/flights")
    assert [(each.submission, each.publication) for each in published] == [(build_submission(), build_publication())]


def test_record_outcome_repeated_is_recorded_once(audit: Audit) -> None:
    open_first(audit)
    for seconds in (0, 1):
        at = START + timedelta(seconds=seconds)
        outcome = build_outcome(publication=build_publication(committed_at=at), at=at)
        audit.record_outcome(outcome, build_event(state="published", at=at))
    view = audit.attempt("att-1")
    assert view is not None
    assert view.outcome == build_outcome(publication=build_publication())
    assert len(view.events) == 2


def test_record_outcome_settled_with_other_content_is_refused(audit: Audit) -> None:
    open_first(audit)
    audit.record_outcome(build_outcome(state="rejected"), build_event(state="rejected"))
    with pytest.raises(AuditError, match="another content"):
        audit.record_outcome(build_outcome(state="rejected", code="other"), build_event(state="rejected", message="x"))
    with pytest.raises(AuditError, match="another content"):
        audit.record_outcome(build_outcome(publication=build_publication()), build_event(state="published"))
    assert audit.publications("flights", "lake/flights") == []


def test_record_outcome_after_unknown_is_the_one_shown(audit: Audit) -> None:
    open_first(audit)
    audit.record_outcome(build_outcome(state="unknown"), build_event(state="unknown"))
    settled = build_outcome(publication=build_publication(), message="found in the target's history")
    audit.record_outcome(settled, build_event(state="published"))
    view = audit.attempt("att-1")
    assert view is not None
    assert (view.state, view.outcome) == ("published", settled)


def test_record_outcome_of_retry_names_the_earlier_publication(audit: Audit) -> None:
    record_published(audit, 1)
    audit.open_attempt(build_submission("sub-1"), build_attempt("att-2"), build_event("att-2"))
    earlier = audit.publications("flights", "lake/flights")[0].publication
    audit.record_outcome(build_outcome("att-2", "no_op", publication=earlier), build_event("att-2", "no_op"))
    view = audit.attempt("att-2")
    assert view is not None
    assert view.outcome is not None
    assert view.outcome.publication == build_publication(table_version=1)
    assert len(audit.publications("flights", "lake/flights")) == 1


def test_record_outcome_second_publication_of_submission_is_refused(audit: Audit) -> None:
    record_published(audit, 1)
    audit.open_attempt(build_submission("sub-1"), build_attempt("att-2"), build_event("att-2"))
    doubled = build_outcome("att-2", publication=build_publication(attempt_id="att-2", table_version=9))
    with pytest.raises(AuditError, match="publication"):
        audit.record_outcome(doubled, build_event("att-2", "published"))
    view = audit.attempt("att-2")
    assert view is not None
    assert view.state == "received"


def test_record_outcome_publication_of_other_submission_is_refused(audit: Audit) -> None:
    open_first(audit)
    with pytest.raises(AuditError, match="'sub-2'"):
        audit.record_outcome(build_outcome(publication=build_publication("sub-2")), build_event(state="published"))


def test_unsettled_lists_runs_without_settled_state_oldest_first(audit: Audit) -> None:
    record_published(audit, 1)
    for number, kind, state in ((2, "run", "publishing"), (3, "check", "judged"), (4, "run", "unknown")):
        attempt = build_attempt(f"att-{number}", f"sub-{number}", kind=kind)
        audit.open_attempt(build_submission(f"sub-{number}"), attempt, build_event(f"att-{number}"))
        audit.append(build_event(f"att-{number}", state))
    audit.open_attempt(
        build_submission("sub-5", target="elsewhere"), build_attempt("att-5", "sub-5"), build_event("att-5")
    )
    unsettled = audit.unsettled("flights", "lake/flights")
    found = [(view.attempt.attempt_id, view.state) for view in unsettled]
    assert found == [("att-2", "publishing"), ("att-4", "unknown")]


def test_publications_newest_first_and_by_slice(audit: Audit) -> None:
    for number in (1, 2):
        record_published(audit, number)
    audit.open_attempt(
        build_submission("sub-3", slice_digest="slice-2"), build_attempt("att-3", "sub-3"), build_event("att-3")
    )
    outcome = build_outcome("att-3", publication=build_publication("sub-3", "att-3", table_version=3))
    audit.record_outcome(outcome, build_event("att-3", "published"))

    def versions(slice_digest: str | None) -> list[int]:
        found = audit.publications("flights", "lake/flights", slice_digest)
        return [each.publication.table_version for each in found]

    assert versions(None) == [3, 2, 1]
    assert versions("slice-1") == [2, 1]
    assert versions("none") == []
    assert audit.publications("flights", "elsewhere") == []


def test_times_of_any_zone_read_back_in_utc_with_microseconds(audit: Audit) -> None:
    east = timezone(timedelta(hours=9))
    audit.open_attempt(
        build_submission(), build_attempt(started_at=datetime(2026, 3, 2, 0, 30, 0, 7, tzinfo=east)), build_event()
    )
    view = audit.attempt("att-1")
    assert view is not None
    assert view.attempt.started_at == datetime.fromisoformat("2026-03-01T15:30:00.000007+00:00")


def test_attempts_pages_without_gap_or_repeat(audit: Audit) -> None:
    for number in range(1, 8):
        record_rejected(audit, number, "dest|required")
    pages: list[list[str]] = []
    before = None
    while page := audit.attempts(limit=3, before=before):
        pages.append([view.attempt.attempt_id for view in page])
        before = page[-1].attempt.attempt_id
    assert pages == [["att-7", "att-6", "att-5"], ["att-4", "att-3", "att-2"], ["att-1"]]
    assert audit.attempts(before="none") == []


def test_attempts_filters_narrow_together(audit: Audit) -> None:
    record_published(audit, 1, context={"dag_id": "load", "run_id": "r1"})
    record_rejected(audit, 2, "dest|required", context={"dag_id": "load", "run_id": "r2"})
    record_published(audit, 3, contract="weather", context={"asset": "weather/daily"})
    record_rejected(audit, 4, "dest|required", kind="check")

    def ids(**filters: object) -> list[str]:
        return [view.attempt.attempt_id for view in audit.attempts(**filters)]

    assert ids(contract="flights") == ["att-4", "att-2", "att-1"]
    assert ids(states=("rejected",)) == ["att-4", "att-2"]
    assert ids(states=("rejected",), kind="run") == ["att-2"]
    assert ids(states=("rejected", "published"), contract="weather") == ["att-3"]
    assert ids(context={"dag_id": "load"}) == ["att-2", "att-1"]
    assert ids(context={"dag_id": "load", "run_id": "r1"}) == ["att-1"]
    assert ids(context={"asset": "weather/daily"}) == ["att-3"]
    assert ids(search="wea") == ["att-3"]
    assert ids(search="sub-2") == ["att-2"]
    assert ids(search="att-1") == ["att-1"]
    assert ids(search="%") == []
    assert ids(target="elsewhere") == []
    assert ids(submission_id="sub-3") == ["att-3"]


def test_attempt_prefix_is_enough_when_it_fits_one_alone(audit: Audit) -> None:
    for attempt_id in ("abc", "abd", "ab"):
        audit.open_attempt(build_submission(), build_attempt(attempt_id), build_event(attempt_id))
    found = {prefix: audit.attempt(prefix) for prefix in ("abc", "abd", "ab", "a", "x")}
    assert {prefix: view and view.attempt.attempt_id for prefix, view in found.items()} == {
        "abc": "abc", "abd": "abd", "ab": "ab", "a": None, "x": None,
    }  # fmt: skip


def test_statuses_tell_accepted_from_blocked(audit: Audit) -> None:
    record_published(audit, 1)
    record_rejected(audit, 2, "dest|required", started_at=START + timedelta(hours=1))
    record_rejected(audit, 3, "carrier|allowed", started_at=START + timedelta(hours=2))
    record_published(audit, 4, contract="weather")
    record_rejected(audit, 5, "x|y", contract="checked", kind="check")
    checked, flights, weather = audit.statuses()
    assert (flights.contract, flights.target, flights.version) == ("flights", "lake/flights", "1.0.0")
    assert flights.last_attempt is not None
    assert flights.last_attempt.attempt.attempt_id == "att-3"
    assert flights.last_published is not None
    assert flights.last_published.publication.table_version == 1
    assert (flights.blocked_since, flights.reasons) == ("2026-03-01T13:00:00.123456Z", ("carrier|allowed",))
    assert (weather.contract, weather.blocked_since, weather.reasons) == ("weather", None, ())
    assert (checked.contract, checked.last_attempt, checked.blocked_since) == ("checked", None, None)


def test_statuses_retry_of_published_is_not_blocked_and_running_does_not_block(audit: Audit) -> None:
    record_rejected(audit, 1, "dest|required")
    record_published(audit, 2)
    audit.open_attempt(build_submission("sub-2"), build_attempt("att-3", "sub-2"), build_event("att-3"))
    audit.record_outcome(build_outcome("att-3", "no_op"), build_event("att-3", "no_op"))
    audit.open_attempt(build_submission("sub-4"), build_attempt("att-4", "sub-4"), build_event("att-4"))
    (status,) = audit.statuses()
    assert (status.blocked_since, status.reasons) == (None, ())
    assert status.last_attempt is not None
    assert status.last_attempt.state == "received"


def test_statuses_failed_without_verdict_gives_its_code(audit: Audit) -> None:
    open_first(audit)
    audit.record_outcome(build_outcome(state="failed", code="input.unreadable"), build_event(state="failed"))
    (status,) = audit.statuses()
    assert (status.blocked_since, status.reasons) == ("2026-03-01T12:00:00.123456Z", ("input.unreadable",))
    assert status.last_published is None


def test_contract_versions_newest_first(audit: Audit) -> None:
    for number, version in enumerate(("1.0.0", "1.10.0", "1.9.0"), start=1):
        record_published(audit, number, contract_version=build_version(version=version, digest=f"d{number}"))
    record_published(audit, 4)
    assert [each.version for each in audit.contract_versions("flights")] == ["1.9.0", "1.10.0", "1.0.0"]
    assert audit.contract_versions("none") == []


def test_waivers_are_kept_by_candidate(audit: Audit) -> None:
    waivers = [build_waiver("w-2"), build_waiver("w-1", check="a|unique"), build_waiver("w-3", candidate_digest="c2")]
    for waiver in (*waivers, waivers[0]):
        audit.grant(waiver)
    assert audit.waivers("c1") == [build_waiver("w-2"), build_waiver("w-1", check="a|unique")]
    with pytest.raises(AuditError, match="another content"):
        audit.grant(build_waiver("w-1", reason="else"))
