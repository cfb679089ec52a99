"""Several real processes on one store: first openings, writers in a row, a writer killed, a fork, threads."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from invaract_orchestration.errors import AuditError
from invaract_orchestration.stores import SqlAuditStore, open_store
from invaract_orchestration.testing.audit_records import (
    build_attempt,
    build_event,
    build_outcome,
    build_publication,
    build_submission,
    record_published,
)

FORKER = """
import os, sys, time, traceback
from pathlib import Path
from invaract_orchestration.stores import open_store
from invaract_orchestration.testing.audit_records import *
import alembic.command

code, url, count, gate = sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4])

def work(number):
    while not gate.exists():
        time.sleep(0.001)
    try:
        exec(code, globals() | {"number": number})
    except SystemExit as ending:
        return ending.code
    except BaseException:
        traceback.print_exc()
        return 1
    return 0

children = []
for number in range(count):
    child = os.fork()
    if child == 0:
        os._exit(work(number))
    children.append(child)
print(*children, flush=True)
print(*(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Racers:
    """Processes that all went on at the same moment; they were forked by one that had imported everything."""

    forker: subprocess.Popen[str]
    children: tuple[int, ...]

    def finish(self) -> list[int]:
        """Exit codes by number; 1 and a trace on stderr for one that failed."""
        output, _ = self.forker.communicate(timeout=120)
        return [int(code) for code in output.split()]


def start(count: int, code: str, url: str, gate: Path) -> Racers:
    """Start processes with a `number` from 0."""
    command = [sys.executable, "-W", "error", "-c", FORKER, code, url, str(count), str(gate)]
    forker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert forker.stdout is not None
    children = tuple(int(child) for child in forker.stdout.readline().split())
    assert len(children) == count
    gate.touch()
    return Racers(forker, children)


def test_open_store_first_by_eight_processes_at_once_all_succeed(store_url: str, tmp_path: Path) -> None:
    code = "with open_store(url) as store: record_published(store, number)"
    assert start(8, code, store_url, tmp_path / "go").finish() == [0] * 8
    with open_store(store_url, migrate=False) as store:
        assert len(store.attempts()) == 8
        assert store.verify() == ()


def test_writers_in_four_processes_keep_one_chain(store: SqlAuditStore, store_url: str, tmp_path: Path) -> None:
    code = """
with open_store(url) as store:
    for step in range(15):
        record_published(store, number * 100 + step)
    record_published(store, 1000)
"""
    assert start(4, code, store_url, tmp_path / "go").finish() == [0] * 4
    assert len(store.attempts(limit=1000)) == 61
    assert len(store.publications("flights", "lake/flights")) == 61
    head = store.head()
    assert head is not None
    assert head.position == 61 * 4
    assert store.verify() == ()


def test_outcomes_racing_for_one_submission_record_one_publication(store: SqlAuditStore, store_url: str, tmp_path: Path) -> None:
    for number in range(6):
        attempt = build_attempt(f"att-{number}")
        store.open_attempt(build_submission(), attempt, build_event(attempt.attempt_id))
    code = """
from invaract_orchestration.errors import AuditError
name = f"att-{number}"
publication = build_publication(attempt_id=name, table_version=number)
with open_store(url) as store:
    try:
        store.record_outcome(build_outcome(name, publication=publication), build_event(name, "published"))
    except AuditError as error:
        sys.exit(7)
"""
    assert sorted(start(6, code, store_url, tmp_path / "go").finish()) == [0, 7, 7, 7, 7, 7]
    assert len(store.publications("flights", "lake/flights")) == 1
    assert [view.state for view in store.attempts(states=("published",))] == ["published"]
    assert store.verify() == ()


@pytest.mark.parametrize("seed", range(3))
def test_writer_killed_leaves_whole_entries_and_blocks_nobody(
    store: SqlAuditStore, store_url: str, tmp_path: Path, seed: int
) -> None:
    code = """
import itertools
with open_store(url) as store:
    for step in itertools.count():
        record_published(store, step)
"""
    writer = start(1, code, store_url, tmp_path / "go")
    time.sleep(0.3 + random.Random(seed).random() * 0.3)
    os.kill(writer.children[0], signal.SIGKILL)
    assert writer.finish() == [-9]
    assert store.verify() == ()
    for view in store.unsettled("flights", "lake/flights"):
        name, submission_id = view.attempt.attempt_id, view.submission.submission_id
        publication = build_publication(submission_id, name, table_version=0)
        store.record_outcome(build_outcome(name, publication=publication), build_event(name, "published"))
    record_published(store, 100_000)
    assert {view.state for view in store.attempts(limit=10_000)} == {"published"}
    assert store.verify() == ()


def test_store_opened_before_a_fork_works_on_both_sides(store_url: str, tmp_path: Path) -> None:
    code = """
import os
with open_store(url) as store:
    record_published(store, 1)
    child = os.fork()
    if child == 0:
        record_published(store, 2)
        os._exit(len(store.attempts(search="att-2")))
    record_published(store, 3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    record_published(store, 4)
    assert len(store.attempts()) == 4
    assert store.verify() == ()
"""
    assert start(1, code, store_url, tmp_path / "go").finish() == [0]


def test_store_shared_by_threads_keeps_one_chain(store: SqlAuditStore) -> None:
    failures: list[Exception] = []

    def work(first: int) -> None:
        try:
            for number in range(first, first + 5):
                record_published(store, number)
                store.statuses()
        except AuditError as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(0, 40, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(store.attempts(limit=100)) == 40
    assert store.verify() == ()


def test_open_store_by_threads_of_one_process_all_succeed(store_url: str) -> None:
    failures: list[Exception] = []

    def work() -> None:
        try:
            open_store(store_url).close()
        except AuditError as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_reader_sees_one_state_while_others_write(store: SqlAuditStore, store_url: str, tmp_path: Path) -> None:
    code = """
with open_store(url) as store:
    for step in range(40):
        record_published(store, step)
"""
    writer = start(1, code, store_url, tmp_path / "go")
    seen = 0
    while writer.forker.poll() is None:
        assert store.verify() == ()
        found = len(store.attempts(limit=1000))
        assert found >= seen
        seen = found
    assert writer.finish() == [0]
