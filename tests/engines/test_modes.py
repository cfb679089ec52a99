"""Every publish mode on a real Delta table: what changes, what stays, and what is refused."""

from __future__ import annotations

import datetime
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from invaract_orchestration.audit.result import GateResult
from tests.engines.lake import Lake, broken

FIELDS = "{name: id, type: int}\n{name: p, type: string}"
SCHEMA = pa.schema([("id", pa.int32()), ("p", pa.string())])
SEED = [{"id": 1, "p": "a"}, {"id": 2, "p": "b"}, {"id": 3, "p": None}]


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


def published(
    lake: Lake, text: str, publish: str, *, seed: list[dict[str, Any]] | None = SEED, schema: pa.Schema = SCHEMA,
    partition_by: list[str] | None = None, fields: str = FIELDS, more: str = "",
) -> GateResult:  # fmt: skip
    if seed is not None:
        write_deltalake(lake.target, pa.Table.from_pylist(seed, schema), partition_by=partition_by)
    lake.put({"x.csv": text})
    return lake.run(lake.contract(fields, publish=publish, more=more))


def ids(lake: Lake) -> list[Any]:
    return [row["id"] for row in lake.rows()]


def test_replaced_partition_leaves_the_others(lake: Lake) -> None:
    published(lake, "id,p\n9,a\n", "mode: replace_partitions, partition_by: [p]", partition_by=["p"])
    assert ids(lake) == [2, 3, 9]


def test_replaced_partition_of_a_table_without_partitions_is_refused(lake: Lake) -> None:
    result = published(lake, "id,p\n9,a\n", "mode: replace_partitions, partition: {p: a}")
    assert (result.state, result.code, ids(lake)) == ("failed", "publish.target_schema", [1, 2, 3])


def test_replaced_partition_alone_partitions_a_new_table(lake: Lake) -> None:
    published(lake, "id,p\n9,a\n", "mode: replace_partitions, partition: {p: a}", seed=None)
    assert DeltaTable(lake.target).metadata().partition_columns == ["p"]


def test_null_partition_value_in_a_replace_is_broken(lake: Lake) -> None:
    result = published(lake, "id,p\n9,\n", "mode: replace_partitions, partition_by: [p]", partition_by=["p"])
    assert (broken(result), ids(lake)) == ({"p|partition_null": 1}, [1, 2, 3])


@pytest.mark.parametrize(
    ("type_", "arrow", "old", "text"),
    [
        ("date", pa.date32(), datetime.date(2026, 1, 1), "2026-01-01"),
        ("boolean", pa.bool_(), True, "true"),
        ("decimal(5,2)", pa.decimal128(5, 2), Decimal("1.50"), "1.5"),
        ("bigint", pa.int64(), -7, "-7"),
        ("timestamp_ntz", pa.timestamp("us"), datetime.datetime(2026, 1, 1, 10), "2026-01-01T10:00:00"),
    ],
)
def test_partitions_of_every_type_are_replaced(lake: Lake, type_: str, arrow: Any, old: Any, text: str) -> None:
    schema = pa.schema([("id", pa.int32()), ("p", arrow)])
    result = published(
        lake, f"id,p\n9,{text}\n", "mode: replace_partitions, partition_by: [p]", partition_by=["p"], schema=schema,
        seed=[{"id": 1, "p": old}, {"id": 2, "p": None}], fields=f'{{name: id, type: int}}\n{{name: p, type: "{type_}"}}',
    )  # fmt: skip
    assert (result.state, ids(lake)) == ("published", [2, 9])
    assert {row["p"] for row in lake.rows()} == {old, None}


@pytest.mark.parametrize("value", ["a/b", "x=y", "50%", "a b", "2026-06-07 13:00:00", "é ü", '"a,b"', "a'b", "*", ".."])
def test_partition_values_are_read_back_exactly(lake: Lake, value: str) -> None:
    for number in ("first", "second"):
        lake.put({"x.csv": f"id,p\n1,{value}\n"})
        contract = lake.contract(FIELDS, publish="mode: replace_partitions, partition_by: [p]")
        assert lake.run(contract, submission_id=number).state == "published"
    assert lake.rows() == [{"id": 1, "p": value.strip('"')}]


@pytest.mark.parametrize("has_checkpoint", [False, True])
def test_partition_of_an_empty_text_is_replaced_and_the_one_without_a_value_stays(lake: Lake, has_checkpoint: bool) -> None:
    lake.put({"x.csv": 'id,p\n1,""\n2,\n3,a\n'})
    assert lake.run(lake.contract(FIELDS, publish="partition_by: [p]")).state == "published"
    if has_checkpoint:
        DeltaTable(lake.target).create_checkpoint()
    result = published(lake, 'id,p\n9,""\n', "mode: replace_partitions, partition_by: [p]", seed=None, more='version: "1.0.1"')
    assert result.state == "published"
    assert lake.rows() == [{"id": 2, "p": None}, {"id": 3, "p": "a"}, {"id": 9, "p": ""}]


