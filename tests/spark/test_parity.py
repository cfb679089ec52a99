"""Any table, any contract: the same verdict, counts, published and set-aside rows on Spark as on the embedded engine."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from invaract_orchestration.audit.result import GateResult
from tests.engines.test_batches import parquet
from tests.spark.lakes import EngineLake

NUMBERS = st.sampled_from([
    "0", "-0", "1", "-1", "7", "127", "128", "-129", "2147483647", "2147483648", "9223372036854775807", "9223372036854775808",
    "01", "+1", " 1", "1 ", "1.0", "1e3", "1_000", "0x1F", "1.5", "1.23", "1.239", "-1.20", ".5", "5.", "1,5", "NaN", "nan",
    "Infinity", "-Infinity", "inf", "1e400", "-0.0", "0.0", "1e-3", "12345678901234567890123456789012345678",
    "1234567890123456789012345678.1234567890", "99999999.99", "100000000.00", "1.0f", "1d", "١",
])  # fmt: skip
TIMES = st.sampled_from([
    "2026-01-31", "2026-02-30", "0001-01-01", "9999-12-31", "0000-01-01", "2026-1-1", "2024-02-29", "2023-02-29",
    "2026-01-31T10:00:00Z", "2026-01-31 10:00:00+01:00", "2026-01-31T10:00:00", "2026-01-31T24:00:00Z", "2026-01-31T10:00Z",
    "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59-01:00", "2026-01-31T10:00:00.1234567Z",
    "2026-03-29T02:30:00", "2026-10-25T02:30:00", "2026-01-31T10:00:00+1900", "2026-01-31T10:00:00+0530", "epoch", "now",
])  # fmt: skip
WORDS = st.sampled_from([
    "", " ", "a", "A", "\u00a0", "\t", "ab\n", "ab", "é", "e\u0301", "😀", "ß", "true", "false", "TRUE", "t", 'x"y', "a,b", "\u2028",
    "\u200b", "null", "NULL", "NA", "\\", "'", "${x}", "a\r\nb", "ﬀ", "İ",
])  # fmt: skip
TYPES = (
    "string", "boolean", "tinyint", "int", "bigint", "float", "double", "decimal(10,2)", "decimal(38,10)", "date", "timestamp",
    "timestamp_ntz",
)  # fmt: skip
EXTRAS = {
    "string": ["", ", not_blank: whitespace", ", pattern: '[a-z]+'", ", min_length: 1, max_length: 1", ", allowed: [a, ab]"],
    "boolean": ["", ", required: true"], "date": ["", ", min: 2000-01-01"],
    "timestamp": ["", ", timezone: any", ", source_timezone: Europe/Paris"], "timestamp_ntz": [""],
}  # fmt: skip
BOUNDED = ["", ", min: 0", ", max: 100", ", allowed: [0, 1, 7]", ", required: true, min: 1"]
SEARCH = os.environ.get("INVARACT_SEARCH")
QUICK = settings(
    max_examples=int(SEARCH or 15), deadline=None, derandomize=SEARCH is None, phases=(Phase.explicit, Phase.generate),
)  # fmt: skip
"""The same few batches in every run, since one takes seconds; INVARACT_SEARCH is the number of new ones for a long search."""


@st.composite
def batches(draw: st.DrawFn) -> tuple[str, str, str]:
    """Fields, the text of a file, and the rest of the contract."""
    types = draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=5))
    fields = [
        f'{{name: c{i}, type: "{t}"{draw(st.sampled_from(EXTRAS.get(t, BOUNDED)))}}}' for i, t in enumerate(types)
    ]  # fmt: skip
    any_cell = st.one_of(NUMBERS, TIMES, WORDS)
    own = {"string": WORDS, "boolean": WORDS, "date": TIMES, "timestamp": TIMES, "timestamp_ntz": TIMES}
    lines = []
    for _ in range(draw(st.integers(1, 12))):
        cells = [draw(st.one_of(own.get(t, NUMBERS), own.get(t, NUMBERS), st.just(""), any_cell)) for t in types]
        lines.append(",".join(written(c, draw(st.booleans())) for c in cells))
    failure = draw(st.sampled_from(["reject", "quarantine"]))
    rules = draw(st.sampled_from(["", ", row_rules: [{name: rule, sql: \"1 / nullif(length(c0), 1) > 0.2\"}]"]))
    keys = draw(st.sampled_from(["", "\nkeys: [[c0]]"]))
    rules = rules if types[0] == "string" else ""
    return "\n".join(fields), ",".join(f"c{i}" for i in range(len(types))) + "\n" + "\n".join(lines) + "\n", (
        f"quality: {{on_row_failure: {failure}{rules}}}{keys}"
    )


def written(cell: str, is_quoted: bool) -> str:
    if is_quoted or any(c in cell for c in ',"\r\n'):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def seen(lake: EngineLake, result: GateResult) -> dict[str, Any]:
    """What has to be the same."""
    return {
        "state": result.state, "code": result.code,
        "checks": {  # whether a value in a wrong form counts as a null too is each engine's own
            c.check: (c.outcome, c.rows, c.failed, c.undecided, c.nulls if not c.undecided else None) for c in result.checks
        },
        "counts": (result.counts.read, result.counts.good, result.counts.candidate, result.counts.quarantined),
        "rows": [repr(sorted(row.items())) for row in lake.rows()],
        "aside": lake.aside() if result.counts.failing else [],
        "payloads": [json.loads(p) for p in lake.payloads()] if result.counts.failing else [],
    }  # fmt: skip


def assert_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Only what differs is shown."""
    checks = found.pop("checks"), expected.pop("checks")
    both = {c: tuple(side.get(c) for side in checks) for c in {*checks[0], *checks[1]}}
    differing = {c: pair for c, pair in both.items() if not is_same(*pair)}
    assert (differing, found) == ({}, expected)


