"""Playing the steps of a case on a real gate: every run, kill, race and fault for real."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import write_deltalake

from invaract_orchestration.errors import ContractError
from tests.cases import steps as s
from tests.cases.faults import at, make_read_only, make_writable, meet
from tests.cases.sketch import Case, NotUnderstood
from tests.cases.stage import Outcome, Snapshot, Stage
from tests.spark import sessions

ROOT = Path(__file__).parents[2]
Verdict = str


@dataclass
class Played:
    """What came of a case with one of its contracts."""

    stage: Stage
    before: Snapshot
    after: Snapshot = field(default_factory=Snapshot)
    outcomes: list[Outcome] = field(default_factory=list)
    faulted: list[Outcome] = field(default_factory=list)
    together: list[Outcome] = field(default_factory=list)
    kills: int = 0
    searched: list[str] = field(default_factory=list)
    fresh: list[Stage] = field(default_factory=list)
    waits: str | None = None

    @property
    def decisive(self) -> Outcome:
        """The attempt that the case is about: the one with a fault, else the last."""
        if self.together:
            return next((o for o in self.together if verdict_of(o) != "PASS"), self.together[-1])
        return self.faulted[0] if self.faulted else self.outcomes[-1]


def verdict_of(outcome: Outcome) -> Verdict:
    """The neutral word for how an attempt ended."""
    if isinstance(outcome, ContractError):
        return "ERROR"
    if outcome.state == "no_op" or outcome.code == "publish.already_done":
        return "NOOP"
    if outcome.state == "published":
        if not outcome.is_recorded:
            return "ERROR"
        return "QUARANTINE" if outcome.counts.quarantined else "PASS"
    if outcome.blocking and all(check.outcome == "unverifiable" for check in outcome.blocking):
        return "ERROR"
    return {"rejected": "FAIL", "conflict": "CONFLICT"}.get(outcome.state, "ERROR")


def play(case: Case, contract: Path, root: Path, engine: str = "duckdb") -> Played:
    """Raises NotUnderstood, before anything runs, when a step is not understood."""
    actions = s.read_steps(case)
    facts = s.TargetFacts()
    for action in actions:
        facts = facts.merged(action.facts) if isinstance(action, s.Seeded) else facts
    named = any(isinstance(a, s.Together) or (isinstance(a, s.Run) and a.batch) for a in actions)
    stage = Stage(case, contract, root / "own", named_batches=named, engine=engine)
    if not any(isinstance(a, s.Run | s.Together) for a in actions):
        actions = (*(a for a in actions if a != s.Does("load")), s.Run())
    with contextlib.suppress(ContractError):
        stage.seed(facts)
    played = Played(stage, stage.snapshot())
    with _settings({a.name: a.value for a in actions if isinstance(a, s.Setting)} if engine == "spark" else {}):
        frame = stage.frame
        for action in actions:
            if action == s.Does("frame"):
                frame = _frame(stage)
            _do(played, action, frame)
    played.after = stage.snapshot()
    return played


def _do(played: Played, action: s.Action, frame: Any) -> None:
    stage = played.stage
    match action:
        case s.Run():
            _run(played, action, frame)
        case s.Together(batches):
            _together(played, batches)
        case s.Searched(word):
            played.searched.append(word)
        case s.Does("audit writable"):
            make_writable(stage.audit)
        case s.Does("fix input"):
            shutil.copytree(stage.case.folder / "fixed", stage.root / "input", dirs_exist_ok=True)
        case s.Does("page"):
            played.waits = "the audit pages, for the page of the decision"


def _run(played: Played, run: s.Run, frame: Any) -> None:
    for number in range(max(run.times, len(run.zones), 1)):
        zone = run.zones[number] if run.zones else None
        stage = played.stage if number == 0 or not (run.is_fresh or run.zones) else _fresh(played, number)
        new_id = f"batch-{len(played.outcomes) + 1}" if run.is_new_batch else None
        given = run.submission_id or new_id
        if run.fault is not None and run.fault.happening == "kill":
            _killed(played, run, given)
            continue
        with _zone(zone), _settings({"spark.sql.session.timeZone": zone} if zone and stage.engine == "spark" else {}):
            change = at(run.fault.moment, _happening(stage, run.fault)) if run.fault else (lambda gate: gate)
            outcome = stage.run(submission_id=given, batch=run.batch, frame=frame, change=change)
        played.outcomes.append(outcome)
        if run.fault is not None:
            played.faulted.append(outcome)


def _fresh(played: Played, number: int) -> Stage:
    first = played.stage
    root = first.root.with_name(f"fresh-{number}")
    stage = Stage(first.case, first.sketch, root, named_batches=first.named_batches, engine=first.engine)
    stage.seed(s.TargetFacts())
    played.fresh.append(stage)
    return stage


def _killed(played: Played, run: s.Run, given: str | None) -> None:
    stage, fault = played.stage, run.fault
    assert fault is not None
    arguments = [
        str(stage.case.folder), str(stage.sketch), str(stage.root), stage.named_batches, stage.engine, fault.moment, given,
        run.batch,
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "tests.cases.killed", json.dumps(arguments)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    assert done.returncode == -9, f"the process was not killed but ended by itself ({done.returncode}): {done.stderr[-2000:]}"
    stage.said += [*done.stdout.splitlines(), *done.stderr.splitlines()]
    played.kills += 1


def _together(played: Played, batches: tuple[str, ...]) -> None:
    change = meet(len(batches))
    with played.stage.gate():
        pass  # the audit store is there before both open it
    with ThreadPoolExecutor(len(batches)) as pool:
        started = [pool.submit(played.stage.run, batch=b, change=change) for b in batches]
        played.together = [one.result() for one in started]
    played.outcomes += played.together


def _happening(stage: Stage, fault: s.Fault) -> Any:
    def change_first(folder: Path, pattern: str) -> None:
        path = next(p for p in sorted(folder.rglob(pattern)) if p.is_file())
        path.write_bytes(path.read_bytes() + b"\n")
        os.utime(path, ns=(time.time_ns() + 10**9, time.time_ns() + 10**9))

    def other_writer() -> None:
        rows = stage.snapshot()
        if rows.version is None:
            raise NotUnderstood("another writer needs a target with a seed")
        table = pa.table(_arrow(stage)).slice(0, 1)
        write_deltalake(stage.target, table, mode="append")

    def add_input() -> None:
        first = next(p for p in sorted((stage.root / "input").rglob("*")) if p.is_file())
        shutil.copy(first, first.with_name("added-" + first.name))

    return {
        "audit read-only": lambda: make_read_only(stage.audit), "other writer": other_writer,
        "candidate changed": lambda: change_first(Path(stage.target + "__candidates"), "part-*.parquet"),
        "input changed": lambda: change_first(stage.root / "input", "*"), "input added": add_input,
    }[fault.happening]  # fmt: skip


def _arrow(stage: Stage) -> Any:
    from deltalake import DeltaTable, QueryBuilder

    return QueryBuilder().register("t", DeltaTable(stage.target)).execute("SELECT * FROM t")


def _frame(stage: Stage) -> Any:
    """The candidate as a frame in memory, typed by the contract, its columns in the order of the file."""
    import duckdb

    from invaract_orchestration.engines.duckdb.types import duckdb_type

    types = {f.name: duckdb_type(f.type) for f in stage.contract().fields}
    with duckdb.connect() as connection:
        table = connection.read_csv(str(stage.case.inputs[0]), dtype=types).to_arrow_table()
    return sessions.classic().createDataFrame(table) if stage.engine == "spark" else table


@contextlib.contextmanager
def _settings(given: dict[str, str]) -> Iterator[None]:
    """Settings of the user's own session."""
    conf = sessions.classic().conf if given else None
    before = {name: conf.get(name, None) for name in given} if conf else {}
    for name, value in given.items():
        conf.set(name, value)  # type: ignore[union-attr]  # there are settings
    try:
        yield
    finally:
        for name, value in before.items():
            conf.set(name, value) if value is not None else conf.unset(name)  # type: ignore[union-attr]


@contextlib.contextmanager
def _zone(name: str | None) -> Iterator[None]:
    """The process's own time zone."""
    if name is None:
        yield
        return
    before = os.environ.get("TZ")
    os.environ["TZ"] = name
    time.tzset()
    try:
        yield
    finally:
        os.environ.pop("TZ")
        if before is not None:
            os.environ["TZ"] = before
        time.tzset()


