"""Faults and what is true after each: nothing lost, nothing doubled, nothing leaked, and a complete audit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.faults.ground import AFTER_BOTH, CANARY, FIRST, Lake, attempt, in_process, race


@dataclass(frozen=True)
class Tally:
    """What became of a number of tries of one fault. `open` are attempts that the audit never settled."""

    fault: str
    tries: int = 0
    lost: int = 0
    doubled: int = 0
    leaked: int = 0
    open: int = 0

    @property
    def is_clean(self) -> bool:
        return self.tries > 0 and not (self.lost or self.doubled or self.leaked or self.open)


def kills(folder: Path, mode: str, step: int = 1) -> Tally:
    """kill -9 at every `step`-th point of a run, then the same submission again."""
    counted = Lake.make(folder / "count", mode, "quarantine")
    _publish_first(counted, mode)
    points = in_process(attempt, str(counted.root), "second", "count")["calls"]
    tries = lost = doubled = open_ = 0
    for point in range(1, points + 1, step):
        lake = Lake.make(folder / f"at-{point}", mode, "quarantine")
        _publish_first(lake, mode)
        killed = in_process(attempt, str(lake.root), "second", "kill", point)
        if killed is not None:
            raise AssertionError(f"{mode}: the run passed its point {point} of {points} alive")
        retried = in_process(attempt, str(lake.root), "second")
        tries += 1
        lost += retried["state"] != "published" or bool(missing(AFTER_BOTH[mode], in_process(Lake.rows, lake)))
        doubled += bool(missing(in_process(Lake.rows, lake), AFTER_BOTH[mode]))
        doubled += in_process(Lake.commits_of, lake, retried["submission"]) != 1
        open_ += in_process(unsettled, str(lake.root))
    return Tally(f"kill -9, {mode}", tries, lost, doubled, 0, open_)


def first_kills(folder: Path, mode: str, step: int = 1) -> Tally:
    """kill -9 at every `step`-th point of the run that creates the table."""
    counted = Lake.make(folder / "count", mode)
    points = in_process(attempt, str(counted.root), "first", "count")["calls"]
    tries = lost = doubled = open_ = 0
    wanted = tuple(sorted((i, v) for i, _, v in FIRST))
    for point in range(1, points + 1, step):
        lake = Lake.make(folder / f"at-{point}", mode)
        in_process(attempt, str(lake.root), "first", "kill", point)
        retried = in_process(attempt, str(lake.root), "first")
        found = in_process(Lake.rows, lake)
        tries += 1
        lost += retried["state"] != "published" or bool(missing(wanted, found))
        doubled += bool(missing(found, wanted)) or in_process(Lake.commits_of, lake, retried["submission"]) != 1
        open_ += in_process(unsettled, str(lake.root))
    return Tally(f"kill -9 while the table is made, {mode}", tries, lost, doubled, 0, open_)


def same_submission(folder: Path, mode: str, processes: int, tries: int) -> Tally:
    """Several processes offer one submission at the same time."""
    lost = doubled = open_ = 0
    for turn in range(tries):
        lake = Lake.make(folder / str(turn), mode, "quarantine")
        _publish_first(lake, mode)
        answers = race([(attempt, (str(lake.root), "second"), {})] * processes)
        if any(a is None for a in answers):
            raise AssertionError(f"{mode}: a racing process gave no answer")
        found = in_process(Lake.rows, lake)
        lost += bool(missing(AFTER_BOTH[mode], found)) or not any(a["state"] == "published" for a in answers)
        doubled += bool(missing(found, AFTER_BOTH[mode])) or in_process(Lake.commits_of, lake, answers[0]["submission"]) != 1
        open_ += in_process(unsettled, str(lake.root))
    return Tally(f"{processes} processes, one submission, {mode}", tries, lost, doubled, 0, open_)


def other_submissions(folder: Path, mode: str, processes: int, tries: int) -> Tally:
    """Several processes offer different submissions with rows of their own at the same time."""
    lost = doubled = open_ = 0
    for turn in range(tries):
        lake = Lake.make(folder / str(turn), mode)
        _publish_first(lake, mode)
        for n in range(processes):
            lake.land(f"own{n}", ((100 + n, "2026-01-02", n),))
        answers = race([(attempt, (str(lake.root), f"own{n}"), {}) for n in range(processes)])
        published = [n for n, a in enumerate(answers) if a is not None and a["state"] == "published"]
        for n in set(range(processes)) - set(published):  # a lost race says so, and may be tried again
            if answers[n] is None or answers[n]["state"] not in ("conflict",):
                lost += 1
                continue
            lost += in_process(attempt, str(lake.root), f"own{n}")["state"] != "published"
        found = in_process(Lake.rows, lake)
        wanted = tuple(sorted([*((i, v) for i, _, v in FIRST), *((100 + n, n) for n in range(processes))]))
        lost += bool(missing(wanted, found))
        doubled += bool(missing(found, wanted))
        open_ += in_process(unsettled, str(lake.root))
    return Tally(f"{processes} processes, own rows, {mode}", tries, lost, doubled, 0, open_)


def raising_commit(folder: Path, mode: str) -> Tally:
    """The store answers with an error after the commit has landed."""
    lake = Lake.make(folder / "after", mode)
    _publish_first(lake, mode)
    answer = in_process(attempt_with_raising_commit, str(lake.root))
    found = in_process(Lake.rows, lake)
    again = in_process(attempt, str(lake.root), "second")
    wrong = found != AFTER_BOTH[mode] or in_process(Lake.rows, lake) != AFTER_BOTH[mode]
    lost = answer["state"] != "published" or again["code"] != "publish.already_done" or wrong
    return Tally(f"error after the commit, {mode}", 1, int(lost), 0, 0, in_process(unsettled, str(lake.root)))


def canary(folder: Path, failure: str) -> Tally:
    """A bad value in every cell: it is in the quarantine and nowhere else."""
    lake = Lake.make(folder, "append", failure)
    lake.land("second", ((CANARY, CANARY, CANARY), (7, "2026-01-01", CANARY), (8, "2026-01-01", -7731)))
    _publish_first(lake, "append")
    answer = in_process(attempt, str(lake.root), "second")
    leaks = [CANARY in lake.texts(), CANARY in repr(answer), "-7731" in repr(answer).replace(CANARY, "")]
    return Tally(f"canary in every cell, {failure}", 1, 0, 0, sum(leaks))


# -- run in a process of their own


def unsettled(root: str) -> int:
    """How many attempts of the store are open; the next run would settle them, so one more is made first."""
    from invaract_orchestration.audit.reconcile import settle
    from invaract_orchestration.settings import read_settings
    from invaract_orchestration.wiring import open_gate

    with open_gate(read_settings({"INVARACT_LAKE_ROOT": root})) as gate:
        target = f"{root}/lake/orders"
        settle(gate.audit, gate.publisher, "orders", target, gate.clock)
        if gate.audit.verify():
            raise AssertionError("the audit's chain is broken")
        return len(gate.audit.unsettled("orders", target))


def attempt_with_raising_commit(root: str) -> dict[str, Any]:
    """A run whose commits raise after they landed, as a store does that answers 503 too late."""
    from deltalake import DeltaTable
    from deltalake.table import TableMerger

    from invaract_orchestration.engines.delta import rewrite

    def raising(function: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            answer = function(*args, **kwargs)
            if "__candidates" in str(getattr(args[0], "table_uri", "")):
                return answer  # a table beside the candidate's files is no publication
            raise OSError("503 Slow Down")

        return call

    DeltaTable.create_write_transaction = raising(DeltaTable.create_write_transaction)  # type: ignore[method-assign]
    TableMerger.execute = raising(TableMerger.execute)  # type: ignore[method-assign]
    rewrite.write_deltalake = raising(rewrite.write_deltalake)
    return attempt(root, "second")


def _publish_first(lake: Lake, mode: str) -> None:
    contract = "seed.yaml" if mode == "replace_where" else "orders.yaml"
    answer = in_process(attempt, str(lake.root), "first", contract=contract)
    if answer is None or answer["state"] != "published":
        raise AssertionError(f"{mode}: the first batch was not published: {answer}")


def missing(wanted: Any, found: Any) -> list[Any]:
    """What is in one and not in the other, each as often as it is."""
    left = list(found)
    absent = []
    for row in wanted:
        if row in left:
            left.remove(row)
        else:
            absent.append(row)
    return absent


def all_faults(folder: Path, *, step: int = 1) -> Iterator[Tally]:
    """Every fault in turn; `step` thins the points of the kills out."""
    for mode in AFTER_BOTH:
        yield kills(folder / f"kills-{mode}", mode, step)
    for mode in ("append", "append with constraints"):
        yield first_kills(folder / f"first-{mode}", mode, step)
    for mode in AFTER_BOTH:
        yield same_submission(folder / f"two-{mode}", mode, 2, 2)
    yield same_submission(folder / "eight", "append", 8, 2)
    for mode in ("append", "merge"):
        yield other_submissions(folder / f"own-{mode}", mode, 2, 2)
        yield other_submissions(folder / f"own8-{mode}", mode, 8, 1)
    for mode in AFTER_BOTH:
        yield raising_commit(folder / f"raise-{mode}", mode)
    for failure in ("reject", "quarantine"):
        yield canary(folder / f"canary-{failure}", failure)
