"""Pages and figures for the audit pages, the same on both databases."""

from __future__ import annotations

from datetime import date, timedelta

from invaract_orchestration.audit.browse import EVERYTHING, ContractDay, Delay, RunFilter, Scope
from invaract_orchestration.audit.log import RuleCount
from invaract_orchestration.audit.records import Counts
from invaract_orchestration.stores import SqlAuditStore
from invaract_orchestration.testing.audit_records import (
    START,
    build_attempt,
    build_event,
    build_outcome,
    build_publication,
    build_submission,
    record_published,
    record_rejected,
)

SINCE = START - timedelta(days=1)
OF_ONE_DAG = Scope(dags=frozenset({"load"}), includes_others=False)


def fill(store: SqlAuditStore) -> None:
    record_published(store, 1, context={"dag_id": "load"})
    record_rejected(store, 2, "dest|required", context={"dag_id": "load", "run_id": "r2"})
    record_published(store, 3, contract="other", environment="prod", context={"dag_id": "other"})
    record_rejected(store, 4, "dest|min", contract="hand", started_at=START + timedelta(days=1))


def ids(store: SqlAuditStore, wanted: RunFilter, scope: Scope = EVERYTHING) -> list[str]:
    return [run.attempt.attempt_id for run in store.runs(wanted, scope).runs]


def test_runs_are_left_by_each_filter(store: SqlAuditStore) -> None:
    fill(store)
    assert ids(store, RunFilter()) == ["att-4", "att-3", "att-2", "att-1"]
    assert ids(store, RunFilter(states=("rejected",))) == ["att-4", "att-2"]
    assert ids(store, RunFilter(environment="prod")) == ["att-3"]
    assert ids(store, RunFilter(context={"dag_id": "load", "run_id": "r2"})) == ["att-2"]
    assert ids(store, RunFilter(since=START + timedelta(hours=1))) == ["att-4"]
    assert ids(store, RunFilter(until=START + timedelta(hours=1))) == ["att-3", "att-2", "att-1"]
    assert ids(store, RunFilter(search="oth")) == ["att-3"]
    assert ids(store, RunFilter(submission_id="sub-1")) == ["att-1"]
    assert ids(store, RunFilter(contract="flights", kind="check")) == []


def test_runs_with_failing_rows_are_found_by_their_counts(store: SqlAuditStore) -> None:
    for number, counts in ((1, Counts(read=9)), (2, Counts(read=9, quarantined=1)), (3, Counts(read=9, failing=2))):
        attempt = build_attempt(f"att-{number}", f"sub-{number}")
        store.open_attempt(build_submission(f"sub-{number}"), attempt, build_event(attempt.attempt_id))
        outcome = build_outcome(attempt.attempt_id, "rejected", counts=counts)
        store.record_outcome(outcome, build_event(attempt.attempt_id, "rejected"))
    assert ids(store, RunFilter(has_failing_rows=True)) == ["att-3", "att-2"]


def test_runs_are_paged_to_both_sides(store: SqlAuditStore) -> None:
    fill(store)
    first = store.runs(RunFilter(), EVERYTHING, limit=2)
    second = store.runs(RunFilter(), EVERYTHING, limit=2, before=first.older)
    back = store.runs(RunFilter(), EVERYTHING, limit=2, after=second.newer)
    assert (first.total, first.newer, first.older) == (4, None, "att-3")
    assert (second.newer, second.older) == ("att-2", None)
    assert [run.attempt.attempt_id for run in back.runs] == ["att-4", "att-3"]
    assert (back.newer, back.older) == (None, "att-3")


def test_scope_hides_rows_and_figures(store: SqlAuditStore) -> None:
    fill(store)
    assert ids(store, RunFilter(), OF_ONE_DAG) == ["att-2", "att-1"]
    assert ids(store, RunFilter(), Scope(dags=frozenset(), includes_others=True)) == ["att-4"]
    assert ids(store, RunFilter(), Scope(includes_others=False)) == ["att-3", "att-2", "att-1"]
    assert [each.contract for each in store.standing(OF_ONE_DAG).contracts] == ["flights"]
    assert [each.contract for each in store.rejections(OF_ONE_DAG, since=SINCE)] == ["flights"]
    assert {each.contract for each in store.activity(OF_ONE_DAG, since=SINCE)} == {"flights"}
    assert [each.contract for each in store.delays(OF_ONE_DAG, since=SINCE)] == ["flights"]
    assert store.choices(OF_ONE_DAG).contracts == ("flights",)


def test_standing_shows_no_publication_of_an_attempt_outside_the_scope(store: SqlAuditStore) -> None:
    record_published(store, 1, context={"dag_id": "load"})
    record_published(store, 2, context={"dag_id": "secret"})
    (status,) = store.standing(OF_ONE_DAG).contracts
    assert status.last_published is not None
    assert status.last_published.publication.attempt_id == "att-1"
    assert status.last_attempt is not None
    assert status.last_attempt.attempt.attempt_id == "att-1"


