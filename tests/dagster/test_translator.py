"""What Dagster is told of a contract, and gates in YAML whose names come near each other."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from dagster_defs import ContractGateComponent, ContractTranslator
from dagster_defs.component import Gate
from invaract_orchestration.contract.load import load_contract_text

pytestmark = pytest.mark.dagster

CONTRACT = "contract: {name}\nversion: '1.0.0'\nfields: [{{name: id, type: bigint}}, {{name: at, type: timestamp}}]\npublish: {{target: shop.{name}}}\n"


def spec(more: str) -> dg.AssetSpec:
    return ContractTranslator().get_asset_spec(load_contract_text(CONTRACT.format(name="orders") + more))


@pytest.mark.parametrize(
    ("freshness", "policy"),
    [
        ("expected_by: '06:30'", dg.FreshnessPolicy.cron(deadline_cron="30 6 * * *", lower_bound_delta=timedelta(days=1))),
        ("expected_by: '06:30', every: 6h", dg.FreshnessPolicy.cron(deadline_cron="30 6 * * *", lower_bound_delta=timedelta(hours=6))),
        ("expected_by: '06:30', every: 7d", dg.FreshnessPolicy.time_window(fail_window=timedelta(days=7))),
        ("every: 30d", dg.FreshnessPolicy.time_window(fail_window=timedelta(days=30))),
        ("every: 5s", dg.FreshnessPolicy.time_window(fail_window=timedelta(minutes=1))),
        ("expected_by: '00:00', every: 5s", dg.FreshnessPolicy.cron(deadline_cron="0 0 * * *", lower_bound_delta=timedelta(minutes=1))),
        ("column: at, max_age: 2d", dg.FreshnessPolicy.time_window(fail_window=timedelta(days=2))),
    ],
)
def test_every_expectation_of_a_contract_is_a_policy_that_dagster_takes(freshness: str, policy: dg.FreshnessPolicy) -> None:
    assert spec(f"freshness: {{{freshness}}}\n").freshness_policy == policy


def test_team_keeps_the_letters_of_its_language() -> None:
    assert spec("owner: {team: 'Größe & Preis', contact: a@example.org}\n").owners == ["team:Größe_Preis", "a@example.org"]


def component(folder: Path, *gates: dict[str, Any]) -> list[dg.AssetsDefinition]:
    made = ContractGateComponent(gates=[Gate(**gate) for gate in gates])
    return [asset for gate in made.gates for asset in made._assets(gate, folder, "contract_gate")]


def test_quarantine_of_a_table_that_is_called_candidate_stands_below_its_own(tmp_path: Path) -> None:
    (tmp_path / "loan.yaml").write_text(CONTRACT.format(name="loan_candidate"))
    assets = component(tmp_path, {"contract": "loan.yaml", "quarantine": True})
    above = {key.to_user_string(): [d.to_user_string() for d in asset.asset_deps[key]] for asset in assets for key in asset.keys}
    assert above["loan_candidate_quarantine"] == ["loan_candidate_candidate"]


def test_one_contract_and_one_producer_may_stand_behind_two_tables(tmp_path: Path) -> None:
    (tmp_path / "orders.yaml").write_text(CONTRACT.format(name="orders"))
    gates = [{"contract": "orders.yaml", "key": key} for key in ("north/orders", "south/orders")]
    gates += [{"contract": "orders.yaml", "key": key, "producer": "os:getcwd"} for key in ("north/made", "south/made")]
    definitions = dg.Definitions(assets=component(tmp_path, *gates), resources={"contract_gate": 1})
    dg.Definitions.validate_loadable(definitions)
    assert {key.to_user_string() for key in definitions.resolve_all_asset_keys()} >= {"north/orders", "south/orders", "north/made", "south/made"}
