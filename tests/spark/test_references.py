"""Values of the candidate in another table's key: compared as they are, on every engine."""

from __future__ import annotations

import gzip
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from invaract_orchestration.engines.spark.measure import _csv_values
from invaract_orchestration.errors import GateError
from tests.engines.lake import broken, check_of
from tests.spark.lakes import EngineLake

RULE = "quality: {dataset_rules: [{name: known, references: {columns: [k], table: ./other, key: [k]}}]}"


def beside(folder: Any, engine: str, reference: str | bytes, batch: str) -> EngineLake:
    """A lake with a batch, and `ref.csv` beside it."""
    lake = EngineLake(root=folder, engine=engine)
    lake.put({"a.csv": batch})
    (folder / "ref.csv").write_bytes(reference.encode() if isinstance(reference, str) else reference)
    return lake


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
@pytest.mark.parametrize(("kind", "text", "key", "outcome"), [
    ("string", "01", pa.array([1], pa.int32()), "unverifiable"),
    ("int", "1", pa.array(["1"]), "unverifiable"),
    ("date", "2026-01-01", pa.array([0], pa.timestamp("us", "UTC")), "unverifiable"),
    ("int", "1", pa.array([1], pa.int64()), "kept"),
    ("decimal(10,2)", "1.50", pa.array([1, 2], pa.int64()), "broken"),
    ("float", "1.5", pa.array([1.5]), "kept"),
])  # fmt: skip
def test_text_is_never_a_number_in_another_table(
    spark: Any, tmp_path: Any, engine: str, kind: str, text: str, key: pa.Array, outcome: str
) -> None:
    lake = EngineLake(root=tmp_path, engine=engine)
    lake.put({"a.csv": f"k,v\n{text},1\n"})
    write_deltalake(str(lake.root / "other"), pa.table({"k": key}))
    result = lake.run(lake.contract(f'{{name: k, type: "{kind}"}}\n{{name: v, type: int}}', more=RULE))
    assert check_of(result, "known").outcome == outcome
    assert set(broken(result)) == (set() if outcome == "kept" else {"known"})


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
@pytest.mark.parametrize(("text", "outcome"), [
    ("k,x\na,1\n", "kept"), ("k,x\r\na,1\r\n\r\n", "kept"), ("\ufeffk\na\n", "kept"), ('"k"\n"a"\n', "kept"), ("k,x\na,1\n,2\n", "kept"),
    ('k\na\n"b\nc"\n', "broken"), ("k,x\na,1\nb,2\n", "broken"), ("k\na \n", "broken"),
    ("k,x\na,1\na\n", "unverifiable"), ("k,x\na,1,2\n", "unverifiable"), ('k,x\n"a"b,1\n', "unverifiable"), ("k,x\n", "unverifiable"),
    ("k,x\r\na,1\nb,2\r\n", "broken"), ("k,x\na,1\r\n", "kept"), ("k,x\na,1,\n", "unverifiable"),
    (b"k\na\n\xe9\n", "unverifiable"), ("", "unverifiable"), ("\ufeff\n", "unverifiable"),
])  # fmt: skip
def test_reference_is_read_as_strictly_as_a_batch(spark: Any, tmp_path: Any, engine: str, text: str | bytes, outcome: str) -> None:
    lake = beside(tmp_path, engine, text, "k,v\na,1\n")
    rule = "quality: {dataset_rules: [{name: known, covers: {column: k, reference: ref.csv}}]}"
    result = lake.run(lake.contract("{name: k, type: string}\n{name: v, type: int}", more=rule))
    assert check_of(result, "known").outcome == outcome


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
@pytest.mark.parametrize("form", ["parquet", "delta"])
@pytest.mark.parametrize(("kind", "text", "values", "outcome"), [
    ("decimal(10,2)", "1.01", pa.array([Decimal("1.010")], pa.decimal128(10, 3)), "kept"),
    ("decimal(10,2)", "1.01", pa.array([Decimal("1.005")], pa.decimal128(10, 3)), "unverifiable"),
    ("int", "1", pa.array([1, 2**40], pa.int64()), "unverifiable"), ("int", "1", pa.array([1, None], pa.int64()), "kept"),
    ("int", "1", pa.array([1, 2], pa.int64()), "broken"), ("int", "1", pa.array(["1"]), "unverifiable"),
    ("string", "1", pa.array([1], pa.int64()), "unverifiable"), ("float", "0.1", pa.array([0.1]), "kept"),
])  # fmt: skip
def test_value_of_a_typed_reference_counts_as_it_is(
    spark: Any, tmp_path: Any, engine: str, form: str, kind: str, text: str, values: pa.Array, outcome: str
) -> None:
    lake = EngineLake(root=tmp_path, engine=engine)
    lake.put({"a.csv": f"k,v\n{text},1\n"})
    table, place = pa.table({"k": values}), "ref.parquet" if form == "parquet" else "./ref"
    if form == "parquet":
        pq.write_table(table, tmp_path / place)
    else:
        write_deltalake(str(tmp_path / place), table)
    rule = f"quality: {{dataset_rules: [{{name: known, covers: {{column: k, reference: {place}}}}}]}}"
    result = lake.run(lake.contract(f'{{name: k, type: "{kind}"}}\n{{name: v, type: int}}', more=rule))
    assert check_of(result, "known").outcome == outcome


