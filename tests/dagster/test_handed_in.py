"""Rows that a producer returns: what they may be, and which submission they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dagster as dg
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dagster_defs import contract_asset
from tests.dagster.project import MONTHS, Project, failure_of, materialized, metadata_of

pytestmark = pytest.mark.dagster

CONTRACT = """
contract: totals
version: "1.0.0"
fields: [{name: id, type: bigint, required: true}, {name: total, type: bigint, min: 0}]
publish: {target: ./lake/totals, mode: append}
"""


class Size(dg.Config):
    rows: int = 1


class Step(dg.ConfigurableResource):  # type: ignore[type-arg]
    by: int = 10


def gated(project: Project, producer: Callable[[], Any], **given: Any) -> dg.AssetsDefinition:
    (project.root / "totals.yaml").write_text(CONTRACT)

    @contract_asset(project.root / "totals.yaml", **given)
    def totals() -> Any:
        return producer()

    return totals


TABLE = pa.table({"id": pa.array([1, 2], pa.int64()), "total": pa.array([3, None], pa.int64())})


@pytest.mark.parametrize(
    "producer",
    [
        pytest.param(lambda: TABLE, id="pyarrow"),
        pytest.param(lambda: pl.DataFrame(TABLE), id="polars"),
        pytest.param(lambda: pl.DataFrame(TABLE).lazy(), id="polars lazy"),
        pytest.param(lambda: pd.DataFrame({"id": [1, 2], "total": pd.array([3, None], "Int64")}), id="pandas"),
        pytest.param(lambda: duckdb.from_arrow(TABLE), id="duckdb"),
        pytest.param(lambda: "select id + 1 as id, cast(null as bigint) as total from range(2)", id="sql"),
    ],
)
def test_handed_in_rows_are_published_and_leave_no_copy(project: Project, producer: Callable[[], Any]) -> None:
    result = project.run(gated(project, producer))
    assert result.success
    assert project.ids("totals") == [1, 2]
    assert list((project.root / "lake").rglob("rows*.parquet")) == []


def test_handed_in_bad_rows_are_rejected(project: Project) -> None:
    result = project.run(gated(project, lambda: pa.table({"id": [1], "total": [-5]})))
    assert not result.success
    assert "total|min" in failure_of(result)
    assert project.ids("totals") == []


def test_handed_in_same_rows_again_are_one_publication(project: Project) -> None:
    asset = gated(project, lambda: TABLE)
    assert project.run(asset).success
    assert project.run(asset).success
    assert project.version("totals") == 1


def test_handed_in_other_rows_for_one_partition_are_a_correction(project: Project) -> None:
    months = dg.StaticPartitionsDefinition(MONTHS)
    assert project.run(gated(project, lambda: TABLE, partitions_def=months), "2013-01").success
    other = gated(project, lambda: TABLE.slice(1), partitions_def=months)
    again = project.run(other, "2013-01")
    assert "published before with another content" in failure_of(again)
    assert project.run(other, "2013-02").success
    assert project.ids("totals") == [1, 2, 2]


def test_handed_in_sql_over_declared_tables_is_published(project: Project) -> None:
    assert project.run(project.asset(), "2013-01").success
    text = CONTRACT.replace("fields:", "source: {format: sql, sql: unused, inputs: {orders: ./lake/orders}}\nfields:")
    (project.root / "totals.yaml").write_text(text)

    @contract_asset(project.root / "totals.yaml", deps=["orders"])
    def totals() -> str:
        return "select id, cast(count(*) as bigint) as total from orders group by id"

    result = project.run(totals)
    assert result.success
    assert project.ids("totals") == [1, 2]
    lineage = metadata_of(result, "totals_candidate")["dagster/column_lineage"].deps_by_column
    assert {column: [(d.asset_key.path, d.column_name) for d in deps] for column, deps in lineage.items()} == {
        "id": [(["orders"], "id")]
    }


def test_handed_in_what_holds_no_rows_is_refused_without_a_retry(project: Project) -> None:
    result = project.run(gated(project, lambda: 3, retry_policy=dg.RetryPolicy(max_retries=2)))
    assert "which holds no rows" in failure_of(result)
    assert not any(e.is_step_up_for_retry for e in result.all_events)


def test_handed_in_mixed_types_fail_without_their_values(project: Project) -> None:
    mixed = pd.DataFrame({"id": ["CANARY", 1], "total": [1, 2]})
    result = project.run(gated(project, lambda: mixed))
    assert not result.success
    assert "could not be written down" in failure_of(result)
    assert all("CANARY" not in entry.to_json() for entry in project.instance.all_logs(result.run_id))


@pytest.mark.parametrize(
    "producer",
    [
        pytest.param(lambda: pl.LazyFrame({"id": ["CANARY"], "total": [1]}).with_columns(pl.col("id").cast(pl.Int64)), id="polars"),
        pytest.param(lambda: duckdb.sql("select cast(x as bigint) as id, 1 as total from (values ('CANARY')) as t(x)"), id="duckdb"),
        pytest.param(lambda: pd.DataFrame({"id": [2**70], "total": [1]}), id="pandas"),
    ],
)
def test_handed_in_rows_that_cannot_be_computed_fail_without_their_values(project: Project, producer: Callable[[], Any]) -> None:
    result = project.run(gated(project, producer))
    assert not result.success
    assert "could not be written down" in failure_of(result)
    logged = "".join(entry.to_json() for entry in project.instance.all_logs(result.run_id))
    assert "CANARY" not in logged
    assert str(2**70) not in logged


def test_producer_inputs_resources_and_config_are_given_as_written(project: Project) -> None:
    (project.root / "totals.yaml").write_text(CONTRACT)

    @dg.asset
    def first() -> int:
        return 7

    @contract_asset(project.root / "totals.yaml")
    def totals(context: dg.AssetExecutionContext, first: int, config: Size, step: Step) -> pa.Table:
        context.log.info("made")
        return pa.table({"id": [first, first + step.by][: config.rows], "total": [0, 0][: config.rows]})

    result = dg.materialize(
        [first, totals], instance=project.instance, run_config={"ops": {"totals": {"config": {"rows": 2}}}},
        resources={"contract_gate": project.resource(), "step": Step()},
    )  # fmt: skip
    assert materialized(result) == ["first", "totals_candidate", "totals"]
    assert project.ids("totals") == [7, 17]


def test_function_that_is_returned_gets_the_good_rows_of_the_source(project: Project) -> None:
    text = (project.root / "orders.yaml").read_text()
    (project.root / "orders.yaml").write_text(text + "quality: {on_row_failure: quarantine}\n")

    @contract_asset(project.contract, partitions_def=dg.StaticPartitionsDefinition(MONTHS))
    def orders() -> Any:
        return lambda connection, rows: rows.filter("id <> 2")

    assert project.run(orders, "2013-01").success
    assert project.run(orders, "2013-01").success
    assert project.ids() == [1]
    assert project.run(orders, "2013-02").success
    assert project.ids() == [1, 3, 4]
