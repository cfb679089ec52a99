"""Case folders about the task around the gate, played in Airflow by what their steps say. Nothing here knows a case's id."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.cases.conftest import case_folders
from tests.cases.labels import missing_rules
from tests.cases.sketch import Case, read_cases
from tests.cases.translate import Place, native_contract

WORDS = r"\b(airflow|dags?|xcom|logical date|trigger_rule|worker|mapped|expand|clear|map index)\b"
DAY = datetime(2026, 9, 1, tzinfo=UTC)
KILLED = """
import sys, json
from airflow.dag_processing.dagbag import DagBag
from datetime import datetime, UTC
DagBag(sys.argv[1]).dags["dying"].test(run_conf=json.loads(sys.argv[2]), logical_date=datetime(2026, 9, 1, tzinfo=UTC))
"""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "orchestrated" in metafunc.fixturenames:
        cases = [case for folder in case_folders(metafunc.config) for case in read_cases(folder)]
        ours = [c for c in cases if c.kind == "orchestration" and c.contracts and re.search(WORDS, said(c))]
        metafunc.parametrize("orchestrated", ours, ids=[case.id for case in ours])


def said(case: Case) -> str:
    return " ; ".join((case.title, *case.steps)).lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """The state of the gate's task after each run, and of what stands behind it."""

    gates: list[str]
    others: list[str]


class Player:
    """Plays one case: each kind of step is one method, found by the words of the steps."""

    def __init__(self, case: Case, lake: Any, contract: Path, run_dag: Callable[..., Any]) -> None:
        self.case, self.lake, self.contract, self.run_dag = case, lake, contract, run_dag
        self.played = Played(gates=[], others=[])

    def play(self) -> Played:
        words = said(self.case)
        for pattern, method in (
            (r"sigkill|killed", self.killed), (r"\bexpand\b|\bmapped\b", self.mapped), (r"trigger_rule=all_done", self.all_done),
            (r"retries=\d", self.retried), (r"logical date|clear", self.rerun),
        ):  # fmt: skip
            if re.search(pattern, words):
                method()
                return self.played
        pytest.skip(f"not understood: {words}")

    def killed(self) -> None:
        import json

        for dies in ("worker", ""):
            text = json.dumps(self.conf() | {"dies": dies})
            arguments = [sys.executable, "-W", "ignore", "-c", KILLED, Path(__file__).with_name("dags"), text]
            done = subprocess.run(arguments, capture_output=True, text=True, check=False, env=dict(os.environ))
            assert done.returncode == (-9 if dies else 0), done.stdout[-2000:] + done.stderr[-2000:]
        self.played.gates.append("success")

    def mapped(self) -> None:
        stems = sorted(path.stem for path in self.case.inputs)
        conf = self.conf(source=str(self.case.folder / "input" / "{part}.csv")) | {"parameters": {"parts": stems}}
        self.contract.write_text(self.contract.read_text().replace("batch.csv", "{part}.csv"))
        landing = self.lake.root.parent / "landed"
        shutil.copytree(self.case.folder / "input", landing)
        conf["source"] = str(landing / "{part}.csv")
        self.keep("gate_maps", conf)
        fixed = self.case.file("fixed")
        if fixed is not None:
            shutil.copytree(fixed, landing, dirs_exist_ok=True)
            self.keep("gate_maps", conf)

    def all_done(self) -> None:
        self.keep("gate_after_all", self.conf())

    def retried(self) -> None:
        self.keep("gate", self.conf())

    def rerun(self) -> None:
        times = re.findall(r"\d{4}-\d\d-\d\d(?:t\d\d:\d\d)?", said(self.case)) or [DAY.isoformat()]
        for time in [*times, *times[: 1 if len(times) == 1 else 0]]:
            self.keep("gate", self.conf(), datetime.fromisoformat(time.upper()).replace(tzinfo=UTC))

    def keep(self, dag_id: str, conf: dict[str, Any], date: datetime = DAY) -> None:
        ran = self.run_dag(dag_id, conf=conf, logical_date=date)
        for name, state in ran.tasks.items():
            (self.played.gates if name.startswith("gate") else self.played.others).append(state)

    def conf(self, source: str | None = None) -> dict[str, Any]:
        place = source or str(self.case.folder / "input" / "*.csv")
        return {"contract": str(self.contract), "source": place, "parameters": {}, "folder": str(self.lake.root.parent)}


def test_case_has_its_verdict_in_airflow(
    orchestrated: Case, lake: Any, run_dag: Callable[..., Any], attempts: Any, tmp_path: Path
) -> None:
    case, contract = orchestrated, tmp_path / "contract.yaml"
    text = native_contract(case.contracts[0].read_text(), Place(location=str(tmp_path / "landed" / "batch.csv"), target="out.table"))
    contract.write_text(text)

    played = Player(case, lake, contract, run_dag).play()

    found = attempts()
    blocked = [a for a in found if a.state == "rejected"]
    rows = lake.rows("out/table") if lake.version("out/table") is not None else []
    decisive = blocked[-1] if case.expected["verdict"] == "FAIL" else found[0]
    checks = decisive.verdict.results if decisive.verdict else ()
    # a publishing task that has no verdict of its own cannot be had here: it judges again, and is blocked by the rule itself
    assert missing_rules(case.expected["rule"], SimpleNamespace(code=decisive.outcome.code, checks=checks)) in (
        [], ["publish.no_passing_decision"],
    )  # fmt: skip
    if case.expected["verdict"] == "FAIL":
        assert "failed" in played.gates
    else:
        assert played.gates[-1] == "success"
    added = re.match(r"(\d+) (?:row|partition)s? added", str(case.expected["target"]))
    assert len(rows) == (int(added[1]) if added else 0)
    assert len({tuple(r.values()) for r in rows}) == len(rows)