@pytest.mark.parametrize(("content", "values"), [
    (b"k,x\na,1\n\nb,2\n,3\n", {"a", "b"}), (b"\xef\xbb\xbfk\r\na\r\n", {"a"}), (b'k,x\n"a,\nb",1\n', {"a,\nb"}), (b"only\na\n", {"a"}), (b"k,x\n", set()),
])  # fmt: skip
def test_values_of_a_reference_are_those_of_its_column(tmp_path: Any, content: bytes, values: set[str]) -> None:
    for name, written in (("ref.csv", content), ("ref.csv.gz", gzip.compress(content))):
        (tmp_path / name).write_bytes(written)
        assert _csv_values(tmp_path / name, name, "k") == values


@pytest.mark.parametrize("content", [
    b"k,x\na\n", b"k,x\na,1,\n", b'k,x\n"a"b,1\n', b"k,x\na,\xe9\n", b"", b"\xef\xbb\xbf\n", b"K,x\na,1\n", b'k,x\n"a,1\n',
])  # fmt: skip
def test_reference_that_is_no_delimited_text_is_refused(tmp_path: Any, content: bytes) -> None:
    (tmp_path / "ref.csv").write_bytes(content)
    with pytest.raises(GateError):
        _csv_values(tmp_path / "ref.csv", "ref.csv", "k")


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
@pytest.mark.parametrize(("text", "state"), [
    ("k,x\na,1\n", "published"), ("k,x\r\na,1\nb,2\r\n", "published"), ("\ufeffk,x\na,1\n", "published"),
    ("k,x\na,1,\n", "failed"), ('k,x\na, "1"\n', "failed"), ("k,x\na\n", "failed"), ("k,x,x\na,1,2\n", "failed"), ("k,x,X\na,1,2\n", "failed"),
    ("", "failed"), (b"k,x\na,\xe9\n", "failed"),
])  # fmt: skip
def test_link_is_read_as_strictly_as_a_batch(spark: Any, tmp_path: Any, engine: str, text: str | bytes, state: str) -> None:
    lake = beside(tmp_path, engine, text, "k\na\n")
    steps = "transformations: [{lookup: {field: v, reference: places, on: k, key: k, value: x}}]"
    more = f"links: [{{name: places, location: ./ref.csv}}]\n{steps}"
    result = lake.run(lake.contract("{name: k, type: string}\n{name: v, type: string}", more=more))
    assert (result.state, result.code) == (state, None if state == "published" else "input.unreadable")
    assert lake.rows() == ([{"k": "a", "v": "1"}] if state == "published" else [])
