"""Rows handed in hide what made them: a plan rule on them is unverifiable, never kept."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from invaract_orchestration.contract.load import load_contract
from invaract_orchestration.settings import read_settings
from invaract_orchestration.wiring import open_gate


def test_plan_rule_on_rows_handed_in_is_unverifiable_and_blocks(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(
        'contract: c\nversion: "1.0.0"\nfields: [{name: id, type: bigint}]\n'
        "rules: [{type: forbid_cross_join}, {type: required_group_by, columns: [id]}]\npublish: {target: lake.c}\n"
    )
    with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(tmp_path)})) as gate:
        result = gate.run(load_contract(tmp_path / "c.yaml"), frame=pa.table({"id": [1]}), submission_id="b-1")
    assert result.state == "rejected"
    assert {c.check: c.outcome for c in result.checks if c.stage == "plan"} == {
        "plan|forbid_cross_join": "unverifiable", "plan|required_group_by": "unverifiable",
    }  # fmt: skip
    assert not (tmp_path / "lake" / "c").exists()
