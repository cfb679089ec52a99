"""Table features on the embedded engine: right rows, or a refusal by the feature's name; never a feature broken without a word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, QueryBuilder

from invaract_orchestration.engines.delta.read import count_rows
from invaract_orchestration.engines.spark.publisher import SPARK_WRITES
from tests.engines import feature_tables as made
from tests.engines.feature_table import PAGE, page
from tests.engines.lake import Lake, broken

FIELDS = "{name: id, type: int, required: true}\n{name: v, type: string}"
UNWRITABLE = (
    "allowColumnDefaults", "clustering", "domainMetadata", "icebergCompatV1", "icebergCompatV2", "identityColumns",
    "inCommitTimestamp", "rowTracking", "typeWidening", "vacuumProtocolCheck", "a feature of tomorrow",
)  # fmt: skip
UNREADABLE = ("typeWidening", "vacuumProtocolCheck")
Make = Callable[[str], None]
KEPT = [made.with_change_feed, made.with_column_mapping, made.with_deletion_vector]
MODES = {
    "mode: append": [(1, "a"), (2, "b"), (3, "c"), (3, "z"), (9, "n")],
    "mode: overwrite": [(3, "z"), (9, "n")],
    "mode: replace_where, where: id >= 3": [(1, "a"), (2, "b"), (3, "z"), (9, "n")],
    "mode: merge, keys: [id]": [(1, "a"), (2, "b"), (3, "z"), (9, "n")],
}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


def pairs(lake: Lake) -> list[tuple[Any, Any]]:
    return sorted((row["id"], row["v"]) for row in lake.rows())


@pytest.mark.parametrize("publish", MODES)
@pytest.mark.parametrize("make", KEPT)
def test_feature_that_deltalake_writes_is_published_by_a_rewrite(lake: Lake, make: Make, publish: str) -> None:
    make(lake.target)
    lake.put({"x.csv": "id,v\n3,z\n9,n\n"})
    result = lake.run(lake.contract(FIELDS, publish=publish))
    deleted = {(2, "b")} if make is made.with_deletion_vector else set()
    assert result.state == "published", result
    assert "rewritten: " in result.message
    assert pairs(lake) == [row for row in MODES[publish] if row not in deleted]


def test_change_feed_holds_what_a_merge_did(lake: Lake) -> None:
    made.with_change_feed(lake.target)
    lake.put({"x.csv": "id,v\n3,z\n9,n\n"})
    assert lake.run(lake.contract(FIELDS, publish="mode: merge, keys: [id]")).state == "published"
    feed = pa.table(DeltaTable(lake.target).load_cdf(starting_version=2)).to_pylist()
    assert sorted((r["id"], r["v"], r["_change_type"]) for r in feed) == [
        (3, "c", "update_preimage"), (3, "z", "update_postimage"), (9, "n", "insert"),
    ]  # fmt: skip


@pytest.mark.parametrize("mode", ["append", "overwrite", "merge, keys: [id]"])
@pytest.mark.parametrize("feature", UNWRITABLE)
def test_feature_that_deltalake_does_not_write_is_refused_by_its_name(lake: Lake, feature: str, mode: str) -> None:
    made.with_features(lake.target, feature)
    lake.put({"x.csv": "id,v\n3,z\n"})
    before = sorted(str(p) for p in Path(lake.target).rglob("*"))
    result = lake.run(lake.contract(FIELDS, publish=f"mode: {mode}"))
    assert (result.state, result.code) == ("failed", "publish.target_schema")
    assert repr(feature) in result.message
    assert "the engine spark" in (result.hint or "")
    assert sorted(str(p) for p in Path(lake.target).rglob("*")) == before


@pytest.mark.parametrize(
    ("reader", "writer", "state"), [(1, 2, "published"), (1, 4, "published"), (2, 5, "published"), (2, 6, "failed")]
)
def test_protocol_without_named_features_is_taken_for_all_that_its_version_asks(
    lake: Lake, reader: int, writer: int, state: str
) -> None:
    made.with_legacy_protocol(lake.target, reader, writer)
    lake.put({"x.csv": "id,v\n9,n\n"})
    result = lake.run(lake.contract(FIELDS))
    assert result.state == state, result
    assert ("'identityColumns'" in result.message) == (writer == 6)
    assert ("promoted" in result.message) == (writer < 6)


def test_table_whose_commits_a_catalog_keeps_is_not_read_past_it(lake: Lake) -> None:
    made.with_features(lake.target, "catalogManaged")
    lake.put({"x.csv": "id,v\n9,n\n"})
    result = lake.run(lake.contract(FIELDS))
    assert (result.state, result.code) == ("failed", "table.feature")
    assert "'catalogManaged'" in result.message


@pytest.mark.parametrize("mode", ["overwrite", "replace_where, where: id >= 3", "merge, keys: [id]"])
def test_append_only_table_refuses_a_mode_that_changes_rows(lake: Lake, mode: str) -> None:
    made.plain_table(lake.target, delta_appendOnly="true")
    lake.put({"x.csv": "id,v\n3,z\n"})
    result = lake.run(lake.contract(FIELDS, publish=f"mode: {mode}"))
    assert (result.state, result.code) == ("failed", "publish.target_schema")
    assert "append-only" in result.message
    assert pairs(lake) == [(1, "a"), (2, "b"), (3, "c")]


def test_append_only_table_takes_an_append(lake: Lake) -> None:
    made.plain_table(lake.target, delta_appendOnly="true")
    lake.put({"x.csv": "id,v\n4,d\n"})
    assert lake.run(lake.contract(FIELDS)).state == "published"
    assert pairs(lake) == [(1, "a"), (2, "b"), (3, "c"), (4, "d")]


@pytest.mark.parametrize(
    ("declared", "text", "state"),
    [("varchar(2)", "abc", "failed"), ("char(2)", "abc", "failed"), ("varchar(3)", "äbc", "published")],
)
def test_text_longer_than_the_tables_type_is_refused(lake: Lake, declared: str, text: str, state: str) -> None:
    made.with_column_metadata(lake.target, "v", {"__CHAR_VARCHAR_TYPE_STRING": declared})
    lake.put({"x.csv": f"id,v\n4,{text}\n5,\n"})
    result = lake.run(lake.contract(FIELDS))
    assert result.state == state, result
    if state == "failed":
        assert result.code == "publish.rejected_by_target"
        assert text not in repr(result)


@pytest.mark.parametrize("where", ["id >= 3", "id in (3, 9)", "id = 3 or id = 9", "v is not null and id >= 3"])
@pytest.mark.parametrize("check", ["id > 0", "id in (1, 2, 3, 9)", "id between 0 and 100"])
def test_predicate_over_the_column_of_a_constraint_is_replaced(lake: Lake, check: str, where: str) -> None:
    made.plain_table(lake.target)
    DeltaTable(lake.target).alter.add_constraint({"own": check})
    lake.put({"x.csv": "id,v\n3,z\n9,n\n"})
    result = lake.run(lake.contract(FIELDS, publish=f"mode: replace_where, where: '{where}'"))
    assert result.state == "published", result
    assert pairs(lake) == [(1, "a"), (2, "b"), (3, "z"), (9, "n")]


def test_mirrored_constraints_do_not_hinder_a_replaced_predicate(lake: Lake) -> None:
    fields = "{name: id, type: int, required: true, min: 1}\n{name: v, type: string, allowed: [a, b]}"
    for text in ("id,v\n3,a\n9,b\n", "id,v\n3,b\n"):
        lake.put({"x.csv": text})
        result = lake.run(lake.contract(fields, publish="mode: replace_where, where: id >= 3, constraints: mirror"))
        assert result.state == "published", result
    assert pairs(lake) == [(3, "b")]


@pytest.mark.parametrize("make", KEPT)
def test_new_column_is_added_or_refused_by_the_features_name(lake: Lake, make: Make) -> None:
    make(lake.target)
    before = DeltaTable(lake.target).version()
    lake.put({"x.csv": "id,v,w\n9,n,x\n"})
    result = lake.run(lake.contract(FIELDS + "\n{name: w, type: string}", publish="evolve: add_columns"))
    if make is made.with_column_mapping:
        assert (result.state, result.code) == ("failed", "publish.target_schema")
        assert "'columnMapping'" in result.message
        assert DeltaTable(lake.target).version() == before
    else:
        assert result.state == "published", result
        assert {"id": 9, "v": "n", "w": "x"} in lake.rows()
        assert {"id": 1, "v": "a", "w": None} in lake.rows()


# -- tables as sources


SOURCES = ("format: delta", "format: sql, sql: 'select id, v from s', inputs: {s: ./s}")


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("make", KEPT)
def test_source_with_a_feature_that_deltalake_reads_gives_its_rows(lake: Lake, make: Make, source: str) -> None:
    make(str(lake.root / "s"))
    result = lake.run(lake.contract(FIELDS, source=source), source="./s" if "delta" in source else None)
    assert result.state == "published", result
    assert pairs(lake) == [
        row for row in [(1, "a"), (2, "b"), (3, "c")] if row != (2, "b") or make is not made.with_deletion_vector
    ]


@pytest.mark.parametrize("feature", UNREADABLE)
def test_source_with_a_feature_that_deltalake_does_not_read_is_refused_by_its_name(lake: Lake, feature: str) -> None:
    made.with_features(str(lake.root / "s"), feature)
    result = lake.run(lake.contract(FIELDS, source="format: delta"), source="./s")
    assert (result.state, result.code) == ("failed", "table.feature")
    assert repr(feature) in result.message
    assert lake.rows() == []


def test_key_across_a_target_with_a_deletion_vector_does_not_see_what_is_deleted(lake: Lake) -> None:
    made.with_deletion_vector(lake.target)
    lake.put({"x.csv": "id,v\n2,again\n"})
    keys = "keys: [{columns: [id], across: target}]"
    assert lake.run(lake.contract(FIELDS, more=keys)).state == "published"
    lake.put({"x.csv": "id,v\n3,again\n"})
    assert broken(lake.run(lake.contract(FIELDS, more=keys), submission_id="second")) == {"id|unique": 1}


def test_rows_of_a_table_are_counted_without_those_that_a_deletion_vector_takes_out(tmp_path: Path) -> None:
    made.with_deletion_vector(str(tmp_path / "t"))
    assert count_rows(str(tmp_path / "t")) == (2, 2)


def test_hand_made_deletion_vector_takes_out_its_row(tmp_path: Path) -> None:
    made.with_deletion_vector(str(tmp_path / "t"))
    rows: Any = QueryBuilder().register("t", DeltaTable(str(tmp_path / "t"))).execute("SELECT id FROM t")
    assert sorted(pa.table(rows).column("id").to_pylist()) == [1, 3]


@pytest.mark.parametrize("name", ["a%20b", "a%2Fb", "100%25"])
def test_folder_whose_name_deltalake_reads_otherwise_is_refused(tmp_path: Path, name: str) -> None:
    lake = Lake(tmp_path / name)
    other = tmp_path / "a b" / "t"
    made.plain_table(str(other))
    lake.put({"x.csv": "id,v\n9,n\n"})
    result = lake.run(lake.contract(FIELDS, publish="mode: overwrite"))
    assert (result.state, result.code) == ("failed", "not_supported")
    assert "percent sign" in result.message
    assert DeltaTable(str(other)).version() == 1


@pytest.mark.parametrize("name", ["it's a `hard` % [name]", "ü x", "a:b", "#?&+"])
def test_folder_with_a_hard_name_is_published_to(tmp_path: Path, name: str) -> None:
    lake = Lake(tmp_path / name)
    lake.put({"x.csv": "id,v\n9,n\n"})
    for mode in ("append", "merge, keys: [id]"):
        contract = lake.contract(FIELDS, publish=f"mode: {mode}", more=f'version: "1.0.{len(mode)}"')
        result = lake.run(contract, submission_id=f"b{len(mode)}")
        assert result.state == "published", (result.code, result.message)
    assert pairs(lake) == [(9, "n")]


def test_table_of_features_in_the_docs_is_what_the_engines_allow() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.engines.feature_table --write"


def test_every_feature_that_is_refused_here_and_written_by_spark_is_tried() -> None:
    assert SPARK_WRITES - {"variantType"} <= set(UNWRITABLE)
