"""Cases of what goes wrong in an orchestrator: each input file is a partition, and a consumer stands behind the table.

Whatever a case is about, a bad partition fails once, shows its rule, publishes nothing and starts no consumer; a good one is
published once, however often it is run.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import dagster as dg
import pytest
from deltalake import DeltaTable

from dagster_defs import ContractGateResource, contract_asset
from tests.cases.conftest import case_folders
from tests.cases.sketch import Case, read_cases
from tests.cases.translate import Place, native_contract
from tests.dagster.project import materialized

pytestmark = pytest.mark.dagster


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    cases = [case for folder in case_folders(metafunc.config) for case in read_cases(folder)]
    chosen = [case for case in cases if case.kind == "orchestration" and case.contracts and case.inputs]
    metafunc.parametrize("case", chosen, ids=[case.id for case in chosen])


def test_case_through_dagster_fails_once_or_is_published_once(case: Case, tmp_path: Path) -> None:
    partitions = [path.stem for path in case.inputs]
    shutil.copytree(case.folder / "input", tmp_path / "input")
    place = Place(location=f"input/{{part}}{case.inputs[0].suffix}", target="./lake/table")
    (tmp_path / "contract.yaml").write_text(native_contract(case.contracts[0].read_text(encoding="utf-8"), place))
    all_of_them = dg.StaticPartitionsDefinition(partitions)

    @contract_asset(
        tmp_path / "contract.yaml", key="gated", partitions_def=all_of_them, retry_policy=dg.RetryPolicy(max_retries=3)
    )
    def gated() -> None: ...

    @dg.asset(deps=["gated"], partitions_def=all_of_them)
    def consumer() -> None: ...

    def run(partition: str) -> dg.ExecuteInProcessResult:
        return dg.materialize(
            [gated, consumer], partition_key=partition, raise_on_error=False, instance=instance,
            resources={"contract_gate": ContractGateResource(lake_root=str(tmp_path / "lake"))},
        )  # fmt: skip

    with dg.DagsterInstance.ephemeral() as instance:
        first = {partition: run(partition) for partition in partitions}
        failed = {partition for partition, result in first.items() if not result.success}
        assert bool(failed) == (case.expected["verdict"] == "FAIL")
        for partition in failed:
            assert "gated" not in materialized(first[partition])
            assert "consumer" not in materialized(first[partition])
            assert not any(event.is_step_up_for_retry for event in first[partition].all_events)
            assert _check_of(str(case.expected["rule"])) in _blocking(first[partition])
        good = len(partitions) - len(failed)
        assert _version(tmp_path) == (good or None)
        for fixed in sorted((case.folder / "fixed").glob("*")):
            shutil.copy(fixed, tmp_path / "input" / fixed.name)
        again = {partition: run(partition) for partition in partitions}
        mended = {partition for partition in failed if (case.folder / "fixed" / f"{partition}{case.inputs[0].suffix}").exists()}
        assert {partition for partition, result in again.items() if not result.success} == failed - mended
        assert {partition for partition, result in again.items() if "gated" in materialized(result)} == mended
        assert _version(tmp_path) == (good + len(mended) or None)


def _check_of(rule: str) -> str:
    """`row.required v` is the check `v__required`; what is no rule on rows shows in the verdict."""
    name, _, column = rule.partition(" ")
    return f"{column}__{name.removeprefix('row.')}" if name.startswith("row.") else "gate__verdict"


def _blocking(result: dg.ExecuteInProcessResult) -> set[str]:
    checks = result.get_asset_check_evaluations()
    return {c.check_name for c in checks if not c.passed and c.severity == dg.AssetCheckSeverity.ERROR}


def _version(root: Path) -> int | None:
    """The table's version counts its publications; null when there is no table."""
    return DeltaTable(root / "lake/table").version() if (root / "lake/table").exists() else None
