"""Any table of typed and nested columns, any rules on it: the same verdict, counts, published and set-aside rows."""

from __future__ import annotations

import tempfile
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.test_batches import parquet
from tests.spark.lakes import EngineLake
from tests.spark.test_parity import QUICK, assert_same, seen

SCHEMA = pa.schema([
    ("id", pa.int64()), ("w", pa.decimal128(38, 10)), ("f", pa.float64()), ("g", pa.float32()), ("s", pa.string()), ("k", pa.date32()),
    ("z", pa.timestamp("us", "UTC")), ("l", pa.timestamp("us")), ("o", pa.bool_()), ("y", pa.binary()),
    ("r", pa.struct([("x", pa.int32()), ("t", pa.string()), ("m", pa.decimal128(5, 2))])), ("a", pa.list_(pa.struct([("q", pa.int32()), ("u", pa.string())]))),
    ("p", pa.map_(pa.string(), pa.struct([("n", pa.int32())]))), ("b", pa.list_(pa.int32())),
])  # fmt: skip
TYPES = {
    "id": "bigint", "w": "decimal(38,10)", "f": "double", "g": "float", "s": "string", "k": "date", "z": "timestamp", "l": "timestamp_ntz", "o": "boolean",
    "y": "binary", "r": "struct<x:int,t:string,m:decimal(5,2)>", "a": "array<struct<q:int,u:string>>", "p": "map<string,struct<n:int>>", "b": "array<int>",
}  # fmt: skip
pytestmark = pytest.mark.slow
SMALL = st.integers(-2, 4)
WORDS = st.sampled_from(["", " ", "a", "A", "ab\n", "\u00a0", "é", "e\u0301", "😀", "it's", 'x"y', "\u2028", "ß"])


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), values, values, values)


ROW = st.fixed_dictionaries({
    "id": maybe(st.integers(-3, 9)), "w": maybe(st.sampled_from([Decimal(v) for v in ("0", "1.5", "-0.0000000001", "9999999999999999999999999999.9999999999")])),
    "f": maybe(st.sampled_from([0.0, -0.0, float("nan"), float("inf"), -1.5, 1e300, 2.5])), "g": maybe(st.sampled_from([0.0, -0.0, float("nan"), 0.1, -0.5])), "s": maybe(WORDS),
    "k": maybe(st.sampled_from([date(1, 1, 1), date(9999, 12, 31), date(2026, 1, 31), date(1582, 10, 10)])),
    "z": maybe(st.sampled_from([datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), datetime(2026, 3, 29, 1, 30, tzinfo=UTC)])),
    "l": maybe(st.sampled_from([datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), datetime(2026, 3, 29, 2, 30)])), "o": maybe(st.booleans()),
    "y": maybe(st.binary(max_size=3)), "r": maybe(st.fixed_dictionaries({"x": maybe(SMALL), "t": maybe(WORDS), "m": maybe(st.sampled_from([Decimal("1.50"), Decimal("-999.99")]))})),
    "a": maybe(st.lists(maybe(st.fixed_dictionaries({"q": maybe(SMALL), "u": maybe(WORDS)})), max_size=3)),
    "p": maybe(st.dictionaries(st.sampled_from(["a", "b", ""]), maybe(st.fixed_dictionaries({"n": maybe(SMALL)})), max_size=2).map(lambda d: list(d.items()))),
    "b": maybe(st.lists(maybe(SMALL), max_size=3)),
})  # fmt: skip
RULES = {
    "id": ["min: 0", "max: 5", "required: true", "allowed: [1, 2, 3]"], "w": ["min: 0", "max: 1.5", "required: true"], "f": ["min: 0", "max: 2.5", "allowed: [0, 2.5]"],
    "g": ["min: 0", "max: 0.1"], "s": ["not_blank: whitespace", "not_blank: spaces", "pattern: '[a-z]+'", "max_length: 1", "min_length: 1", 'allowed: ["a", "it\'s"]'],
    "k": ["min: 1582-10-15", "max: 2026-01-31"], "z": ["min: \"1970-01-01T00:00:00Z\""], "l": ["required: true"], "o": ["required: true"], "y": ["required: true"],
    "r": ["fields: [{name: x, type: int, required: true, min: 0}, {name: t, type: string, not_blank: whitespace}]", "required: true", "fields: [{name: m, type: \"decimal(5,2)\", min: 0}]"],
    "a": ["fields: [{name: q, type: int, min: 0}, {name: u, type: string, required: true}]"], "p": ["fields: [{name: n, type: int, required: true, max: 3}]"], "b": ["required: true"],
}  # fmt: skip
CONDITIONS = [
    "f >= 0 or f is null", "size(a) > 0", "array_contains(b, 1)", "r.x + id > 0", "length(s) = 1 or s is null", "k <= current_date()", "cast(s as int) is null",
    "p['a'].n = 1", "a[0].q >= 0", "upper(s) = s", "id / r.x > 0", "s rlike 'a'", "z > '2000-01-01' or o", "isnan(f) or f < 1", "element_at(b, 1) is not null", "y is not null",
]  # fmt: skip
KEYS = ["", "keys: [[id]]", "keys: [{columns: [f], nulls: ignore}]", "keys: [{columns: [s, k], nulls: distinct}]", "keys: [{columns: [w], severity: warn}]", "keys: [{columns: [z]}]"]


@st.composite
def contracts(draw: st.DrawFn) -> tuple[str, str]:
    """Fields, and the rest of a contract."""
    fields = []
    for name, type_ in TYPES.items():
        extras = draw(st.lists(st.sampled_from(RULES[name]), max_size=2, unique_by=lambda e: e.partition(":")[0]))
        severity = draw(st.sampled_from(["", "", ", severity: warn"])) if extras else ""
        fields.append(f'{{name: {name}, type: "{type_}"{"".join(", " + e for e in extras)}{severity}}}')
    chosen = draw(st.lists(st.sampled_from(CONDITIONS), max_size=3, unique=True))
    rules = ", ".join(
        f'{{name: rule{i}, sql: "{sql}"{draw(st.sampled_from(["", ", null_is: pass", ", severity: warn"]))}}}' for i, sql in enumerate(chosen)
    )
    failure = draw(st.sampled_from(["reject", "quarantine"]))
    return "\n".join(fields), f"{draw(st.sampled_from(KEYS))}\nquality: {{on_row_failure: {failure}, row_rules: [{rules}]}}"


def judged(engine: str, table: pa.Table, source: str, fields: str, more: str) -> dict[str, Any]:
    lake = EngineLake(root=Path(tempfile.mkdtemp(prefix=f"tables-{engine}-")), engine=engine)
    if source == "delta":
        write_deltalake(str(lake.root / "in"), table)
    else:
        half = table.num_rows // 2
        lake.put({"a.parquet": parquet(table.slice(0, half)), "b.parquet": parquet(table.slice(half))})
    found = seen(lake, lake.run(lake.contract(fields, source=f"format: {source}, empty: accept", more=more)))
    found.pop("payloads")  # numbers have another text in each engine's JSON
    return found


@pytest.mark.parametrize("engine", ["spark", "spark-connect"])
@QUICK
@given(rows=st.lists(ROW, min_size=1, max_size=14), contract=contracts(), source=st.sampled_from(["parquet", "delta"]))
def test_any_table_and_any_rules_mean_the_same(
    spark: Any, engine: str, rows: list[dict[str, Any]], contract: tuple[str, str], source: str
) -> None:
    table = pa.Table.from_pylist(rows, SCHEMA)
    assert_same(judged(engine, table, source, *contract), judged("duckdb", table, source, *contract))