@pytest.mark.parametrize(
    ("publish", "left"),
    [
        ("mode: append", [1, 2, 3]),
        ("mode: merge, keys: [id]", [1, 2, 3]),
        ("mode: replace_partitions, partition_by: [p]", [1, 2, 3]),
        ("mode: replace_partitions, partition: {p: a}", [2, 3]),
        ("mode: replace_where, where: \"p = 'a'\"", [2, 3]),
        ("mode: overwrite, allow_empty_overwrite: true", []),
    ],
)
@pytest.mark.parametrize("has_change_feed", [False, True])
def test_accepted_empty_batch_takes_out_what_it_stands_for_and_is_published_once(
    lake: Lake, publish: str, left: list[int], has_change_feed: bool
) -> None:
    configuration = {"delta.enableChangeDataFeed": str(has_change_feed).lower()}
    write_deltalake(lake.target, pa.Table.from_pylist(SEED, SCHEMA), partition_by=["p"], configuration=configuration)
    lake.put({"x.csv": "id,p\n"})
    contract = lake.contract(FIELDS, source="empty: accept", publish=publish)
    result, again = lake.run(contract), lake.run(contract)
    assert (result.state, again.code, ids(lake)) == ("published", "publish.already_done", left)
    assert DeltaTable(lake.target).version() == 1


def test_columns_of_the_target_keep_their_spelling(lake: Lake) -> None:
    schema = pa.schema([("ID", pa.int32()), ("P", pa.string())])
    published(
        lake, "id,p\n9,a\n", "mode: replace_partitions, partition_by: [p]", partition_by=["P"], schema=schema,
        seed=[{"ID": 1, "P": "a"}, {"ID": 2, "P": "b"}],
    )  # fmt: skip
    assert lake.rows() == [{"ID": 2, "P": "b"}, {"ID": 9, "P": "a"}]


def test_merge_updates_and_inserts_by_key(lake: Lake) -> None:
    published(lake, "id,p\n1,z\n9,y\n", "mode: merge, keys: [id]")
    assert lake.rows() == [{"id": 1, "p": "z"}, {"id": 2, "p": "b"}, {"id": 3, "p": None}, {"id": 9, "p": "y"}]


def test_merge_leaves_columns_that_the_contract_does_not_know(lake: Lake) -> None:
    schema = pa.schema([*SCHEMA, ("x", pa.string())])
    published(lake, "id,p\n1,z\n9,y\n", "mode: merge, keys: [id]", schema=schema, seed=[{"id": 1, "p": "a", "x": "kept"}])
    assert lake.rows() == [{"id": 1, "p": "z", "x": "kept"}, {"id": 9, "p": "y", "x": None}]


def test_replaced_predicate_takes_its_rows_alone(lake: Lake) -> None:
    published(lake, "id,p\n9,a\n", "mode: replace_where, where: \"p = 'a'\"")
    assert ids(lake) == [2, 3, 9]


MOMENTS = pa.schema([("id", pa.int32()), ("d", pa.date32()), ("ts", pa.timestamp("us", "UTC")), ("f", pa.float64())])
MOMENT_FIELDS = "{name: id, type: int}\n{name: d, type: date}\n{name: ts, type: timestamp}\n{name: f, type: double}"


def at(id_: int, day: int, f: float | None = 1.0) -> dict[str, Any]:
    return {
        "id": id_, "d": datetime.date(2026, 1, day), "f": f,
        "ts": datetime.datetime(2026, 1, day, 23, 59, 59, 999999, tzinfo=datetime.UTC),
    }  # fmt: skip


@pytest.mark.parametrize(
    "where",
    [
        "ts >= TIMESTAMP'2026-01-02 00:00:00' and ts < TIMESTAMP'2026-01-03 00:00:00'",
        "ts > TIMESTAMP'2026-01-02T00:59:59.999999+01:00' and ts <= TIMESTAMP'2026-01-03T00:59:59.999999+01:00'",
        "ts = cast('2026-01-02 23:59:59.999999' as timestamp)",
        "date(ts) = DATE'2026-01-02'",
        "date_trunc('day', ts) = TIMESTAMP'2026-01-02 00:00:00'",
        "dayofmonth(ts) = 2 and hour(ts) = 23 and minute(ts) = 59",
        "dayofweek(d) = 6",
        "d >= date_add(DATE'2026-01-01', 1) and d < DATE'2026-01-04' - interval 1 day",
        "not isnan(f) and length(cast(id as string)) = 2",
    ],
)
def test_replaced_predicate_of_times_takes_its_rows_alone(lake: Lake, where: str) -> None:
    seed = [at(1, 1, float("nan")), at(22, 2, None), at(3, 3, float("nan")), {"id": 4}]
    result = published(
        lake, "id,d,ts,f\n99,2026-01-02,2026-01-02T23:59:59.999999Z,\n", f'mode: replace_where, where: "{where}"',
        seed=seed, schema=MOMENTS, fields=MOMENT_FIELDS,
    )  # fmt: skip
    assert (result.state, ids(lake)) == ("published", [1, 3, 4, 99])


