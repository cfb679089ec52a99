"""Parquet files that are one table to a query or a step: which of them are read, and what their columns are."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from invaract_orchestration.contract.model import Contract
from tests.engines.lake import Lake, check_of
from tests.engines.test_batches import parquet

MOMENT = datetime(2026, 1, 1, 10, 0, 0, 123456)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


def over(lake: Lake, fields: str, sql: str, more: str = "") -> Contract:
    """A contract whose rows are those of a query over the files that were put, as the table `s`."""
    contract = lake.contract(fields, source=f'format: sql, sql: "{sql}", inputs: {{s: ./in}}', more=more)
    return contract.model_copy(update={"source": contract.source.model_copy(update={"location": None})}).placed(lake.root)


def looked_up(lake: Lake, fields: str, column: str) -> Contract:
    """A contract whose rows get a column of the files that were put, as a link."""
    (lake.root / "rows").mkdir()
    (lake.root / "rows" / "rows.csv").write_text("id\n1\n")
    joined = f"select source.id, s.{column} from source join s on source.id = s.id"
    more = f"links: [{{name: s, location: ./in, format: parquet}}]\ntransformations: [{{sql: \"{joined}\"}}]"
    contract = lake.contract(fields, more=more)
    return contract.model_copy(update={"source": contract.source.model_copy(update={"location": "./rows"})}).placed(lake.root)


CONTRACTS: dict[str, Any] = {
    "query": lambda lake, fields, column: over(lake, fields, f"select id, {column} from s where id = 1"), "link": looked_up,
}  # fmt: skip


def moments(values: list[int | None], zone: str | None) -> pa.Table:
    at = pa.array(values, pa.int64()).cast(pa.timestamp("ns", zone))
    return pa.table({"id": pa.array(range(1, len(values) + 1), pa.int32()), "moment": at})


@pytest.mark.parametrize("kind", CONTRACTS)
@pytest.mark.parametrize(("zone", "type_"), [(None, "timestamp_ntz"), ("Europe/Paris", "timestamp")])
def test_table_in_nanoseconds_is_read_as_it_is_or_not_at_all(lake: Lake, kind: str, zone: str | None, type_: str) -> None:
    whole = int(MOMENT.replace(tzinfo=UTC).timestamp()) * 1_000_000_000 + 123_456_000
    contract = CONTRACTS[kind](lake, f"{{name: id, type: int}}\n{{name: moment, type: {type_}}}", "moment")
    lake.put({"a.parquet": parquet(moments([whole + 1, -1_000, None], zone))})
    finer = lake.run(contract)
    assert (finer.state, finer.code, lake.rows()) == ("failed", "input.unreadable", [])
    assert "holds moments finer than a microsecond" in finer.message
    lake.put({"a.parquet": parquet(moments([whole, -1_000, None], zone))})
    result = lake.run(contract)
    assert result.state == "published", result
    assert lake.rows() == [{"id": 1, "moment": MOMENT if zone is None else MOMENT.replace(tzinfo=UTC)}]


@pytest.mark.parametrize("kind", CONTRACTS)
def test_table_of_old_timestamps_holds_instants(lake: Lake, kind: str) -> None:
    table = pa.table({"id": pa.array([1], pa.int32()), "moment": pa.array([MOMENT], pa.timestamp("us"))})
    lake.put({"a.parquet": parquet(table, use_deprecated_int96_timestamps=True)})
    result = lake.run(CONTRACTS[kind](lake, "{name: id, type: int}\n{name: moment, type: timestamp}", "moment"))
    assert result.state == "published", result
    assert lake.rows() == [{"id": 1, "moment": MOMENT.replace(tzinfo=UTC)}]


@pytest.mark.parametrize("kind", CONTRACTS)
def test_table_with_nanoseconds_inside_of_another_type_is_refused_by_name(lake: Lake, kind: str) -> None:
    nested = pa.array([[1]], pa.list_(pa.int64())).cast(pa.list_(pa.timestamp("ns")))
    lake.put({"a.parquet": parquet(pa.table({"id": pa.array([1], pa.int32()), "many": nested, "note": ["x"]}))})
    result = lake.run(CONTRACTS[kind](lake, "{name: id, type: int}\n{name: note, type: string}", "note"))
    assert (result.state, result.code) == ("failed", "not_supported")
    assert "'many' holds timestamps in nanoseconds inside of another type" in result.message


@pytest.mark.parametrize("kind", CONTRACTS)
def test_file_of_a_table_without_a_column_has_nulls_there_and_one_with_another_type_is_told(lake: Lake, kind: str) -> None:
    ids = pa.array([1], pa.int32())
    files = {"b.parquet": pa.table({"id": ids, "note": ["x"]}), "a.parquet": pa.table({"id": ids})}
    lake.put({name: parquet(table) for name, table in files.items()} | {"c.parquet": parquet(pa.table({"id": ids, "note": [7]}))})
    contract = CONTRACTS[kind](lake, "{name: id, type: int}\n{name: note, type: string}", "note")
    result = lake.run(contract)
    assert (result.state, result.code, lake.rows()) == ("failed", "input.unreadable", [])
    assert "column 'note' is bigint in c.parquet, expected 'note' as string, as in b.parquet" in result.message
    (lake.root / "in" / "c.parquet").unlink()
    assert lake.run(contract).state == "published"
    assert sorted(str(row["note"]) for row in lake.rows()) == ["None", "x"]


@pytest.mark.parametrize("kind", CONTRACTS)
def test_folder_names_of_a_table_are_columns_of_text(lake: Lake, kind: str) -> None:
    one = parquet(pa.table({"id": pa.array([1], pa.int32())}))
    other = parquet(pa.table({"id": pa.array([2], pa.int32())}))
    lake.put({"region=07%20a/a.parquet": one, "region=__HIVE_DEFAULT_PARTITION__/a.parquet": other})
    contract = CONTRACTS[kind](lake, "{name: id, type: int}\n{name: region, type: string}", "region")
    assert lake.run(contract).state == "published"
    assert lake.rows() == [{"id": 1, "region": "07 a"}]


@pytest.mark.parametrize("hidden", ["_temporary/0/a.parquet", ".a.parquet", "_a.parquet", "_temporary/x=1/a.parquet"])
def test_file_that_is_being_written_is_not_read_by_a_query(lake: Lake, hidden: str) -> None:
    lake.put({name: parquet(pa.table({"id": pa.array([1], pa.int32())})) for name in ("a.parquet", hidden)})
    assert lake.run(over(lake, "{name: n, type: bigint}", "select count(*) as n from s")).state == "published"
    assert lake.rows() == [{"n": 1}]


@pytest.mark.parametrize("name", ["at 10:00 [x].parquet", "at=10:00/a.parquet"])
@pytest.mark.parametrize("kind", CONTRACTS)
def test_file_of_a_table_is_meant_literally_whatever_its_path_says(lake: Lake, kind: str, name: str) -> None:
    lake.put({name: parquet(pa.table({"id": pa.array([1], pa.int32()), "note": ["x"]}))})
    assert lake.run(CONTRACTS[kind](lake, "{name: id, type: int}\n{name: note, type: string}", "note")).state == "published"
    assert lake.rows() == [{"id": 1, "note": "x"}]


@pytest.mark.parametrize("change", ["grows", "appears", "vanishes"])
def test_table_of_a_query_that_changes_during_the_run_is_noticed(lake: Lake, change: str) -> None:
    one = pa.table({"id": pa.array([1], pa.int32())})
    lake.put({"a.parquet": parquet(one), "b.parquet": parquet(one)})

    def meddle(line: str) -> None:
        if line != "writing the candidate":
            return
        if change == "vanishes":
            (lake.root / "in" / "b.parquet").unlink()
        else:
            lake.put({"b.parquet" if change == "grows" else "c.parquet": parquet(pa.concat_tables([one, one]))})

    result = replace(lake.gate, tell=meddle).run(over(lake, "{name: n, type: bigint}", "select count(*) as n from s"))
    assert result.state == "failed", result
    assert change == "vanishes" or result.code == "input.changed"
    assert lake.rows() == []


@pytest.mark.parametrize(("beyond", "outcome"), [(0, "kept"), (1, "unverifiable")])
def test_reference_in_nanoseconds_is_read_as_it_is_or_not_at_all(lake: Lake, beyond: int, outcome: str) -> None:
    lake.put({"a.csv": "id,moment\n1,2026-01-01T10:00:00.123456Z\n"})
    whole = int(MOMENT.replace(tzinfo=UTC).timestamp()) * 1_000_000_000 + 123_456_000
    (lake.root / "x=1").mkdir()
    (lake.root / "x=1" / "ref.parquet").write_bytes(parquet(moments([whole + beyond], "UTC")))
    rule = "quality: {dataset_rules: [{name: known, covers: {column: moment, reference: x=1/ref.parquet}}]}"
    result = lake.run(lake.contract("{name: id, type: int}\n{name: moment, type: timestamp}", more=rule))
    assert check_of(result, "known").outcome == outcome


@pytest.mark.parametrize("kind", CONTRACTS)
def test_same_content_written_again_is_the_same_batch(lake: Lake, kind: str) -> None:
    contract = CONTRACTS[kind](lake, "{name: id, type: int}\n{name: note, type: string}", "note")
    content = pa.table({"id": pa.array([1], pa.int32()), "note": ["a"]})
    lake.put({"a.parquet": parquet(content)})
    assert lake.run(contract).state == "published"
    os.utime(lake.root / "in" / "a.parquet", (1, 1))
    assert lake.run(contract).code == "publish.already_done"
    lake.put({"a.parquet": parquet(content.set_column(1, "note", [["b"]]))})
    assert lake.run(contract).state == "rejected"
    assert len(lake.rows()) == 1
