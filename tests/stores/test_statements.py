"""How many statements a reader takes: as many for thirty attempts as for three, and none that scans all attempts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import event

from invaract_orchestration.audit.browse import EVERYTHING, RunFilter, Scope
from invaract_orchestration.stores import SqlAuditStore, open_store
from invaract_orchestration.testing.audit_records import record_published, record_rejected

OF_ONE_DAG = Scope(dags=frozenset({"load"}), includes_others=False)
GROWING = tuple(
    f"SCAN {table}" for table in ("attempt", "submission", "event", "verdict", "check_result", "outcome", "publication")
)
DAY = datetime(2026, 3, 1, tzinfo=UTC)

READS: dict[str, Callable[[SqlAuditStore], Any]] = {
    "attempts": lambda store: store.attempts(limit=100),
    "attempts by context": lambda store: store.attempts(context={"dag_id": "load"}),
    "attempt": lambda store: store.attempt("att-1"),
    "unsettled": lambda store: store.unsettled("flights", "lake/flights"),
    "publications": lambda store: store.publications("flights", "lake/flights"),
    "statuses": lambda store: store.statuses(),
    "activity": lambda store: store.activity(EVERYTHING, since=DAY),
    "rejections": lambda store: store.rejections(EVERYTHING, since=DAY),
    "contract versions": lambda store: store.contract_versions("flights"),
}


def record(store: SqlAuditStore, first: int, last: int) -> None:
    for number in range(first, last):
        contract = f"contract-{number % 7}"
        if number % 3:
            record_published(store, number, contract=contract, context={"dag_id": "load"})
        else:
            record_rejected(store, number, "dest|required", contract=contract)


def statements_of(store: SqlAuditStore, read: Callable[[SqlAuditStore], Any]) -> list[tuple[str, Any]]:
    seen: list[tuple[str, Any]] = []

    def note(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
        seen.append((statement, parameters))

    engine = store._database._engine
    event.listen(engine, "before_cursor_execute", note)
    read(store)
    event.remove(engine, "before_cursor_execute", note)
    return seen


@pytest.mark.parametrize("name", READS)
def test_read_takes_as_many_statements_for_many_attempts_as_for_few(sqlite_url: str, name: str) -> None:
    with open_store(sqlite_url) as store:
        record(store, 1, 4)
        few = len(statements_of(store, READS[name]))
        record(store, 4, 31)
        assert len(statements_of(store, READS[name])) == few


@pytest.mark.parametrize(
    "read",
    [
        lambda store: store.attempts(limit=5),
        lambda store: store.attempts(limit=5, before="att-20"),
        lambda store: store.attempts(contract="contract-1"),
        lambda store: store.attempts(states=("unknown",)),
        lambda store: store.attempts(submission_id="sub-2"),
        lambda store: store.attempt("att-1"),
        lambda store: store.unsettled("contract-1", "lake/flights"),
        lambda store: store.publications("contract-1", "lake/flights"),
        lambda store: store.activity(EVERYTHING, since=DAY),
        lambda store: store.activity(EVERYTHING, since=DAY, contract="contract-1"),
        lambda store: store.choices(EVERYTHING),
        lambda store: store.runs(RunFilter(), EVERYTHING),
        lambda store: store.runs(RunFilter(has_failing_rows=True), EVERYTHING),
        *(
            lambda store, scope=scope, read=read: read(store, scope)
            for scope in (EVERYTHING, OF_ONE_DAG)
            for read in (
                lambda store, scope: store.standing(scope),
                lambda store, scope: store.delays(scope, since=DAY),
                lambda store, scope: store.rejections(scope, since=DAY),
                lambda store, scope: store.activity(scope, since=DAY),
                lambda store, scope: store.choices(scope),
            )
        ),
    ],
)
def test_read_finds_its_rows_by_an_index(sqlite_url: str, read: Callable[[SqlAuditStore], Any]) -> None:
    with open_store(sqlite_url) as store:
        record(store, 1, 31)
        selects = [each for each in statements_of(store, read) if each[0].startswith(("SELECT", "WITH"))]

        def explain(connection: Any) -> list[str]:
            plans = [connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", values) for text, values in selects]
            steps = [row[3] for plan in plans for row in plan]
            return [step for step in steps if step.startswith(GROWING) and "INDEX" not in step]

        assert selects != []
        assert store._database.read(explain) == []


@pytest.mark.parametrize("name", ["activity", "rejections", "delays"])
def test_figure_for_a_viewer_of_some_dags_asks_for_no_context(store: SqlAuditStore, name: str) -> None:
    record(store, 1, 31)
    asked = statements_of(store, lambda store: getattr(store, name)(OF_ONE_DAG, since=DAY))
    assert any("dag_id" in text for text, _ in asked)
    assert [text for text, _ in asked if "attempt_context" in text] == []
