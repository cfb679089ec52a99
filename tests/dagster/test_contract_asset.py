"""A gated asset in one process: what a good and a bad batch leave behind."""

from __future__ import annotations

import dagster as dg
import pyarrow as pa
import pytest
from deltalake import write_deltalake

from dagster_defs import contract_asset
from tests.dagster.project import FILES, Project, failure_of, materialized, metadata_of

pytestmark = pytest.mark.dagster


def test_contract_asset_good_month_is_published(project: Project) -> None:
    result = project.run(project.asset(), "2013-01")
    assert result.success
    assert project.ids() == [1, 2]
    assert materialized(result) == ["orders_candidate", "orders"]
    checks = {c.check_name: c for c in result.get_asset_check_evaluations()}
    assert checks["amount__min"].passed
    assert not checks["note__max_length"].passed
    assert checks["note__max_length"].severity == dg.AssetCheckSeverity.WARN


def test_contract_asset_bad_month_blocks_and_leaves_the_target(project: Project) -> None:
    asset = project.asset()
    project.run(asset, "2013-01")
    result = project.run(asset, "2013-02")
    assert not result.success
    assert project.ids() == [1, 2]
    assert project.version() == 1
    checks = result.get_asset_check_evaluations()
    failed = {c.check_name for c in checks if not c.passed and c.severity == dg.AssetCheckSeverity.ERROR}
    assert failed == {"gate__verdict", "amount__min", "id__unique"}
    assert {c.check_name for c in checks} == {spec.name for spec in asset.check_specs}
    assert materialized(result) == ["orders_candidate"]
    assert "rejected" in failure_of(result)


def test_contract_asset_downstream_of_a_blocked_one_does_not_start(project: Project) -> None:
    started = []

    @dg.asset(deps=["orders"], partitions_def=dg.StaticPartitionsDefinition(list(FILES)))
    def report() -> None:
        started.append(1)

    result = project.run([project.asset(), report], "2013-02")
    assert not result.success
    assert started == []


def test_contract_asset_broken_header_leaves_row_checks_unjudged(project: Project) -> None:
    project.write("2013-01", "id,note,amount\n1,a,1.00\n")
    result = project.run(project.asset(), "2013-01")
    checks = {c.check_name: c for c in result.get_asset_check_evaluations()}
    assert not checks["header"].passed
    assert checks["header"].severity == dg.AssetCheckSeverity.ERROR
    assert not checks["amount__min"].passed
    assert checks["amount__min"].severity == dg.AssetCheckSeverity.WARN
    assert checks["amount__min"].metadata["invaract/outcome"].value == "not judged"
    assert materialized(result) == []


def test_contract_asset_published_alone_is_refused(project: Project) -> None:
    with pytest.raises(dg.DagsterInvalidDefinitionError) as refused:
        project.run(project.asset(), "2013-01", selection=["orders"])
    assert isinstance(refused.value.__cause__, dg.DagsterInvalidSubsetError)
    assert project.ids() == []


def test_contract_asset_rerun_of_the_same_file_publishes_and_reports_nothing_new(project: Project) -> None:
    asset = project.asset()
    project.run(asset, "2013-01")
    again = project.run(asset, "2013-01")
    assert again.success
    assert materialized(again) == []
    assert project.version() == 1
    assert {c.check_name for c in again.get_asset_check_evaluations() if not c.passed} == {"note__max_length"}


def test_contract_asset_correction_in_append_mode_is_refused_unless_asked_for(project: Project) -> None:
    asset = project.asset()
    project.run(asset, "2013-01")
    project.write("2013-01", "id,amount,note\n9,1.00,a\n")
    again = project.run(asset, "2013-01")
    assert not again.success
    assert "published before with another content" in failure_of(again)
    assert project.ids() == [1, 2]
    asked = project.run(asset, "2013-01", tags={"invaract/supersede": "true"})
    assert asked.success
    assert project.ids() == [1, 2, 9]


def test_contract_asset_partition_with_a_path_in_it_is_refused_before_a_file_is_written(project: Project) -> None:
    asset = project.asset(partitions_def=dg.StaticPartitionsDefinition(["../../outside"]))
    result = project.run(asset, "../../outside")
    assert not result.success
    assert "is not allowed" in failure_of(result)
    assert not (project.root / "lake/orders__candidates").exists()


