"""Which batch a partition is: partitions that nothing tells apart, runs over several, runs with other assets, names by hand."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import dagster as dg
import pandas as pd
import pyarrow as pa
import pytest

from dagster_defs import contract_asset, op
from dagster_defs.slices import wanted_parameters
from invaract_orchestration.contract.load import load_contract
from tests.dagster.project import FILES, MONTHS, Project, failure_of, materialized

pytestmark = pytest.mark.dagster

TOTALS = """
contract: totals
version: "1.0.0"
fields: [{name: id, type: bigint, required: true}]
publish: {target: "./lake/totals", mode: append}
"""
REGIONS = dg.MultiPartitionsDefinition(
    {"month": dg.StaticPartitionsDefinition(["2013-01", "2013-03"]), "region": dg.StaticPartitionsDefinition(["north"])}
)
RANGE = {"dagster/asset_partition_range_start": "2013-01", "dagster/asset_partition_range_end": "2013-03"}


def months() -> dg.StaticPartitionsDefinition:
    return dg.StaticPartitionsDefinition(MONTHS)


def totals(project: Project, producer: Callable[..., Any], text: str = TOTALS, **given: Any) -> dg.AssetsDefinition:
    (project.root / "totals.yaml").write_text(text)

    @contract_asset(project.root / "totals.yaml", **{"partitions_def": months(), **given})
    def totals() -> Any:
        return producer()

    return totals


def numbers(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64())})


def test_parameters_that_are_the_same_for_every_partition_name_no_batch_of_files(project: Project) -> None:
    result = project.run(project.asset(parameters={"month": "2013-01"}), "2013-02")
    assert "the same for all of them" in failure_of(result)
    assert project.ids() == []


def test_parameters_that_are_the_same_for_every_partition_leave_returned_rows_apart(project: Project) -> None:
    text = TOTALS.replace("./lake/totals", "./lake/{country}")
    asset = totals(project, lambda: numbers(1), text, parameters={"country": "de"})
    assert [project.run(asset, month).success for month in ("2013-01", "2013-02", "2013-02")] == [True, True, True]
    assert project.ids("de") == [1, 1]


def test_parameters_that_are_the_same_for_every_partition_leave_queries_apart(project: Project) -> None:
    text = TOTALS.replace("./lake/totals", "./lake/{partition}")
    asset = totals(project, lambda: "select cast(1 as bigint) as id", text, parameters={"partition": "de"})
    assert [project.run(asset, month).success for month in ("2013-01", "2013-02", "2013-02")] == [True, True, True]
    assert project.ids("de") == [1, 1]


@pytest.mark.parametrize("parameters", [{"month": "{month}-{region}"}, {"month": "{partition}"}, lambda key: {"month": str(key)}])
def test_parameters_that_hold_every_dimension_tell_partitions_apart(project: Project, parameters: Any) -> None:
    project.write("2013-01-north", FILES["2013-01"])
    project.write("2013-01|north", FILES["2013-01"])
    key = dg.MultiPartitionKey({"month": "2013-01", "region": "north"})
    assert project.run(project.asset(partitions_def=REGIONS, parameters=parameters), key).success
    assert project.ids() == [1, 2]


def test_parameters_that_leave_out_a_dimension_are_refused(project: Project) -> None:
    key = dg.MultiPartitionKey({"month": "2013-01", "region": "north"})
    result = project.run(project.asset(partitions_def=REGIONS, parameters={"month": "{month}"}), key)
    assert "the same for all of them" in failure_of(result)
    assert project.ids() == []


def test_parameters_that_miss_a_placeholder_are_refused_at_definition(project: Project) -> None:
    with pytest.raises(dg.DagsterInvalidDefinitionError, match="nothing gives the parameters month"):
        project.asset(parameters={"mnth": "{partition}"})


def test_parameter_that_is_no_text_is_refused_by_the_gates_own_words(project: Project) -> None:
    result = project.run(project.asset(parameters=lambda key: {"month": 2013}), "2013-01")
    assert "is of type int, and only a text is taken" in failure_of(result)


def test_placeholder_of_a_link_is_one_of_the_contract(project: Project) -> None:
    text = TOTALS + 'links: [{name: codes, location: "ref/{day}.csv"}]\n'
    (project.root / "totals.yaml").write_text(text)
    assert wanted_parameters(load_contract(project.root / "totals.yaml")) == ("day",)


def test_asset_without_partitions_in_the_run_of_a_partition_is_one_batch(project: Project) -> None:
    @dg.asset(partitions_def=months())
    def landed() -> None: ...

    asset = totals(project, lambda: numbers(1), partitions_def=None, deps=[landed])
    first, second = (project.run([landed, asset], month) for month in ("2013-01", "2013-02"))
    assert materialized(first) == ["landed", "totals_candidate", "totals"]
    assert materialized(second) == ["landed"]
    assert project.ids("totals") == [1]


def test_partition_whose_rows_cannot_be_had_does_not_hold_back_the_others(project: Project) -> None:
    rows = {"2013-01": pd.DataFrame({"id": ["CANARY", 1]}), "2013-03": numbers(3)}
    result = project.run(totals(project, lambda: rows, backfill_policy=dg.BackfillPolicy.single_run()), tags=RANGE)
    assert not result.success
    assert failure_of(result).splitlines() == [
        "2013-01: the rows that were returned could not be written down: ArrowTypeError",
        "Hint: cast columns of mixed types, and times finer than a microsecond, before returning them",
        "2013-02: the dict that was returned has no rows of '2013-02'",
    ]
    published = [e.partition for e in result.get_asset_materialization_events() if e.asset_key == dg.AssetKey("totals")]
    assert published == ["2013-03"]
    assert project.ids("totals") == [3]


def test_one_frame_for_several_partitions_is_refused_before_any_is_published(project: Project) -> None:
    asset = totals(project, lambda: numbers(1), backfill_policy=dg.BackfillPolicy.single_run())
    result = project.run(asset, tags=RANGE)
    assert "needs the rows of each" in failure_of(result)
    assert project.ids("totals") == []


def test_dict_of_rows_serves_a_single_partition_too(project: Project) -> None:
    asset = totals(project, lambda: {"2013-01": numbers(1), "2013-02": numbers(2)})
    assert project.run(asset, "2013-02").success
    assert project.ids("totals") == [2]


def test_name_that_a_run_gives_stands_for_each_of_its_assets(project: Project) -> None:
    odd = dg.StaticPartitionsDefinition(["north / south"])
    first = project.asset(partitions_def=odd, parameters=lambda _: {"month": "2013-01"})
    second = totals(project, lambda: numbers(1), key=["shop", "totals"], partitions_def=odd, parameters=lambda _: {"country": "de"},
                    text=TOTALS.replace("./lake/totals", "./lake/{country}"))
    result = project.run([first, second], "north / south", tags={"invaract/submission_id": "again"})
    assert result.success
    names = {
        e.asset_key.to_user_string(): e.materialization.metadata["invaract/submission"].value.rpartition(".")
        for e in result.get_asset_materialization_events()
        if e.asset_key
    }
    assert (names["orders"][0], names["shop/totals"][0]) == ("again.orders", "again.shop.totals")
    assert names["orders"][2] == names["shop/totals"][2]
    assert re.fullmatch("x[0-9a-f]{12}", names["orders"][2])


def test_publication_is_reported_once_however_many_came_after_it(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(op, "_PAGE", 2)
    found: list[int] = []
    asset = totals(project, lambda: numbers(*found), partitions_def=None)
    for number in range(1, 6):
        found[:] = [number]
        assert "totals" in materialized(project.run(asset, tags={"invaract/supersede": "true"}))
    found[:] = [1]
    again = project.run(asset)
    assert again.success
    assert materialized(again) == []
    assert project.version("totals") == 5
