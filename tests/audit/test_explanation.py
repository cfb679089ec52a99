"""What `explain` says is compared with what a run really does."""

from __future__ import annotations

from pathlib import Path

from invaract_orchestration.audit.explanation import expected_evidence, explain
from invaract_orchestration.contract.load import load_contract
from invaract_orchestration.intake.batch import Batch
from invaract_orchestration.settings import read_settings
from invaract_orchestration.wiring import open_gate

CONTRACT = """
contract: orders
version: "1.0.0"
source: {location: orders.csv}
fields:
  - {name: id, type: int, required: true, unique: true}
  - {name: amount, type: "decimal(10,2)", min: 0}
  - {name: day, type: date, max: 2030-01-01}
  - {name: code, type: string, pattern: "[A-Z]+", allowed: [A, B]}
quality:
  row_rules: [{name: cheap, sql: "amount < 100", null_is: pass}]
  dataset_rules: [{name: volume, row_count: {min: 1}}, {name: total, sql: "select sum(amount) from candidate", must_be: {at_least: 0}}]
publish: {target: lake.orders}
"""
QUERY = """
contract: totals
version: "1.0.0"
source: {format: sql, sql: "SELECT id, SUM(amount) AS total FROM orders GROUP BY id", inputs: {orders: lake.orders}}
fields: [{name: id, type: int}, {name: total, type: "decimal(38,2)"}]
rules: [{type: required_group_by, columns: [id]}]
publish: {target: lake.totals, mode: overwrite}
"""


def test_expected_evidence_of_a_good_batch_is_what_its_results_rest_on(tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text("id,amount,day,code\n1,5.00,2026-01-01,A\n2,,,B\n")
    (tmp_path / "orders.yaml").write_text(CONTRACT)
    contract = load_contract(tmp_path / "orders.yaml")
    with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(tmp_path)})) as gate:
        result = gate.run(contract)
    assert result.state == "published"
    real = {c.check: c.evidence for c in result.checks if c.stage in ("rows", "keys", "dataset")}
    real.pop("batch|rows")
    assert dict(expected_evidence(contract)) == real


def test_explain_of_a_query_tells_lineage_and_what_changed_since_the_last_publication(tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text("id,amount,day,code\n1,5.00,2026-01-01,A\n")
    (tmp_path / "orders.yaml").write_text(CONTRACT)
    (tmp_path / "totals.yaml").write_text(QUERY)
    contract = load_contract(tmp_path / "totals.yaml")
    changed = contract.with_query("SELECT id, amount AS total FROM lake.orders")
    with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(tmp_path)})) as gate:
        assert gate.run(load_contract(tmp_path / "orders.yaml")).state == "published"
        result = gate.run(contract)
        assert result.state == "published", result.message
        published = [view for view in [gate.audit.attempt(result.attempt_id)] if view]  # type: ignore[attr-defined]
        with gate.engine.open(tmp_path / "scratch", lambda name, base: str(tmp_path / name.replace(".", "/"))) as session:
            batch = Batch(source=changed.source, query=changed.source.sql if changed.source else None)
            told = explain(changed, batch, session, published, gate.clock())
    assert told.is_blocked
    assert told.lineage["total"]["sources"] == ["orders.amount"]
    assert [line for line in told.drift if line.startswith("-")][1:] == ["-Aggregate", "-├─ Read(orders)", "-├─ GROUP BY id", "-└─ total = SUM(amount)"]