def test_contract_asset_metadata_names_version_submission_and_page(project: Project) -> None:
    asset = project.asset()
    result = dg.materialize(
        [asset], resources={"contract_gate": project.resource(ui_url="http://127.0.0.1:8099/")}, partition_key="2013-03",
        instance=project.instance,
    )  # fmt: skip
    published, candidate = metadata_of(result, "orders"), metadata_of(result, "orders_candidate")
    assert published["invaract/table_version"] == 1
    assert published["invaract/audit"] == f"http://127.0.0.1:8099/runs/{published['invaract/attempt']}"
    assert candidate["dagster/row_count"] == 1
    assert candidate["invaract/failed/amount|min"] == 0
    assert candidate["invaract/submission"] == published["invaract/submission"]


def test_contract_asset_metadata_holds_no_cell_value_and_stays_small(project: Project) -> None:
    lines = [f"{i},CANARY-{i},CANARY-note" for i in range(20_000)]
    project.write("2013-03", "\n".join(["id,amount,note", *lines]) + "\n")
    result = project.run(project.asset(), "2013-03")
    assert not result.success
    logged = [entry.to_json() for entry in project.instance.all_logs(result.run_id)]
    assert "CANARY" not in "".join(logged)
    assert max(len(text) for text in logged) < 48_000


@pytest.mark.parametrize("letters", ["amount", "Betragsgröße"])
def test_contract_asset_of_many_columns_has_small_events(project: Project, letters: str) -> None:
    names = [f"{letters}_{'x' * 60}_{number}" for number in range(300)]
    fields = "".join(f"  - {{name: {name}, type: bigint, required: true, allowed: [{number}, -1]}}\n" for number, name in enumerate(names))
    (project.root / "wide.yaml").write_text(
        f"contract: wide\nversion: '1.0.0'\nfields:\n{fields}publish: {{target: ./lake/wide, mode: overwrite}}\n"
        "source: {format: sql, sql: select * from raw, inputs: {raw: ./lake/raw}}\n"
    )

    def publish(value: int) -> dg.ExecuteInProcessResult:
        table = pa.table({name: pa.array([number if value else 7000], pa.int64()) for number, name in enumerate(names)})
        write_deltalake(project.root / "lake/raw", table, mode="overwrite")

        @contract_asset(project.root / "wide.yaml")
        def wide() -> None: ...

        return project.run(wide)

    good, bad = publish(1), publish(0)
    assert (good.success, bad.success) == (True, False)
    logged = [entry.to_json() for run in (good, bad) for entry in project.instance.all_logs(run.run_id)]
    assert max(len(text) for text in logged) < 48_000
    told = metadata_of(bad, "wide_candidate")
    assert told[f"invaract/failed/{names[0]}|allowed"] == 1
    assert told["invaract/outcomes"].records if hasattr(told["invaract/outcomes"], "records") else told["invaract/outcomes"]


def test_contract_asset_column_schema_says_what_is_promised(project: Project) -> None:
    asset = project.asset()
    columns = {c.name: c for c in asset.metadata_by_key[dg.AssetKey("orders")]["dagster/column_schema"].columns}
    assert columns["id"].constraints.unique
    assert not columns["amount"].constraints.nullable
    assert columns["amount"].constraints.other == [">= 0.01"]
    assert columns["amount"].type == "decimal(10,2)"


def test_contract_asset_placeholder_without_partitions_is_refused_at_definition(project: Project) -> None:
    with pytest.raises(dg.DagsterInvalidDefinitionError, match="nothing gives the parameters month"):
        project.asset(partitions_def=None)


def test_contract_asset_dimensions_fill_the_placeholders_of_their_names(project: Project) -> None:
    (project.root / "orders.yaml").write_text(project.contract.read_text().replace("in/{month}.csv", "in/{month}-{region}.csv"))
    project.write("2013-01-north", FILES["2013-01"])
    both = dg.MultiPartitionsDefinition(
        {"month": dg.StaticPartitionsDefinition(["2013-01"]), "region": dg.StaticPartitionsDefinition(["north"])}
    )
    result = project.run(project.asset(partitions_def=both), dg.MultiPartitionKey({"month": "2013-01", "region": "north"}))
    assert result.success
    assert project.ids() == [1, 2]


def test_contract_asset_parameters_are_made_from_the_partition(project: Project) -> None:
    days = dg.DailyPartitionsDefinition(start_date="2013-01-01", end_date="2013-01-05")
    asset = project.asset(partitions_def=days, parameters=lambda day: {"month": day[:7]})
    assert project.run(asset, "2013-01-02").success
    assert project.ids() == [1, 2]