def is_same(one: tuple[Any, ...] | None, other: tuple[Any, ...] | None) -> bool:
    """Equal, but for a count of nulls that one of them does not know."""
    if one is None or other is None:
        return one is other
    return one[:-1] == other[:-1] and (one[-1] == other[-1] or None in (one[-1], other[-1]))


def on(engine: str, files: dict[str, bytes | str], fields: str, **parts: str) -> dict[str, Any]:
    lake = EngineLake(root=Path(tempfile.mkdtemp(prefix=f"parity-{engine}-")), engine=engine)
    lake.put(files)
    return seen(lake, lake.run(lake.contract(fields, **parts)))


@QUICK
@given(batch=batches())
def test_delimited_text_means_the_same(spark: Any, batch: tuple[str, str, str]) -> None:
    fields, text, more = batch
    assert_same(on("spark", {"a.csv": text}, fields, more=more), on("duckdb", {"a.csv": text}, fields, more=more))


@pytest.mark.parametrize("stray", [
    "{", "[1]", '{"c0":1} x', "5", "{} {}", '{"c0":1}]', '{"c0":1}}', '{"c0":1,"c0":2}', '{"c0":1,"c0":2}]', '"{}"', "{}", "[{}]",
])  # fmt: skip
def test_line_that_is_no_record_is_told_alike(spark: Any, stray: str) -> None:
    files = {"a.jsonl": f'{{"c0":1}}\n{stray}\n'}
    parts = {"source": "format: json", "more": "quality: {on_row_failure: quarantine}"}
    fields = "{name: c0, type: int}"
    assert_same(on("spark", files, fields, **parts), on("duckdb", files, fields, **parts))


VALUES = st.one_of(
    st.sampled_from(["a", "", "5", "true", "2026-01-31", "2026-01-31T10:00:00Z", "😀", "\u00a0"]), st.booleans(), st.none(),
    st.integers(-(2**70), 2**70), st.sampled_from([1.5, -0.0, 1e300, 0.1, 1.23, 12345678.91]),
    st.lists(st.integers(0, 3), max_size=2), st.dictionaries(st.sampled_from("xyz"), st.integers(0, 3), max_size=2),
)  # fmt: skip
JSON_TYPES = (*TYPES, "array<int>", "struct<x:int,y:int>", "map<string,int>")


@QUICK
@given(
    types=st.lists(st.sampled_from(JSON_TYPES), min_size=1, max_size=4),
    records=st.lists(st.lists(VALUES, min_size=4, max_size=4), min_size=1, max_size=10),
    stray=st.sampled_from(["", "{", "[1]", '{"c0":1} x', "5", "{} {}", '{"c0":1}]']),
    failure=st.sampled_from(["reject", "quarantine"]),
)
def test_json_records_mean_the_same(spark: Any, types: list[str], records: list[list[Any]], stray: str, failure: str) -> None:
    fields = "\n".join(f'{{name: c{i}, type: "{t}"}}' for i, t in enumerate(types))
    lines = [json.dumps({f"c{i}": v for i, (v, _) in enumerate(zip(row, types, strict=False))}) for row in records]
    files = {"a.jsonl": "\n".join([*lines, *([stray] if stray else [])]) + "\n"}
    parts = {"source": "format: json", "more": f"quality: {{on_row_failure: {failure}}}"}
    assert_same(on("spark", files, fields, **parts), on("duckdb", files, fields, **parts))


