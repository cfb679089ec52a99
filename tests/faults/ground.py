"""The ground of the fault tests: a small lake, one contract per publish mode, and what is true after any fault and a retry."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CANARY = "CANARY-7731"

_CONTRACT = """
contract: orders
version: "1.0.0"
source: {{format: csv, location: "landing/{{batch}}.csv"}}
fields:
  - {{name: id, type: int, required: true, unique: true}}
  - {{name: day, type: date, required: true}}
  - {{name: v, type: int, min: 0}}
quality: {{on_row_failure: {failure}}}
publish: {publish}
"""
MODES: dict[str, str] = {
    "append": "{target: lake.orders, mode: append}",
    "append with constraints": "{target: lake.orders, mode: append, constraints: mirror}",
    "overwrite": "{target: lake.orders, mode: overwrite}",
    "replace_partitions": "{target: lake.orders, mode: replace_partitions, partition_by: [day]}",
    "replace_where": "{target: lake.orders, mode: replace_where, where: \"day = DATE'2026-01-02'\"}",
    "merge": "{target: lake.orders, mode: merge, keys: [id]}",
    "scd2": "{target: lake.orders, mode: scd2, keys: [id]}",
}
FIRST = ((1, "2026-01-01", 10), (2, "2026-01-02", 20))
SECOND = ((2, "2026-01-02", 21), (3, "2026-01-02", 30))
AFTER_BOTH: dict[str, tuple[tuple[int, int], ...]] = {
    "append": ((1, 10), (2, 20), (2, 21), (3, 30)),
    "append with constraints": ((1, 10), (2, 20), (2, 21), (3, 30)),
    "overwrite": ((2, 21), (3, 30)),
    "replace_partitions": ((1, 10), (2, 21), (3, 30)),
    "replace_where": ((1, 10), (2, 21), (3, 30)),
    "merge": ((1, 10), (2, 21), (3, 30)),
    "scd2": ((1, 10), (2, 20), (2, 21), (3, 30)),
}


@dataclass(frozen=True)
class Lake:
    """A folder with landing files, contracts and a target."""

    root: Path

    @classmethod
    def make(cls, root: Path, mode: str, failure: str = "reject") -> Lake:
        (root / "landing").mkdir(parents=True)
        publish = MODES[mode]
        (root / "orders.yaml").write_text(_CONTRACT.format(publish=publish, failure=failure))
        if mode == "replace_where":  # the first batch has a row outside of the predicate
            seed = MODES["append"]
            text = _CONTRACT.format(publish=seed, failure=failure).replace('"1.0.0"', '"0.9.0"')
            (root / "seed.yaml").write_text(text)
        lake = cls(root)
        lake.land("first", FIRST)
        lake.land("second", SECOND)
        return lake

    def land(self, name: str, rows: tuple[tuple[Any, ...], ...]) -> None:
        lines = ["id,day,v", *(",".join("" if v is None else str(v) for v in row) for row in rows)]
        (self.root / "landing" / f"{name}.csv").write_text("\n".join(lines) + "\n")

    @property
    def target(self) -> Path:
        return self.root / "lake" / "orders"

    def rows(self) -> tuple[tuple[int, int], ...]:
        from deltalake import DeltaTable, QueryBuilder

        if not (self.target / "_delta_log").is_dir():
            return ()
        found = QueryBuilder().register("t", DeltaTable(str(self.target))).execute("SELECT id, v FROM t").read_all()
        ids, values = (found.column(n).to_pylist() for n in ("id", "v"))
        return tuple(sorted(zip(ids, values, strict=True)))

    def version(self) -> int | None:
        from deltalake import DeltaTable

        return DeltaTable(str(self.target)).version() if (self.target / "_delta_log").is_dir() else None

    def commits_of(self, submission: str) -> int:
        from invaract_orchestration.engines.delta.inspect import table_history

        return sum(1 for c in table_history(str(self.target)) if c.commit and c.commit.submission == submission)

    def texts(self, *, without_quarantine: bool = True) -> str:
        """Everything that was written but landing files, candidates and the quarantine."""
        parts = []
        for path in self.root.rglob("*"):
            name = str(path.relative_to(self.root))
            hidden = name.startswith("landing") or "__candidates" in name or ("__quarantine" in name and without_quarantine)
            if path.is_file() and not hidden and not name.startswith("lake/orders/part-"):
                parts.append(path.read_bytes().decode("latin-1"))
        return "".join(parts)


def attempt(root: str, batch: str, wrap: str | None = None, at: int = 0, contract: str = "orders.yaml") -> dict[str, Any]:
    """One run of the gate in this process; `wrap` names how its publisher and audit are disturbed."""
    from invaract_orchestration.contract.load import load_contract
    from invaract_orchestration.gate import Gate
    from invaract_orchestration.settings import read_settings
    from invaract_orchestration.wiring import open_gate

    settings = read_settings({"INVARACT_LAKE_ROOT": root, "INVARACT_THREADS": "1"})
    said: list[str] = []
    with open_gate(settings, tell=said.append) as gate:
        calls = Calls(at)
        if wrap in ("kill", "count"):
            kill = wrap == "kill"
            watch_commits(calls, kill)
            gate = Gate(
                engine=Watched(gate.engine, calls, kill), publisher=Watched(gate.publisher, calls, kill),
                audit=Watched(gate.audit, calls, kill), waivers=gate.waivers, lake_root=gate.lake_root, tell=said.append,
            )  # fmt: skip
        result = gate.run(load_contract(Path(root) / contract), parameters={"batch": batch})
    return {
        "state": result.state, "exit": result.exit_code, "code": result.code, "message": result.message,
        "submission": result.submission_id, "said": said, "calls": calls.made, "text": repr(result),
    }  # fmt: skip


def watch_commits(calls: Calls, kill: bool) -> None:
    """In this process every step of a commit passes a point before it and one after it."""
    from deltalake import DeltaTable
    from deltalake.table import TableAlterer, TableMerger

    from invaract_orchestration.engines.delta import publish, rewrite

    def watched(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            calls.pass_by(kill)
            answer = function(*args, **kwargs)
            calls.pass_by(kill)
            return answer

        return call

    DeltaTable.create = watched(DeltaTable.create)  # type: ignore[method-assign]
    for owner, name in (
        (DeltaTable, "create_write_transaction"), (TableAlterer, "add_constraint"), (TableMerger, "execute"),
        (rewrite, "write_deltalake"), (publish, "_link"),
    ):  # fmt: skip
        setattr(owner, name, watched(getattr(owner, name)))


class Calls:
    """Counts calls across all watched parts."""

    def __init__(self, at: int) -> None:
        self.made, self.at = 0, at

    def pass_by(self, kill: bool) -> None:
        self.made += 1
        if kill and self.made == self.at:
            os.kill(os.getpid(), signal.SIGKILL)


class Watched:
    """A part of the gate whose every call passes a point before it and one after it; at the chosen point the process dies."""

    def __init__(self, inner: Any, calls: Calls, kill: bool) -> None:
        self._inner, self._calls, self._kill = inner, calls, kill

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not callable(found):
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            self._calls.pass_by(self._kill)
            answer = found(*args, **kwargs)
            self._calls.pass_by(self._kill)
            return answer

        return call


def in_process(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The function's answer from a process of its own; None when that was killed."""
    return race([(function, args, kwargs)])[0]


def race(calls: list[tuple[Callable[..., Any], tuple[Any, ...], Mapping[str, Any]]]) -> list[Any]:
    """The answers of functions that run at the same time, each in a process of its own."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.faults.preload"])
    queues = [context.SimpleQueue() for _ in calls]
    children = [
        context.Process(target=_answer, args=(queue, *call)) for queue, call in zip(queues, calls, strict=True)
    ]
    for child in children:
        child.start()
    answers = []
    for child, queue in zip(children, queues, strict=True):
        child.join(180)
        answers.append(None if queue.empty() else queue.get())
    return answers


def _answer(queue: Any, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    queue.put(function(*args, **kwargs))
