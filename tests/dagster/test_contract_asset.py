"""A gated asset in one process: what a good and a bad batch leave behind."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest
from deltalake import DeltaTable

from dagster_defs import ContractGateResource, contract_asset

pytestmark = pytest.mark.dagster

CONTRACT = """
contract: orders
version: "1.0.0"
source: {location: "in/{month}.csv"}
fields:
  - {name: id, type: bigint, required: true, unique: true}
  - {name: amount, type: "decimal(10,2)", required: true, min: 0.01}
  - {name: note, type: string, max_length: 3, severity: warn}
publish: {target: ./lake/orders}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "orders.yaml").write_text(CONTRACT)
    (tmp_path / "in/2013-01.csv").write_text("id,amount,note\n1,1.00,a\n2,2.00,long one\n")
    (tmp_path / "in/2013-02.csv").write_text("id,amount,note\n3,1.00,a\n4,-2.00,b\n4,5.00,c\n")
    return tmp_path


def materialize(project: Path, month: str, selection: object = None) -> dg.ExecuteInProcessResult:
    @contract_asset(project / "orders.yaml", partitions_def=dg.StaticPartitionsDefinition(["2013-01", "2013-02"]))
    def orders() -> None: ...

    gate = ContractGateResource(lake_root=str(project / "lake"))
    return dg.materialize(
        [orders], resources={"contract_gate": gate}, partition_key=month, raise_on_error=False, selection=selection
    )


def rows(project: Path) -> list[int]:
    return sorted(DeltaTable(project / "lake/orders").to_pyarrow_table()["id"].to_pylist())


def test_contract_asset_good_month_is_published(project: Path) -> None:
    result = materialize(project, "2013-01")
    assert result.success
    assert rows(project) == [1, 2]
    checks = {c.check_name: c for c in result.get_asset_check_evaluations()}
    assert checks["amount__min"].passed
    assert not checks["note__max_length"].passed
    assert checks["note__max_length"].severity == dg.AssetCheckSeverity.WARN


def test_contract_asset_bad_month_blocks_and_leaves_the_target(project: Path) -> None:
    materialize(project, "2013-01")
    before = DeltaTable(project / "lake/orders").version()
    result = materialize(project, "2013-02")
    assert not result.success
    assert rows(project) == [1, 2]
    assert DeltaTable(project / "lake/orders").version() == before
    checks = result.get_asset_check_evaluations()
    failed = {c.check_name for c in checks if not c.passed and c.severity == dg.AssetCheckSeverity.ERROR}
    assert failed == {"amount__min", "id__unique"}
    assert {e.asset_key.to_user_string() for e in result.get_asset_materialization_events()} == {"orders_candidate"}


def test_contract_asset_published_alone_is_refused(project: Path) -> None:
    with pytest.raises(dg.DagsterInvalidDefinitionError) as refused:
        materialize(project, "2013-01", selection=["orders"])
    assert isinstance(refused.value.__cause__, dg.DagsterInvalidSubsetError)
    assert not (project / "lake/orders").exists()
