"""Columns of typed sources as their files have them, whatever the reader makes of their names and types."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.engines.lake import Lake, broken
from tests.engines.test_batches import parquet

FIELDS = "{name: id, type: int}\n{name: v, type: int}"
EXTRA = "schema_policy: {extra_fields: accept}"
ROW = pa.array([1], pa.int32())


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


@pytest.mark.parametrize("names", [["id", "v", "V"], ["V", "v", "id"], ["id", "v", "v"]])
def test_parquet_columns_that_differ_only_in_case_are_a_duplicate(lake: Lake, names: list[str]) -> None:
    lake.put({"a.parquet": parquet(pa.table([ROW, ROW, ROW], names=names))})
    result = lake.run(lake.contract(FIELDS, source="format: parquet", more=EXTRA))
    assert broken(result) == {"schema|duplicate": None}


def test_parquet_columns_beside_nested_ones_keep_their_names(lake: Lake) -> None:
    nested = pa.array([{"V": 1, "x": [{"id": 2}]}])
    pairs = pa.array([[("V", 1)]], pa.map_(pa.string(), pa.int32()))
    lake.put({"a.parquet": parquet(pa.table({"n": nested, "v": ROW, "m": pairs, "id": ROW}))})
    assert lake.run(lake.contract(FIELDS, source="format: parquet", more=EXTRA)).state == "published"
    assert lake.rows() == [{"id": 1, "v": 1}]


def test_rows_handed_in_with_columns_that_differ_only_in_case_are_a_duplicate(lake: Lake) -> None:
    contract = lake.contract(FIELDS, more=EXTRA)
    with duckdb.connect() as connection:
        for number, frame in enumerate((
            pa.table([ROW, ROW, ROW], names=["V", "v", "id"]), connection.sql('SELECT 1::INT AS "V", 2::INT AS v, 3::INT AS id'),
        )):  # fmt: skip
            result = lake.run(contract, frame=frame, submission_id=f"s{number}")
            assert broken(result) == {"schema|duplicate": None}


def test_parquet_timestamp_of_96_bits_is_an_instant(lake: Lake) -> None:
    instants = [datetime(2026, 1, 5, 10, 20, 30, 123456, UTC), datetime(1500, 1, 1, tzinfo=UTC), None]
    sink = io.BytesIO()
    pq.write_table(pa.table({"t": pa.array(instants, pa.timestamp("us", "UTC"))}), sink, use_deprecated_int96_timestamps=True)
    lake.put({"a.parquet": sink.getvalue(), "b.parquet": parquet(pa.table({"t": pa.array(instants[:1], pa.timestamp("us", "UTC"))}))})
    assert lake.run(lake.contract("{name: t, type: timestamp}", source="format: parquet")).state == "published"
    assert sorted(str(row["t"]) for row in lake.rows()) == sorted(str(t) for t in [*instants, instants[0]])


def test_parquet_timestamp_of_96_bits_is_no_local_time(lake: Lake) -> None:
    sink = io.BytesIO()
    pq.write_table(pa.table({"t": pa.array([0], pa.timestamp("us"))}), sink, use_deprecated_int96_timestamps=True)
    lake.put({"a.parquet": sink.getvalue()})
    result = lake.run(lake.contract("{name: t, type: timestamp_ntz}", source="format: parquet"))
    assert broken(result) == {"schema|type": None}
