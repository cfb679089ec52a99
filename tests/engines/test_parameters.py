"""Parameters of a submission, in what its publication replaces."""

from __future__ import annotations

from pathlib import Path

from invaract_orchestration.contract.load import load_contract
from invaract_orchestration.settings import read_settings
from invaract_orchestration.wiring import open_gate


def test_parameter_in_the_replaced_predicate_is_filled_in(tmp_path: Path) -> None:
    text = """
contract: days
version: "1.0.0"
source: {location: "{day}.csv"}
fields: [{name: id, type: int}, {name: day, type: date}]
publish: {target: lake.days, mode: replace_where, where: "day = DATE'{day}'"}
"""
    (tmp_path / "c.yaml").write_text(text)
    (tmp_path / "2026-01-01.csv").write_text("id,day\n1,2026-01-01\n")
    (tmp_path / "2026-01-02.csv").write_text("id,day\n2,2026-01-01\n")
    contract = load_contract(tmp_path / "c.yaml")
    with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(tmp_path)})) as gate:
        right = gate.run(contract, parameters={"day": "2026-01-01"})
        wrong = gate.run(contract, parameters={"day": "2026-01-02"})
    assert right.state == "published", right.message
    assert (wrong.state, [c.check for c in wrong.blocking]) == ("rejected", ["publish|replace_where"])
