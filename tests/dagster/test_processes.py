"""Processes of their own: Dagster's command line, a process that is killed, and the audits that they leave."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from dagster_defs import ContractGateResource
from invaract_orchestration.audit.log import AttemptView
from invaract_orchestration.contract.load import load_contract
from invaract_orchestration.wiring import open_audit, open_gate
from tests.dagster.project import Project
from tests.dagster.served import environment

pytestmark = [pytest.mark.dagster, pytest.mark.slow]

DEFINITIONS = """
import os
import signal
import sys
from pathlib import Path

import dagster as dg
from dagster_defs import ContractGateResource, contract_asset

MONTHS = dg.StaticPartitionsDefinition(["2013-01", "2013-02", "2013-03", "2013-04"])


class KilledAfterPublishing(ContractGateResource):
    def run(self, contract, **call):
        result = super().run(contract, **call)
        if Path("kill").exists():
            os.kill(os.getpid(), signal.SIGKILL)
        return result


@contract_asset("orders.yaml", partitions_def=MONTHS)
def orders():
    ...

defs = dg.Definitions(assets=[orders], resources={"contract_gate": KilledAfterPublishing(lake_root="lake")})

if __name__ == "__main__":
    with dg.DagsterInstance.get() as instance:
        resources = {"contract_gate": KilledAfterPublishing(lake_root="lake")}
        result = dg.materialize([orders], partition_key="2013-01", instance=instance, resources=resources)
        records = instance.fetch_materializations(dg.AssetKey("orders"), limit=9).records
        versions = [r.asset_materialization.metadata["invaract/table_version"].value for r in records]
        checks = result.get_asset_check_evaluations()
        print("told", versions, len(checks), sum(c.passed for c in checks))
"""


@pytest.fixture
def file(project: Project) -> Path:
    path = project.root / "defs.py"
    path.write_text(DEFINITIONS)
    return path


def call(file: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*arguments], cwd=file.parent, env=environment(file.parent / "home"), capture_output=True, text=True, timeout=240,
        check=False,
    )  # fmt: skip


def test_killed_between_publish_and_end_of_step_then_retried_is_one_publication(file: Path) -> None:
    (file.parent / "kill").touch()
    killed = call(file, sys.executable, file)
    assert killed.returncode == -signal.SIGKILL
    assert DeltaTable(file.parent / "lake/orders").version() == 1
    (file.parent / "kill").unlink()
    retried = call(file, sys.executable, file)
    assert retried.returncode == 0, retried.stderr[-2000:]
    assert DeltaTable(file.parent / "lake/orders").version() == 1
    told = next(line for line in retried.stdout.splitlines() if line.startswith("told"))
    assert told == "told [1] 13 12"  # one publication; every check as the killed attempt judged it, the warning too


def test_dagster_asset_materialize_publishes_blocks_and_refuses_a_bypass(file: Path) -> None:
    program = Path(sys.executable).with_name("dagster")

    def materialize(select: str, month: str) -> subprocess.CompletedProcess[str]:
        return call(file, program, "asset", "materialize", "-f", file, "--select", select, "--partition", month)

    both = 'key:"orders_candidate" or key:"orders"'
    assert materialize(both, "2013-03").returncode == 0
    assert materialize(both, "2013-02").returncode != 0
    alone = materialize('key:"orders"', "2013-02")
    assert alone.returncode != 0
    assert "DagsterInvalidSubsetError" in alone.stderr
    table = DeltaTable(file.parent / "lake/orders")
    assert table.version() == 1
    assert table.to_pyarrow_table()["id"].to_pylist() == [5]


def test_same_submissions_through_dagster_and_the_gate_leave_equal_audits(project: Project) -> None:
    asset = project.asset()
    for month in ("2013-01", "2013-02"):
        project.run(asset, month)
    through_dagster = audits(project)
    (project.root / "lake").rename(project.root / "first")
    settings = ContractGateResource(lake_root=str(project.root / "lake")).settings()
    with open_gate(settings) as gate:
        for month in ("2013-01", "2013-02"):
            gate.run(load_contract(project.contract), parameters={"month": month})
    assert audits(project) == through_dagster
    assert [a["state"] for a in through_dagster] == ["published", "rejected"]


def audits(project: Project) -> list[dict[str, Any]]:
    """What the store holds, without ids of attempts, times, and by whom and where it ran."""
    settings = ContractGateResource(lake_root=str(project.root / "lake")).settings()
    with open_audit(settings, read_only=True) as audit:
        views = [audit.attempt(found.attempt.attempt_id) for found in reversed(audit.attempts())]
    return [_told(view) for view in views]


def _told(view: AttemptView) -> dict[str, Any]:
    verdict, outcome = view.verdict, view.outcome
    assert verdict is not None
    assert outcome is not None
    publication = outcome.publication
    return {
        "submission": view.submission, "state": view.state, "contract": view.attempt.contract_version,
        "results": verdict.results, "passed": verdict.passed, "digest": verdict.candidate_digest, "counts": outcome.counts,
        "code": outcome.code, "message": outcome.message, "steps": [event.state for event in view.events],
        "publication": publication and replace(publication, attempt_id="", committed_at=view.attempt.started_at.min),
    }  # fmt: skip
