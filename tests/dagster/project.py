"""A small project: a contract, files for some months, a lake, a Dagster instance of its own, and what its runs told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
from deltalake import DeltaTable

from dagster_defs import ContractGateResource, contract_asset

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
MONTHS = ["2013-01", "2013-02", "2013-03", "2013-04"]
FILES = {
    "2013-01": "id,amount,note\n1,1.00,a\n2,2.00,long one\n",
    "2013-02": "id,amount,note\n3,1.00,a\n4,-2.00,b\n4,5.00,c\n",
    "2013-03": "id,amount,note\n5,1.00,a\n",
    "2013-04": "id,amount,note\n6,1.00,a\n",
}


@dataclass(frozen=True)
class Project:
    """A folder with a contract, its input and its lake."""

    root: Path
    instance: dg.DagsterInstance

    @property
    def contract(self) -> Path:
        return self.root / "orders.yaml"

    def write(self, month: str, text: str) -> None:
        (self.root / f"in/{month}.csv").write_text(text)

    def resource(self, **given: Any) -> ContractGateResource:
        return ContractGateResource(lake_root=str(self.root / "lake"), **given)

    def asset(self, **given: Any) -> dg.AssetsDefinition:
        """The asset whose rows the contract's own source gives."""

        @contract_asset(self.contract, **{"partitions_def": dg.StaticPartitionsDefinition(MONTHS), **given})
        def orders() -> None: ...

        return orders

    def run(self, assets: Any, partition: str | None = None, **given: Any) -> dg.ExecuteInProcessResult:
        assets = assets if isinstance(assets, list) else [assets]
        return dg.materialize(
            assets, resources={"contract_gate": self.resource()}, partition_key=partition, raise_on_error=False,
            instance=self.instance, **given,
        )  # fmt: skip

    def ids(self, table: str = "orders") -> list[int]:
        """The ids in the published table, in order; empty when there is none."""
        path = self.root / "lake" / table
        return sorted(DeltaTable(path).to_pyarrow_table()["id"].to_pylist()) if path.exists() else []

    def version(self, table: str = "orders") -> int:
        return DeltaTable(self.root / "lake" / table).version()


def materialized(result: dg.ExecuteInProcessResult) -> list[str]:
    """The assets that a run reported as materialised."""
    return [e.asset_key.to_user_string() for e in result.get_asset_materialization_events() if e.asset_key]


def metadata_of(result: dg.ExecuteInProcessResult, key: str) -> dict[str, Any]:
    """The metadata of one materialisation of a run, as plain values."""
    event = next(e for e in result.get_asset_materialization_events() if e.asset_key == dg.AssetKey.from_user_string(key))
    return {name: value.value for name, value in event.materialization.metadata.items()}


def failure_of(result: dg.ExecuteInProcessResult) -> str:
    """What a failed step said."""
    event = next(e for e in result.all_events if e.is_step_failure)
    told = event.step_failure_data.user_failure_data
    return str(told.description) if told is not None else str(event.step_failure_data.error)