@QUICK
@given(
    rows=st.lists(
        st.tuples(
            st.one_of(st.none(), st.integers(-5, 5)), st.one_of(st.none(), st.floats(allow_infinity=False), st.just(-0.0)),
            st.one_of(st.none(), st.sampled_from(["a", "A", " a", "é", "e\u0301", "ß", "ss", ""])),
            st.one_of(st.none(), st.dates()), st.one_of(st.none(), st.datetimes()),
        ), max_size=20,
    ),
    key=st.sampled_from(["[i]", "[f]", "[s]", "[d]", "[i, s]", "[i, d]", "[f, s]"]),
    nulls=st.sampled_from(["fail", "distinct", "ignore"]), steps=st.sampled_from(["", "trim", "lower", "casefold", "nfc", "nfkc"]),
)  # fmt: skip
def test_typed_rows_and_their_keys_mean_the_same(
    spark: Any, rows: list[tuple[Any, ...]], key: str, nulls: str, steps: str
) -> None:
    names = ["i", "f", "s", "d", "t"]
    kinds = [pa.int64(), pa.float64(), pa.string(), pa.date32(), pa.timestamp("us")]
    table = pa.table({n: pa.array([row[j] for row in rows], k) for j, (n, k) in enumerate(zip(names, kinds, strict=True))})
    fields = (
        "{name: i, type: bigint, max: 4}\n{name: f, type: double, min: 0}\n"
        f"{{name: s, type: string, normalize: [{steps}]}}\n{{name: d, type: date}}\n{{name: t, type: timestamp_ntz}}"
    )
    more = f"keys: [{{columns: {key}, nulls: {nulls}}}]\nquality: {{on_row_failure: quarantine}}"
    parts = {"source": "format: parquet, empty: accept", "more": more}
    found, expected = (on(e, {"a.parquet": parquet(table)}, fields, **parts) for e in ("spark", "duckdb"))
    for one in (found, expected):
        one.pop("payloads")  # numbers have another text in each engine's JSON
    assert_same(found, expected)


@pytest.mark.parametrize("sql", [
    "a / b > 3", "a % b = 0", "a + b > 0",
    "a * 4611686018427387904 > 0", "a + 9223372036854775807 > 0", "a * b > 0 or b = 2", "-a < 0 and a - b < 5",
    "cast(s as int) > 0", "length(s) > 1", "s rlike 'a$'",
    "s like 'a%'", "a between 0 and 2", "coalesce(s, 'x') <> 'a'", "substring(s, 1, 1) = 'a'", "year(d) = 2026",
    "datediff(d, date'2026-01-01') >= 0", "d <= current_date()", "case when a > 0 then b > 0 else true end", "a in (1, 2)",
    "a is null or b is null", "round(f, 1) = 0.1", "upper(s) = 'A'", "concat(s, '!') = 'a!'", "trim(s) = 'a'", "f > 0 or isnan(f)",
    "a div b = 1", "abs(a) = 1", "greatest(a, b) > 0", "if(a = 1, true, b = 0)", "a <=> b", "not (a > b)", "s = 'a' and a / b > 0",
    "month(d) = 1", "dayofweek(d) = 5", "add_months(d, 1) > d", "split_part(s, 'b', 1) = 'a'", "instr(s, 'b') > 0", "lpad(s, 3, '*') <> ''",
])  # fmt: skip
def test_row_rule_means_the_same(spark: Any, sql: str) -> None:
    table = pa.table({
        "a": pa.array([1, 2, None, 9223372036854775807, -1, 7], pa.int64()), "b": pa.array([0, 1, 2, 1, None, -2], pa.int64()),
        "s": ["a", "ab", None, "a\n", " a ", "12"], "f": [0.1, float("nan"), None, -0.0, 1e300, 0.14],
        "d": pa.array([20454, 20455, None, 0, 20819, -719162], pa.int32()).cast(pa.date32()),
    })  # fmt: skip
    fields = "\n".join(f"{{name: {n}, type: {t}}}" for n, t in zip("absfd", ["bigint", "bigint", "string", "double", "date"], strict=True))
    text = json.dumps(sql)
    parts = {"source": "format: parquet", "more": f"quality: {{on_row_failure: quarantine, row_rules: [{{name: rule, sql: {text}}}]}}"}
    found, expected = (on(e, {"a.parquet": parquet(table)}, fields, **parts) for e in ("spark", "duckdb"))
    for one in (found, expected):
        one.pop("payloads")
    assert_same(found, expected)