def test_publication_that_was_made_last_stands_whichever_attempt_was_opened_first(store: SqlAuditStore) -> None:
    for scope in (EVERYTHING, OF_ONE_DAG):
        number = 1 if scope is EVERYTHING else 3
        slow, quick = f"{number}", f"{number + 1}"
        for name in (slow, quick):
            attempt = build_attempt(f"att-{name}", f"sub-{name}", context={"dag_id": "load"})
            store.open_attempt(build_submission(f"sub-{name}"), attempt, build_event(attempt.attempt_id))
        for name in (quick, slow):
            made = build_publication(f"sub-{name}", f"att-{name}")
            outcome = build_outcome(f"att-{name}", "published", publication=made)
            store.record_outcome(outcome, build_event(f"att-{name}", "published"))
        (status,) = store.standing(scope).contracts
        assert status.last_published is not None
        assert status.last_published.publication.attempt_id == f"att-{slow}"


def test_publication_of_an_attempt_that_is_not_recorded_is_seen_by_who_sees_everything(store: SqlAuditStore) -> None:
    attempt = build_attempt("att-2", "sub-1", context={"dag_id": "load"})
    store.open_attempt(build_submission("sub-1"), attempt, build_event("att-2"))
    outcome = build_outcome("att-2", "published", publication=build_publication("sub-1", "att-1"))
    store.record_outcome(outcome, build_event("att-2", "published"))
    everything, of_one = store.standing(EVERYTHING).contracts[0], store.standing(OF_ONE_DAG).contracts[0]
    assert everything.last_published is not None
    assert everything.last_published.publication.attempt_id == "att-1"
    assert of_one.last_published is None
    assert [each.publications for each in store.delays(EVERYTHING, since=SINCE)] == [1]
    assert store.delays(OF_ONE_DAG, since=SINCE) == []


def test_figures_are_counted(store: SqlAuditStore) -> None:
    fill(store)
    days = sorted(store.activity(EVERYTHING, since=SINCE), key=lambda each: (each.contract, each.state))
    lake = {"target": "lake/flights", "attempts": 1}
    assert days == [
        ContractDay(contract="flights", day=date(2026, 3, 1), state="published", **lake),  # type: ignore[arg-type]
        ContractDay(contract="flights", day=date(2026, 3, 1), state="rejected", **lake),  # type: ignore[arg-type]
        ContractDay(contract="hand", day=date(2026, 3, 2), state="rejected", **lake),  # type: ignore[arg-type]
        ContractDay(contract="other", day=date(2026, 3, 1), state="published", **lake),  # type: ignore[arg-type]
    ]
    assert list(store.rejections(EVERYTHING, since=SINCE, contract="hand")) == [
        RuleCount(contract="hand", check="dest|min", attempts=1, failed=2)
    ]
    assert list(store.delays(EVERYTHING, since=SINCE)) == [
        Delay(contract="flights", target="lake/flights", median=timedelta(0), publications=1),
        Delay(contract="other", target="lake/flights", median=timedelta(0), publications=1),
    ]
    assert store.choices(EVERYTHING).environments == ("dev", "prod")


def test_activity_since_a_time_of_a_day_leaves_the_attempts_before_it_out(store: SqlAuditStore) -> None:
    fill(store)
    later = store.activity(EVERYTHING, since=START + timedelta(hours=1))

    assert [(each.contract, each.day, each.attempts) for each in later] == [("hand", date(2026, 3, 2), 1)]


def test_delay_is_the_median_from_the_first_receipt(store: SqlAuditStore) -> None:
    for number, minutes in ((1, 30), (2, 10), (3, 20)):
        record_published(store, number, started_at=START - timedelta(minutes=minutes))
    (delay,) = store.delays(EVERYTHING, since=SINCE)
    assert (delay.median, delay.publications) == (timedelta(minutes=20), 3)


def test_rejections_count_the_runs_of_the_period_by_check(store: SqlAuditStore) -> None:
    for number, days, checks in (
        (1, 0, ()),
        (2, 0, ("dest|required",)),
        (3, 1, ("dest|required", "carrier|allowed")),
        (4, 2, ("dest|required",)),
    ):  # fmt: skip
        started_at = START + timedelta(days=days)
        if checks:
            record_rejected(store, number, *checks, started_at=started_at)
        else:
            record_published(store, number, started_at=started_at)
    record_rejected(store, 5, "dest|required", kind="check")
    assert store.rejections(EVERYTHING, since=START) == [
        RuleCount(contract="flights", check="dest|required", attempts=3, failed=6),
        RuleCount(contract="flights", check="carrier|allowed", attempts=1, failed=2),
    ]
    assert store.rejections(EVERYTHING, since=START + timedelta(days=2), contract="flights") == [
        RuleCount(contract="flights", check="dest|required", attempts=1, failed=2)
    ]
    assert store.rejections(EVERYTHING, since=START, contract="weather") == []