@pytest.mark.parametrize("where", ["d = current_date()", "d = curdate() and ts <= now()", "date(ts) = current_date()"])
def test_today_in_a_replaced_predicate_is_the_day_of_the_submission_in_its_zone(lake: Lake, where: str) -> None:
    lake.put({"x.csv": "id,d,ts,f\n99,2026-01-01,2026-01-01T12:00:00Z,\n"})
    write_deltalake(lake.target, pa.Table.from_pylist([at(1, 1), at(2, 2), {**at(3, 3), "d": datetime.date.today()}], MOMENTS))
    contract = lake.contract(
        MOMENT_FIELDS, publish=f'mode: replace_where, where: "{where}"', more="timezone: America/Los_Angeles"
    )
    now = datetime.datetime(2026, 1, 2, 5, tzinfo=datetime.UTC)
    result = replace(lake.gate, clock=lambda: now).run(contract)
    assert (result.state, ids(lake)) == ("published", [2, 3, 99])


def test_predicate_that_deltalake_cannot_ask_is_named_and_leaves_the_table(lake: Lake) -> None:
    result = published(
        lake, "id,d,ts,f\n99,2026-01-02,,\n", "mode: replace_where, where: \"date_add(d, 1) = DATE'2026-01-03'\"",
        seed=[at(1, 1), at(2, 2)], schema=MOMENTS, fields=MOMENT_FIELDS,
    )  # fmt: skip
    assert (result.state, result.code, ids(lake)) == ("failed", "engine.failed", [1, 2])
    assert result.message == "deltalake could not ask the target's rows for publish.where; nothing was published"


def test_row_outside_of_the_replaced_predicate_is_broken(lake: Lake) -> None:
    result = published(lake, "id,p\n9,a\n8,b\n7,\n", "mode: replace_where, where: \"p = 'a'\"")
    assert (broken(result), ids(lake)) == ({"publish|replace_where": 2}, [1, 2, 3])


@pytest.mark.parametrize(
    ("publish", "partition_by", "key", "text", "failed"),
    [
        ("mode: append", None, "[id]", "id,p\n1,z\n9,y\n", 1),
        ("mode: overwrite", None, "[id]", "id,p\n1,z\n", None),
        ("mode: merge, keys: [id]", None, "[id]", "id,p\n1,z\n", None),
        ("mode: merge, keys: [id]", None, "[p]", "id,p\n9,a\n", 1),
        ("mode: merge, keys: [id]", None, "[p]", "id,p\n1,a\n", None),
        ("mode: replace_partitions, partition_by: [p]", ["p"], "[id]", "id,p\n2,a\n", 1),
        ("mode: replace_partitions, partition_by: [p]", ["p"], "[id]", "id,p\n1,a\n", None),
        ("mode: replace_where, where: \"p = 'a'\"", None, "[id]", "id,p\n2,a\n", 1),
        ("mode: replace_where, where: \"p = 'a'\"", None, "[id]", "id,p\n1,a\n", None),
    ],
)
def test_key_across_the_target_is_judged_on_the_rows_that_stay(
    lake: Lake, publish: str, partition_by: list[str] | None, key: str, text: str, failed: int | None
) -> None:
    result = published(lake, text, publish, partition_by=partition_by, more=f"keys: [{{columns: {key}, across: target}}]")
    assert broken(result).get(f"{key[1:-1]}|unique") == failed
    assert result.state == ("rejected" if failed else "published")


def test_own_key_of_versions_is_no_key_of_the_rows_that_they_follow(lake: Lake) -> None:
    contract = lake.contract(FIELDS, publish="mode: scd2, keys: [id]", more="keys: [{columns: [id], across: target}]")
    for text in ("id,p\n1,a\n2,b\n", "id,p\n1,z\n2,b\n"):
        lake.put({"x.csv": text})
        result = lake.run(contract, supersede=True)
        assert result.state == "published", result
    assert sorted((row["id"], row["p"]) for row in lake.rows() if row["is_current"]) == [(1, "z"), (2, "b")]


def test_key_across_the_target_is_compared_after_its_normalisation(lake: Lake) -> None:
    fields = "{name: id, type: int}\n{name: p, type: string, normalize: [trim, lower]}"
    result = published(lake, "id,p\n9,A \n", "mode: append", fields=fields, more="keys: [{columns: [p], across: target}]")
    assert broken(result) == {"p|unique": 1}


