"""A producer on Spark: its DataFrame stays lazy and is judged by its plan; a function it returns gets the source's good rows."""

from __future__ import annotations

from typing import Any

import dagster as dg
import pytest

from dagster_defs import contract_asset
from tests.dagster.project import MONTHS, Project, failure_of, metadata_of
from tests.spark import sessions

pytestmark = [
    pytest.mark.dagster, pytest.mark.spark, pytest.mark.filterwarnings("default"),
    pytest.mark.skipif(not sessions.HAS_JAVA, reason="the Spark engine needs Java, and none was found"),
]  # fmt: skip

TOTALS = """
contract: totals
version: "1.0.0"
fields: [{name: id, type: bigint, required: true}, {name: total, type: bigint, min: 0}]
rules: [{type: forbid_cross_join}]
publish: {target: ./lake/totals, mode: append}
"""


def run(project: Project, asset: Any, partition: str | None = None, engine: str = "spark") -> dg.ExecuteInProcessResult:
    return dg.materialize(
        [asset], resources={"contract_gate": project.resource(engine=engine)}, partition_key=partition, raise_on_error=False,
        instance=project.instance,
    )  # fmt: skip


def totals_of(project: Project, frame: Any, **given: Any) -> dg.AssetsDefinition:
    (project.root / "totals.yaml").write_text(TOTALS)

    @contract_asset(project.root / "totals.yaml", **given)
    def totals() -> Any:
        return frame

    return totals


def test_spark_frame_is_published_and_judged_by_its_plan(project: Project) -> None:
    spark = sessions.classic()
    good = spark.range(3).selectExpr("id", "id * 2 AS total")
    assert run(project, totals_of(project, good)).success
    assert project.ids("totals") == [0, 1, 2]
    crossed = spark.range(3).crossJoin(spark.range(2).toDF("total"))
    assert "plan|forbid_cross_join" in failure_of(run(project, totals_of(project, crossed)))
    assert project.ids("totals") == [0, 1, 2]


def test_spark_frame_of_a_partition_is_published_once(project: Project) -> None:
    frame = sessions.classic().range(2).selectExpr("id", "id AS total")
    asset = totals_of(project, frame, partitions_def=dg.StaticPartitionsDefinition(MONTHS))
    for partition in ("2013-01", "2013-01", "2013-02"):
        assert run(project, asset, partition).success
    assert project.ids("totals") == [0, 0, 1, 1]


def test_spark_frame_on_the_embedded_engine_is_refused_by_name(project: Project) -> None:
    frame = sessions.classic().range(2).selectExpr("id", "id AS total")
    failure = failure_of(run(project, totals_of(project, frame), engine="duckdb"))
    assert "a Spark DataFrame needs the Spark engine" in failure
    assert "engine: spark" in failure


def test_function_that_is_returned_gets_the_good_rows_of_the_source(project: Project) -> None:
    text = (project.root / "orders.yaml").read_text().replace("amount, type", "amount, phase: pre, type")
    (project.root / "orders.yaml").write_text(text + "quality: {on_row_failure: quarantine}\n")

    @contract_asset(project.contract, partitions_def=dg.StaticPartitionsDefinition(MONTHS))
    def orders() -> Any:
        return lambda session, rows: rows.where("id <> 5").selectExpr("id", "CAST(-amount AS DECIMAL(10,2)) AS amount", "note")

    assert run(project, orders, "2013-01").success
    assert project.ids() == [1, 2]
    lineage = metadata_of(run(project, orders, "2013-04"), "orders_candidate")
    assert project.ids() == [1, 2, 6]
    assert lineage
