"""Retries, runs over several partitions, sensors, automation, advisory checks and the quarantine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import dagster as dg
import pytest
from pydantic import PrivateAttr

from dagster_defs import (
    BlockedGate,
    ContractGateResource,
    blocked_gate_sensor,
    build_contract_checks,
    contract_asset,
    gate_blocked_condition,
    quarantine_asset,
)
from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.wiring import open_gate
from tests.dagster.project import MONTHS, Project, failure_of, materialized, metadata_of
from tests.faults.test_changes import Before, down

pytestmark = pytest.mark.dagster


def retries(result: dg.ExecuteInProcessResult) -> int:
    return sum(e.is_step_up_for_retry for e in result.all_events)


def test_retry_policy_breach_is_tried_once(project: Project) -> None:
    result = project.run(project.asset(retry_policy=dg.RetryPolicy(max_retries=3)), "2013-02")
    assert not result.success
    assert retries(result) == 0


def test_retry_policy_store_that_comes_back_is_published_once(project: Project) -> None:
    lake = project.root / "lake"
    lake.write_text("a file where the store's folder has to be")
    tries = []

    @contract_asset(project.contract, partitions_def=months(), retry_policy=dg.RetryPolicy(max_retries=3))
    def orders() -> None:
        tries.append(1)
        if len(tries) == 3:
            lake.unlink()

    result = project.run(orders, "2013-01")
    assert result.success
    assert retries(result) == 2
    assert project.ids() == [1, 2]
    assert project.version() == 1


class Forgetful(ContractGateResource):
    """The audit store goes away right after the first commit, and is back for the next attempt."""

    _is_away: bool = PrivateAttr(default=True)

    def run(self, contract: Contract, *, tell: Callable[[str], None] = lambda _: None, **call: Any) -> GateResult:
        with open_gate(self.settings(), tell=tell) as gate:
            if self._is_away:
                self._is_away = False
                gate = replace(gate, audit=Before(gate.audit, "record_outcome", down))
            return gate.run(contract, **call)


def test_publication_that_is_not_on_record_fails_the_step_and_is_reported_by_the_retry(project: Project) -> None:
    resources = {"contract_gate": Forgetful(lake_root=str(project.root / "lake"))}
    asset = project.asset(retry_policy=dg.RetryPolicy(max_retries=1))
    result = dg.materialize([asset], resources=resources, partition_key="2013-01", instance=project.instance)
    assert result.success
    assert retries(result) == 1
    retried = next(e for e in result.all_events if e.is_step_up_for_retry)
    assert "its audit record is not" in retried.event_specific_data.error.cause.message
    assert materialized(result).count("orders") == 1
    assert metadata_of(result, "orders")["invaract/is_recorded"]
    assert project.version() == 1


def test_run_over_several_partitions_reports_each_under_its_own(project: Project) -> None:
    asset = project.asset(backfill_policy=dg.BackfillPolicy.single_run())
    tags = {"dagster/asset_partition_range_start": "2013-01", "dagster/asset_partition_range_end": "2013-04"}
    result = project.run(asset, tags=tags)
    assert not result.success
    assert "orders (2013-02): rejected" in failure_of(result)
    published = [e for e in result.get_asset_materialization_events() if e.asset_key == dg.AssetKey("orders")]
    versions = {e.partition: e.materialization.metadata["invaract/table_version"].value for e in published}
    assert versions == {"2013-01": 1, "2013-03": 2, "2013-04": 3}
    broken = {e.partition for e in result.get_asset_check_evaluations() if e.check_name == "amount__min" and not e.passed}
    assert broken == {"2013-02"}
    assert project.ids() == [1, 2, 5, 6]


def test_name_that_a_run_gives_stands_for_each_of_its_partitions(project: Project) -> None:
    asset = project.asset(backfill_policy=dg.BackfillPolicy.single_run())
    tags = {"dagster/asset_partition_range_start": "2013-03", "dagster/asset_partition_range_end": "2013-04"}
    first = project.run(asset, tags={**tags, "invaract/submission_id": "again"})
    assert first.success
    names = {
        e.partition: e.materialization.metadata["invaract/submission"].value
        for e in first.get_asset_materialization_events()
        if e.asset_key == dg.AssetKey("orders")
    }
    assert names == {"2013-03": "again.orders.2013-03", "2013-04": "again.orders.2013-04"}
    ids = project.ids()
    alone = project.run(asset, "2013-04", tags={"invaract/submission_id": "again"})
    assert alone.success
    assert project.ids() == ids


def test_blocked_gate_sensor_tells_of_a_breach_and_of_nothing_else(project: Project) -> None:
    told: list[BlockedGate] = []
    sensor = blocked_gate_sensor("blocked", on_blocked=lambda _, blocked: told.append(blocked))
    asset = project.asset()
    for month in ("2013-02", "missing"):
        if month == "missing":
            (project.root / "in/2013-03.csv").unlink()
        result = project.run(asset, "2013-02" if month == "2013-02" else "2013-03")
        context = dg.build_run_status_sensor_context(
            sensor_name="blocked", dagster_instance=project.instance, dagster_run=result.dagster_run,
            dagster_event=result.get_run_failure_event(),
        ).for_run_failure()  # fmt: skip
        sensor(context)
    assert [(b.asset, b.partition, b.reasons) for b in told] == [("orders", "2013-02", ("amount|min", "id|unique"))]
    assert told[0].run_id
    assert told[0].attempt_id


@pytest.mark.filterwarnings("ignore:Parameter `include_sources`")  # Dagster's own call
def test_gate_blocked_condition_fires_after_the_bad_run_alone(project: Project) -> None:
    @dg.asset(deps=["orders_candidate"], automation_condition=gate_blocked_condition("orders_candidate"), partitions_def=months())
    def alarm() -> None: ...

    @dg.asset(deps=["orders"], automation_condition=dg.AutomationCondition.eager(), partitions_def=months())
    def report() -> None: ...

    definitions = dg.Definitions(
        assets=[project.asset(), alarm, report], resources={"contract_gate": project.resource()}
    )

    def requested(cursor: dg.AssetDaemonCursor | None) -> tuple[set[tuple[str, str | None]], dg.AssetDaemonCursor]:
        result = dg.evaluate_automation_conditions(definitions, instance=project.instance, cursor=cursor)
        asked = {
            (key.to_user_string(), partition)
            for key in (dg.AssetKey("alarm"), dg.AssetKey("report"))
            for partition in result.get_requested_partitions(key)
        }
        return asked, result.cursor

    _, cursor = requested(None)
    project.run(project.asset(), "2013-01")
    after_good, cursor = requested(cursor)
    project.run(project.asset(), "2013-02")
    after_bad, _ = requested(cursor)
    assert after_good == {("report", "2013-01")}
    assert after_bad == {("alarm", "2013-02")}


def test_contract_checks_on_an_existing_asset_say_what_is_wrong_and_publish_nothing(project: Project) -> None:
    @dg.asset(partitions_def=months())
    def landed() -> None: ...

    checks = build_contract_checks(project.contract, landed, blocking=False, partitions_def=months())
    result = project.run([landed, checks], "2013-02")
    assert result.success
    broken = {
        e.check_name
        for e in result.get_asset_check_evaluations()
        if not e.passed and e.severity == dg.AssetCheckSeverity.ERROR
    }
    assert broken == {"amount__min", "id__unique"}
    assert project.ids() == []


def test_quarantine_asset_counts_by_rule_and_shows_no_row(project: Project) -> None:
    text = project.contract.read_text() + "quality: {on_row_failure: quarantine}\n"
    project.contract.write_text(text)
    project.write("2013-03", "id,amount,note\n5,1.00,a\n7,CANARY,a\n8,-1.00,a\n")
    quarantine = quarantine_asset(project.contract, partitions_def=months())
    result = project.run([project.asset(), quarantine], "2013-03")
    assert result.success
    assert materialized(result) == ["orders_candidate", "orders", "orders_quarantine"]
    told = metadata_of(result, "orders_quarantine")
    assert told["dagster/row_count"] == 2
    assert told["invaract/rows/amount|min"] == 1
    assert told["invaract/rows/amount|type"] == 1
    assert "CANARY" not in str(told)
    assert metadata_of(result, "orders")["invaract/rows_set_aside"] == 2


def months() -> dg.StaticPartitionsDefinition:
    return dg.StaticPartitionsDefinition(MONTHS)
