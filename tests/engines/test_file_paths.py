"""A table whose files another writer has named: a mode that takes rows out takes all of them out, or says that it cannot."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.transaction import AddAction

from invaract_orchestration.engines.delta.paths import has_paths_of_another_spelling
from tests.engines.lake import Lake

FIELDS = "{name: p, type: string, required: true}\n{name: v, type: int, required: true}"
SCHEMA = pa.schema([("p", pa.string()), ("v", pa.int32())])
HARD = ("a b", "a:b", "x%20y", "ü", "c/d", "2026-01-01 00:00:00", "[1]", "it's")
"""Values that a partition's folder, and the log, write in another way."""
TAKING_OUT = (
    "mode: overwrite", "mode: replace_partitions, partition_by: [p]", "mode: replace_where, where: \"p = 'ü'\"",
    "mode: merge, keys: [p]", "mode: scd2, keys: [p]",
)  # fmt: skip


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


def rows_of(values: Sequence[str], v: int) -> list[dict[str, str | int]]:
    return sorted(({"p": value, "v": v} for value in values), key=repr)


def quoted(values: Sequence[str]) -> str:
    return "".join(f'"{value}",2\n' for value in values)


@pytest.mark.parametrize(("publish", "kept"), [("mode: overwrite", ()), ("mode: replace_partitions, partition_by: [p]", HARD[3:])])
def test_rows_of_folders_with_any_name_are_taken_out(lake: Lake, publish: str, kept: tuple[str, ...]) -> None:
    write_deltalake(lake.target, pa.Table.from_pylist(rows_of(HARD, 1), SCHEMA), partition_by=["p"])
    lake.put({"x.csv": f"p,v\n{quoted(HARD[:3])}"})
    result = lake.run(lake.contract(FIELDS, publish=publish))
    assert result.publication is not None
    assert (result.state, result.publication.method, result.counts.deleted) == ("published", "promoted", len(HARD) - len(kept))
    assert lake.rows() == sorted([*rows_of(HARD[:3], 2), *rows_of(kept, 1)], key=repr)


def spelled_by_another_writer(lake: Lake, publish: str) -> None:
    """One row in a folder whose letter the log does not escape, as Java writes it."""
    is_versioned, is_partitioned = "scd2" in publish, "partition_by" in publish
    columns = [*SCHEMA, *((pa.field("valid_from", pa.timestamp("us", "UTC")), pa.field("valid_to", pa.timestamp("us", "UTC")),
                           pa.field("is_current", pa.bool_())) if is_versioned else ())]  # fmt: skip
    DeltaTable.create(lake.target, pa.schema(columns), partition_by=["p"] if is_partitioned else None)
    folder, row = Path(lake.target) / "p=ü", {"p": ["ü"], "v": pa.array([1], pa.int32())}
    folder.mkdir()
    pq.write_table(pa.table({"v": row["v"]} if is_partitioned else row), folder / "x.parquet")
    add = {
        "path": "p=ü/x.parquet", "partitionValues": {"p": "ü"} if is_partitioned else {}, "modificationTime": 1, "dataChange": True,
        "size": (folder / "x.parquet").stat().st_size, "stats": '{"numRecords": 1}',
    }  # fmt: skip
    log = Path(lake.target) / "_delta_log" / f"{1:020d}.json"
    log.write_text(json.dumps({"add": add}, ensure_ascii=False) + "\n", encoding="utf-8")


@pytest.mark.parametrize("publish", TAKING_OUT)
def test_file_that_deltalake_would_leave_in_the_table_is_refused(lake: Lake, publish: str) -> None:
    spelled_by_another_writer(lake, publish)
    lake.put({"x.csv": 'p,v\n"ü",2\n'})
    result = lake.run(lake.contract(FIELDS, publish=publish))
    assert (result.state, result.code) == ("failed", "publish.rejected_by_target"), result.message
    assert "would keep its old rows beside the new ones" in result.message
    assert DeltaTable(lake.target).version() == 1


def test_rows_are_added_to_a_table_with_any_path(lake: Lake) -> None:
    spelled_by_another_writer(lake, "")
    lake.put({"x.csv": 'p,v\n"ü",2\n'})
    assert lake.run(lake.contract(FIELDS)).state == "published"
    assert lake.rows() == [{"p": "ü", "v": 1}, {"p": "ü", "v": 2}]


def test_every_letter_is_spelled_as_deltalake_does(lake: Lake) -> None:
    """What deltalake writes itself is never taken for another spelling, whatever letter a path has."""
    write_deltalake(lake.target, pa.Table.from_pylist([{"p": "a", "v": 1}], SCHEMA))
    table = DeltaTable(lake.target)
    for letter in (*map(chr, range(1, 128)), "ü", "水", "🙂"):
        path = f"{ord(letter)}{letter}.parquet"
        add = AddAction(path=path, size=1, partition_values={}, modification_time=0, data_change=True, stats='{"numRecords": 1}')
        table.create_write_transaction([add], "append", table.schema())
    assert not has_paths_of_another_spelling(DeltaTable(lake.target))