@pytest.mark.parametrize(("nulls", "state"), [("fail", "rejected"), ("distinct", "published"), ("ignore", "published")])
def test_null_in_a_key_is_what_the_key_says(lake: Lake, nulls: str, state: str) -> None:
    result = published(lake, "id,p\n,x\n,y\n", "mode: append", more=f"keys: [{{columns: [id], nulls: {nulls}}}]")
    assert result.state == state


@pytest.mark.parametrize(("values", "failed"), [("NaN\nNaN\n0.0\n-0.0\n1.5", 4), ("NaN\n0.0\n1.5", None), ("-0.0\n0", 2)])
def test_float_keys_compare_nan_and_zero_by_value(lake: Lake, values: str, failed: int | None) -> None:
    lake.put({"x.csv": f"k\n{values}\n"})
    result = lake.run(lake.contract("{name: k, type: double, unique: true}"))
    assert broken(result).get("k|unique") == failed


def test_overwrite_keeps_constraints_and_properties(lake: Lake) -> None:
    schema = pa.schema([pa.field("id", pa.int32(), nullable=False), ("p", pa.string())])
    table = DeltaTable.create(lake.target, schema, configuration={"delta.appendOnly": "false"})
    write_deltalake(table, pa.Table.from_pylist([{"id": 1, "p": "a"}], schema), mode="append")
    DeltaTable(lake.target).alter.add_constraint({"positive": "id > 0"})
    before = DeltaTable(lake.target)
    published(lake, "id,p\n5,z\n", "mode: overwrite", seed=None)
    after = DeltaTable(lake.target)
    assert ids(lake) == [5]
    assert (after.schema(), after.metadata().configuration) == (before.schema(), before.metadata().configuration)


@pytest.mark.parametrize("text", ["id,p\n-1,z\n", "id,p\n,z\n"])
def test_row_that_the_table_refuses_is_no_data_failure(lake: Lake, text: str) -> None:
    write_deltalake(lake.target, pa.Table.from_pylist(SEED, SCHEMA))
    DeltaTable(lake.target).alter.add_constraint({"positive": "id > 0"})
    result = published(lake, text, "mode: append", seed=None)
    assert (result.state, result.code, ids(lake)) == ("failed", "publish.rejected_by_target", [1, 2, 3])
    assert "-1" not in result.message


def test_new_optional_column_is_added_where_that_is_agreed(lake: Lake) -> None:
    fields = FIELDS + "\n{name: z, type: string}"
    result = published(lake, "id,p,z\n9,a,q\n", "evolve: add_columns", fields=fields)
    assert result.state == "published"
    assert [row["z"] for row in lake.rows()] == [None, None, None, "q"]


@pytest.mark.parametrize("type_", ["boolean", "string", "decimal(5,2)", "date", "timestamp", "double", "bigint", "binary"])
def test_published_statistics_leave_the_table_readable(lake: Lake, type_: str) -> None:
    value = {
        "boolean": "true", "string": "00123", "decimal(5,2)": "1.50", "date": "2026-01-01", "double": "5",
        "timestamp": "2026-01-01T00:00:00Z", "bigint": "-5", "binary": "MTIz",
    }[type_]  # fmt: skip
    published(lake, f"v\n{value}\n", "mode: append", seed=None, fields=f'{{name: v, type: "{type_}"}}')
    assert len(lake.rows()) == 1


def test_published_statistics_of_nested_columns_leave_the_table_readable(lake: Lake) -> None:
    fields = (
        '{name: id, type: bigint}\n{name: r, type: "struct<x:int,y:struct<z:string>>"}\n{name: a, type: "array<struct<q:int>>"}\n'
        '{name: p, type: "map<string,int>"}'
    )
    lake.put({"x.json": '{"id": 1, "r": {"x": 1, "y": {"z": "a"}}, "a": [{"q": 1}], "p": {"k": 1}}\n{"id": 2, "r": null, "a": null, "p": null}\n'})
    result = lake.run(lake.contract(fields, source="format: json"))
    assert (result.state, len(lake.rows())) == ("published", 2)


@pytest.mark.parametrize(
    "publish", ["mode: merge, keys: [id]", "mode: scd2, keys: [id]", "mode: append", "mode: replace_where, where: id = 9"]
)
def test_batch_without_rows_is_one_commit_of_no_row(lake: Lake, publish: str) -> None:
    contract = lake.contract(FIELDS, publish=publish, source="empty: accept")
    lake.put({"x.csv": "id,p\n9,a\n"})
    first = lake.run(contract)
    before = DeltaTable(lake.target).version()
    lake.put({"x.csv": "id,p\n"})
    result = lake.run(contract, supersede=True)
    assert (first.state, result.state, result.code) == ("published", "published", None), result.message
    assert DeltaTable(lake.target).version() == before + 1
