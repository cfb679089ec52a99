"""The same submissions through Airflow, Dagster and the command line leave the same audit, but for who, when and where."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CONTRACT = """
contract: orders
version: "1.2.0"
source: {format: csv, location: "landing/{part}.csv"}
fields:
  - {name: id, type: bigint, required: true}
  - {name: amount, type: "decimal(10,2)", required: true, min: "0.01"}
  - {name: note, type: string, max_length: 3, severity: warn}
quality: {on_row_failure: quarantine, max_quarantined: {percent: 50}}
keys: [{columns: [id], across: target}]
publish: {target: shop.orders, mode: append}
"""
FILES = {
    "good": ("1,1.00,a", "2,2.00,long one"),
    "aside": ("3,1.00,a", "4,-2.00,b", "5,5.00,c"),
    "bad": ("6,-1.00,a", "7,,b", "8,1.00,c"),
    "twice": ("1,1.00,a",),
    "cut": ("9,1.00",),
}
ORDER = (*FILES, "good")
"""The last one is there already."""
OWN = {"attempt_id", "started_at", "at", "committed_at", "host", "context", "granted_at"}
"""What says who, when and where."""


def through_airflow(contract: Path, part: str, run_dag: Callable[..., Any]) -> None:
    run_dag("gate_plain", conf={"contract": str(contract), "parameters": {"part": part}})


def through_dagster(contract: Path, part: str, _: Any) -> None:
    import dagster as dg

    from dagster_defs import ContractGateResource, contract_asset

    @contract_asset(contract, partitions_def=dg.StaticPartitionsDefinition(list(FILES)))
    def orders() -> None: ...

    resource = ContractGateResource(lake_root=os.environ["INVARACT_LAKE_ROOT"])
    with dg.DagsterInstance.ephemeral() as instance:
        dg.materialize(
            [orders], partition_key=part, instance=instance, raise_on_error=False, resources={"contract_gate": resource}
        )


def through_the_command_line(contract: Path, part: str, _: Any) -> None:
    command = [Path(sys.executable).with_name("invaract"), "run", contract, "--param", f"part={part}", "--quiet"]
    subprocess.run(command, capture_output=True, check=False)


def audited(attempts: list[Any]) -> list[Any]:
    """Everything that is recorded, the first attempt first."""
    return [without_own(dataclasses.asdict(view)) for view in reversed(attempts)]


def without_own(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_own(each) for name, each in value.items() if name not in OWN}
    return [without_own(each) for each in value] if isinstance(value, (list, tuple)) else value


@pytest.mark.dagster
def test_same_submissions_leave_equal_audits_whoever_runs_the_gate(
    lake: Any, run_dag: Callable[..., Any], attempts: Callable[[], list[Any]], tmp_path: Path
) -> None:
    contract = tmp_path / "orders.yaml"
    contract.write_text(CONTRACT)
    for part, rows in FILES.items():
        (tmp_path / "landing").mkdir(exist_ok=True)
        (tmp_path / "landing" / f"{part}.csv").write_text("\n".join(("id,amount,note", *rows)) + "\n")
    left: list[Any] = []
    tables: list[Any] = []
    for submit in (through_airflow, through_dagster, through_the_command_line):
        shutil.rmtree(lake.root, ignore_errors=True)
        for part in ORDER:
            submit(contract, part, run_dag)
        left.append(audited(attempts()))
        tables.append((lake.rows("shop/orders"), lake.version("shop/orders")))

    told = [(view["state"], view["outcome"]["code"]) for view in left[0]]
    assert told == [
        ("published", None), ("published", None), ("rejected", "batch|max_quarantined"), ("rejected", "id|unique"),
        ("rejected", "batch|rows"), ("published", "publish.already_done"),
    ]  # fmt: skip
    assert left[0] == left[1]
    assert left[0] == left[2]
    assert tables[0] == tables[1] == tables[2]
