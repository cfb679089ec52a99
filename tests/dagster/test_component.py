"""Gates written as YAML, through `dg` as a user calls it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from deltalake import DeltaTable

from tests.dagster.project import CONTRACT, FILES

pytestmark = [pytest.mark.dagster, pytest.mark.slow]

PYPROJECT = """
[project]
name = "shop"
version = "0.1"
[tool.dg]
directory_type = "project"
[tool.dg.project]
root_module = "shop"
registry_modules = ["shop.components.*"]
"""
DEFINITIONS = """
from pathlib import Path
from dagster import definitions, load_from_defs_folder

@definitions
def defs():
    return load_from_defs_folder(path_within_project=Path(__file__).parent)
"""
DEFS = """
type: dagster_defs.ContractGateComponent
attributes:
  settings: {lake_root: "{{ env.SHOP_LAKE }}"}
  translation: {group_name: "{{ contract.owner.team if contract.owner else 'nobody' }}", metadata: {seen: "{{ contract.version }}"}}
  gates:
    - contract: orders.yaml
      key: shop/orders
      partitions: {type: static, partition_keys: ["2013-01", "2013-02"]}
      quarantine: true
    - {contract: totals.yaml, producer: "shop.rows:totals", deps: [shop/orders]}
"""
TOTALS = """
contract: totals
version: "1.0.0"
fields: [{name: id, type: bigint, required: true}]
publish: {target: shop.totals}
"""
ROWS = """
import pyarrow as pa

def totals():
    return pa.table({"id": [1]})
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    gates = folder / "src/shop/defs/gates"
    (gates / "in").mkdir(parents=True)
    (folder / "src/shop/components").mkdir()
    (folder / "pyproject.toml").write_text(PYPROJECT)
    for package in ("src/shop", "src/shop/components", "src/shop/defs"):
        (folder / package / "__init__.py").touch()
    (folder / "src/shop/definitions.py").write_text(DEFINITIONS)
    (folder / "src/shop/rows.py").write_text(ROWS)
    (gates / "defs.yaml").write_text(DEFS)
    (gates / "orders.yaml").write_text(CONTRACT.replace("./lake/orders", "shop.orders"))
    (gates / "totals.yaml").write_text(TOTALS)
    for month, text in FILES.items():
        (gates / f"in/{month}.csv").write_text(text)
    return folder


def dg(shop: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    home = shop.parent / "home"
    home.mkdir(exist_ok=True)
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\nnux: {enabled: false}\n")
    environment = {
        **os.environ, "DAGSTER_HOME": str(home), "SHOP_LAKE": str(shop.parent / "lake"), "PYTHONPATH": str(shop / "src"),
        "DG_CLI_DISABLE_TELEMETRY": "1", "DAGSTER_DISABLE_TELEMETRY": "1", "COLUMNS": "200",
    }  # fmt: skip
    program = Path(sys.executable).with_name("dg")
    return subprocess.run(
        [program, *arguments], cwd=shop, env=environment, capture_output=True, text=True, timeout=240, check=False
    )


def test_dg_scaffolds_checks_and_launches_what_the_yaml_says(shop: Path) -> None:
    made = dg(shop, "scaffold", "defs", "dagster_defs.ContractGateComponent", "returns")
    assert made.returncode == 0, made.stderr[-2000:]
    assert sorted(p.name for p in (shop / "src/shop/defs/returns").iterdir()) == ["contract.yaml", "defs.yaml"]
    checked = dg(shop, "check", "defs")
    assert checked.returncode == 0, checked.stdout[-2000:]
    both = dg(shop, "launch", "--assets", 'key:"shop/orders_candidate" or key:"shop/orders"', "--partition", "2013-01")
    assert both.returncode == 0, both.stderr[-2000:]
    assert DeltaTable(shop.parent / "lake/shop/orders").version() == 1
    alone = dg(shop, "launch", "--assets", 'key:"shop/orders"', "--partition", "2013-03")
    assert alone.returncode != 0
    assert "DagsterInvalidSubsetError" in alone.stderr + alone.stdout
    assert DeltaTable(shop.parent / "lake/shop/orders").version() == 1


def test_dg_refuses_a_contract_with_a_misspelt_key(shop: Path) -> None:
    contract = shop / "src/shop/defs/gates/orders.yaml"
    contract.write_text(contract.read_text().replace("fields:", "feilds:"))
    checked = dg(shop, "check", "defs")
    assert checked.returncode != 0
    assert "feilds" in checked.stderr + checked.stdout
    assert "fields" in checked.stderr + checked.stdout
