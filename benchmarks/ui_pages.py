"""How long each audit page takes over a store of many runs: `python benchmarks/ui_pages.py [--runs 100000] [--store URL]`.

The store is filled by bulk inserts into its own tables, without the hash chain: it is for reading, not for `audit verify`.
Prints the median and the slowest of each page, from the request to the last byte, in this process and one at a time; and the
processor's own time beside it, which says what it would be on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi.testclient import TestClient
from sqlalchemy import Connection, Table, create_engine, insert

from invaract_orchestration.audit.browse import Scope
from invaract_orchestration.audit.records import ContractVersion, Counts
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.stores import models, rows
from invaract_orchestration.stores.open import open_store
from invaract_orchestration.testing.audit_records import (
    build_attempt,
    build_event,
    build_outcome,
    build_publication,
    build_result,
    build_submission,
    build_verdict,
    build_version,
)
from invaract_orchestration.ui.app import create_app
from invaract_orchestration.ui.viewer import Viewer

NOW = datetime(2026, 3, 31, 9, 30, tzinfo=UTC)
CONTRACTS, DAYS, BATCH, STEPS = 40, 90, 2000, 4
CHECKS = tuple(f"{column}|{rule}" for column in ("id", "amount", "country") for rule in ("required", "min"))

Rows = dict[Table, list[dict[str, Any]]]


def fill(url: str, runs: int) -> None:
    open_store(url).close()
    chance = random.Random(1)
    versions = [build_version(f"contract_{number:02d}", digest=f"d{number}") for number in range(CONTRACTS)]
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        _insert(connection, {models.contract_version: [rows.contract_row(v, n) for n, v in enumerate(versions)]})
        for start in range(0, runs, BATCH):
            made: Rows = {}
            for number in range(start, min(start + BATCH, runs)):
                _add_run(made, number, runs, versions[number % CONTRACTS], chance)
            _insert(connection, made)
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql("ANALYZE")  # which the server would do by itself a little later
    engine.dispose()


def _insert(connection: Connection, made: Rows) -> None:
    for table in models.metadata.sorted_tables:
        if made.get(table):
            connection.execute(insert(table), made[table])


def _add_run(made: Rows, number: int, runs: int, version: ContractVersion, chance: random.Random) -> None:
    def add(table: Table, *found: dict[str, Any]) -> None:
        made.setdefault(table, []).extend(found)

    attempt_id, submission_id, target = f"a-{number:08d}", f"s-{number:08d}", f"/data/lake/{version.contract}"
    at = NOW - timedelta(days=DAYS) * (1 - number / runs)
    position = number * (STEPS + 1) + CONTRACTS
    state = chance.choices(("published", "rejected", "failed", "no_op"), (88, 8, 2, 2))[0]
    aside = chance.random() < 0.05
    context = {"dag_id": f"dag_{number % 200}", "run_id": f"scheduled__{at:%Y-%m-%d}", "task_id": "gate"}
    submission = build_submission(submission_id, contract=version.contract, target=target, slice_digest=f"slice {number}")
    attempt = build_attempt(
        attempt_id, submission_id, contract_version=version, started_at=at, context=context,
        environment=chance.choice(("dev", "prod")),
    )  # fmt: skip
    failing = chance.randint(1, 500) if state == "rejected" or aside else 0
    broken = chance.choice(CHECKS) if failing else None
    counts = Counts(read=9000, good=9000 - failing, failing=failing, quarantined=failing if state == "published" else 0)
    reasons = (broken,) if state == "rejected" else ()
    add(models.submission, rows.submission_row(submission, position))
    add(models.attempt, rows.attempt_row(attempt, position))
    add(models.attempt_context, *rows.context_rows(attempt))
    copied = ("attempt_id", "submission_id", "kind", "started_at", "contract")
    row = rows.attempt_row(attempt, position)
    derived = {"position": position, "target": target, "state": state, "day": f"{at:%Y-%m-%d}", "dag_id": context["dag_id"]}
    derived["published"] = position if state == "published" else None
    add(models.attempt_state, {name: row[name] for name in copied} | derived)
    add(models.event, *_events(attempt_id, state, at, position, chance))
    if state in ("published", "rejected"):
        results = _results(state, broken, failing)
        verdict = build_verdict(attempt_id, passed=not reasons, reasons=reasons, counts=counts, results=results, at=at)
        add(models.verdict, rows.verdict_row(verdict, 0, position))
        add(models.check_result, *rows.result_rows(verdict, 0))
    publication = None
    if state == "published":
        publication = build_publication(
            submission_id, attempt_id, target=target, table_version=number // CONTRACTS, committed_at=at + timedelta(seconds=20)
        )
        add(models.publication, rows.publication_row(publication, version.contract, position))
    outcome = build_outcome(attempt_id, state, counts=counts, publication=publication, at=at + timedelta(seconds=21))
    add(models.outcome, rows.outcome_row(outcome, 0, position))


def _results(state: str, broken: str | None, failing: int) -> tuple[CheckResult, ...]:
    return tuple(
        build_result(check, rows=9000, failed=failing if check == broken else 0, outcome="broken" if check == broken else "kept",
                     is_set_aside=check == broken and state != "rejected")
        for check in CHECKS
    )  # fmt: skip


def _events(attempt_id: str, state: str, at: datetime, position: int, chance: random.Random) -> Iterator[dict[str, Any]]:
    for step, name in enumerate(("received", "materialised", "judged", state)):
        event = build_event(attempt_id, name, at=at + timedelta(seconds=step * chance.random() * 9))
        link = {"position": position + step, "kind": "step", "covers": "{}", "previous": "", "hash": f"{position + step}"}
        yield rows.event_row(event) | link


def pages(runs: int) -> list[str]:
    middle = f"a-{runs // 2:08d}"
    return [
        "/", "/?days=7", "/?days=90", "/runs", f"/runs?before={middle}", f"/runs?after={middle}", "/runs?state=rejected",
        "/runs?contract=contract_07&state=failed", "/runs?environment=prod", "/runs?from=2026-01-15&to=2026-01-16",
        "/runs?search=a-0000", "/runs?dag_id=dag_7&run_id=scheduled__2026-03-30", "/runs?dag_id=none", f"/runs/{middle}",
        "/contracts/contract_07", "/contracts/contract_07?days=90", "/quarantine", "/quarantine?contract=contract_07", "/status",
        "/api/overview", "/api/overview?days=90", "/api/runs", f"/api/runs/{middle}", "/api/contracts/contract_07",
        "/api/contracts/contract_07/versions/1.0.0", "/api/quarantine", "/api/status", "/api/openapi.json",
    ]  # fmt: skip


def measure(client: TestClient, paths: list[str], times: int) -> float:
    worst = 0.0
    for path in paths:
        taken, worked = [], []
        for _ in range(times):
            start, busy = time.perf_counter(), time.process_time()
            answer = client.get(path)
            taken.append((time.perf_counter() - start) * 1000)
            worked.append((time.process_time() - busy) * 1000)
            if answer.status_code != 404:  # what a viewer may not see
                answer.raise_for_status()
        median, size = statistics.median(taken), len(answer.content) / 1024
        worst = max(worst, median)
        print(f"  {path:<52} {median:7.0f} ms {max(taken):7.0f} ms {statistics.median(worked):7.0f} ms {size:6.0f} KB")
    return worst


def _is_empty(url: str) -> bool:
    with open_store(url) as store:
        return not store.attempts(limit=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=7)
    parser.add_argument("--store", help="address of the store; filled when it is empty, and kept")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = given.store or f"sqlite:///{folder}/audit.db"
        if _is_empty(url):
            start = time.perf_counter()
            fill(url, given.runs)
            print(f"{given.runs:,} runs recorded in {time.perf_counter() - start:.0f} s")
        with open_store(url, read_only=True) as store:
            for title, dags in (("everything", None), ("half of the DAGs", range(100)), ("one DAG", (7,)), ("no DAG", ())):
                scope = Scope() if dags is None else Scope(dags=frozenset(f"dag_{n}" for n in dags), includes_others=False)
                client = TestClient(create_app(store, clock=lambda: NOW, authorize=lambda scope=scope: Viewer(scope=scope)))
                print(f"\nFor a viewer who may see {title}: median, slowest, processor, size")
                print(f"Slowest median: {measure(client, pages(given.runs), given.times):.0f} ms")


if __name__ == "__main__":
    main()
