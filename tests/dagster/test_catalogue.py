"""The checks of a contract are known before any data is there, and every result of a run answers one of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dagster_defs import ContractGateResource
from dagster_defs.names import check_name
from invaract_orchestration.checks.catalogue import declared_checks, results_by_check
from invaract_orchestration.contract.load import load_contract

CONTRACT = """
contract: everything
version: "1.0.0"
source: {format: FORMAT, location: in.FORMAT}
fields:
  - {name: id, type: bigint, required: true, unique: true, min: 1, max: 9}
  - {name: code, type: string, not_blank: true, pattern: "[a-z]+", allowed: [a, b], min_length: 1, max_length: 2}
  - {name: part, type: "struct<zip:string>", fields: [{name: zip, type: string, required: true, severity: warn}]}
  - {name: day, type: date}
keys: [[id, code]]
quality:
  on_row_failure: quarantine
  row_rules: [{name: small, sql: "id < 100"}]
  dataset_rules: [{name: volume, row_count: {min: 1}}, {name: few_nulls, null_share: {column: code, max: 0.5}, severity: warn}]
publish: {target: ./lake/t, mode: replace_partitions, partition_by: [day], partition: {day: "2026-03-01"}}
"""
GOOD = '{"id": 1, "code": "a", "part": {"zip": "1"}, "day": "2026-03-01"}\n'
BAD = '{"id": 10, "code": "c", "part": {"zip": null}, "day": "2026-03-02"}\nnot json\n{"id": 1, "id": 1, "code": "a"}\n'


@pytest.mark.parametrize("text", [GOOD, GOOD + BAD, '{"other": 1}\n', ""])
def test_declared_checks_every_result_answers_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "c.yaml").write_text(CONTRACT.replace("FORMAT", "json"))
    (tmp_path / "in.json").write_text(text)
    contract = load_contract(tmp_path / "c.yaml")
    result = ContractGateResource(lake_root=str(tmp_path / "lake")).run(contract)
    assert result.checks
    assert set(results_by_check(contract, result.checks)) == {check.check for check in declared_checks(contract)}


def test_declared_checks_of_a_contract_are_listed_in_the_order_of_the_flow(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(CONTRACT.replace("FORMAT", "json"))
    assert [check.check for check in declared_checks(load_contract(tmp_path / "c.yaml"))] == [
        "schema", "row|structure", "batch|rows",
        "id|type", "id|required", "id|min", "id|max",
        "code|type", "code|not_blank", "code|allowed", "code|pattern", "code|min_length", "code|max_length",
        "part|type", "part.zip|type", "part.zip|required", "day|type", "small", "batch|max_quarantined",
        "id+code|unique", "id|unique", "volume", "few_nulls", "publish|placement", "target|constraints",
    ]  # fmt: skip


def test_check_name_ids_that_look_alike_have_names_of_their_own() -> None:
    ids = [
        "a|min", "a__min", "a+b|unique", "a___b|unique", "a_|min", "_a|min", "a|_min", "a.b|min", "a..b|min", "a b|min",
        "a-b|min", "A|min", "é|min", "|", "", "a" * 300, "a" * 301, "a+b.c|min", "x0123456789ab", "a|x0123456789ab",
    ]  # fmt: skip
    names = [check_name(each) for each in ids]
    assert len(set(names)) == len(ids)
    assert all(name.isascii() and name.replace("_", "a").isalnum() and len(name) <= 100 for name in names)
    assert names[0] == "a__min"
    assert names[2] == "a___b__unique"


def test_definitions_load_quickly_and_without_an_engine() -> None:
    heavy = {"pyspark", "duckdb", "deltalake", "pyarrow", "pandas", "polars", "airflow", "sqlalchemy.orm"}
    program = (
        "import sys, time; import dagster; ready = time.process_time(); import dagster_defs.definitions; "
        f"own = time.process_time() - ready; print(round(own, 2), *sorted({heavy} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    seconds, *loaded = run.stdout.split()
    assert loaded == []
    assert float(seconds) < 4
