"""What conditions mean on every engine, where engines left to themselves differ: true here, on each of them."""

from __future__ import annotations

import hashlib
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from invaract_orchestration.candidate.candidate import Candidate, CandidateFile
from invaract_orchestration.contract.expressions import check_condition
from invaract_orchestration.contract.field_types import parse_type
from tests.spark.conftest import QUIET
from tests.spark.lakes import ENGINES, engine_of

pytestmark = [pytest.mark.filterwarnings(quiet) for quiet in QUIET]
NOW = datetime(2026, 1, 31, 10, 20, 30, tzinfo=UTC)
TYPES = {
    "t": "tinyint", "i": "int", "b": "bigint", "d": "double", "f": "float", "m": "decimal(10,2)", "x": "decimal(38,0)", "s": "string", "n": "string", "k": "date",
    "z": "timestamp", "a": "array<int>", "e": "array<int>", "p": "map<string,int>",
}  # fmt: skip
ROW = pa.table({
    "t": pa.array([127], pa.int8()), "i": pa.array([-2147483648], pa.int32()), "b": pa.array([9223372036854775807], pa.int64()), "d": [0.15],
    "f": pa.array([float("nan")], pa.float32()), "m": pa.array([Decimal("0.01")], pa.decimal128(10, 2)), "x": pa.array([Decimal(0)], pa.decimal128(38, 0)),
    "s": ["\u00a0a\n"], "n": [None], "k": pa.array([date(9999, 12, 31)], pa.date32()), "z": pa.array([datetime(2026, 1, 31, tzinfo=UTC)], pa.timestamp("us", "UTC")),
    "a": pa.array([[1, None]], pa.list_(pa.int32())), "e": pa.array([None], pa.list_(pa.int32())), "p": pa.array([None], pa.map_(pa.string(), pa.int32())),
}).cast(pa.schema([
    ("t", pa.int8()), ("i", pa.int32()), ("b", pa.int64()), ("d", pa.float64()), ("f", pa.float32()), ("m", pa.decimal128(10, 2)), ("x", pa.decimal128(38, 0)),
    ("s", pa.string()), ("n", pa.string()), ("k", pa.date32()), ("z", pa.timestamp("us", "UTC")), ("a", pa.list_(pa.int32())), ("e", pa.list_(pa.int32())),
    ("p", pa.map_(pa.string(), pa.int32())),
]))  # fmt: skip
TRUE = [
    # a text is a value in one set of forms
    "cast(' 1' AS int) = 1", "cast('+1' AS bigint) = 1", "cast('1_0' AS int) IS NULL", "cast('0x1F' AS int) IS NULL", "cast('1.5' AS int) IS NULL",
    "cast('1e3' AS int) IS NULL", "cast('1_0' AS double) IS NULL", "cast('1e3' AS double) = 1000", "cast('1.239' AS decimal(10,2)) = 1.24",
    "cast('yes' AS boolean)", "cast(' 1' AS boolean)", "NOT cast('No' AS boolean)", "cast('on' AS boolean) IS NULL", "cast(concat('ep', 'och', coalesce(n, '')) AS date) IS NULL",
    "cast('infinity' AS date) IS NULL", "cast('2026/01/31' AS date) IS NULL", "to_date('2026-1-2') = date'2026-01-02'", "to_date('2026') = date'2026-01-01'",
    "to_date('2026-02-30') IS NULL", "to_timestamp('x') IS NULL", "to_timestamp('2026-01-31T01:00:00+01:00') = z", "cast('2026-01-31 00:00:00' AS timestamp) = z",
    # what overflows is null, whatever would do without computing it
    "i - 1 IS NULL", "-i IS NULL", "abs(i) IS NULL", "t + 1 = 128", "b + 1 IS NULL", "b * 2 IS NULL", "(b * 2 > 0) IS NULL", "i div -1 = 2147483648",
    "cast(b AS int) IS NULL", "cast(b AS tinyint) IS NULL", "b div 0 IS NULL", "d / 0 IS NULL", "m % 0 IS NULL", "f % 2 IS NOT NULL", "ln(0) IS NULL", "log10(-1) IS NULL",
    # dates stay in the years that a table can hold
    "date_add(k, 1) IS NULL", "date_add(k, 2147483647) IS NULL", "date_sub(k, 1) = date'9999-12-30'", "add_months(k, 1) IS NULL", "add_months(k, 2147483647) IS NULL",
    "make_date(2026, 13, 1) IS NULL", "trunc(k, 'MM') = date'9999-12-01'", "trunc(k, 'YY') = date'9999-01-01'",
    # numbers are rounded as they are written, half away from zero
    "round(d, 1) = 0.2", "round(2.5e0) = 3", "round(-2.5e0) = -3", "round(m, 1) = 0", "ceil(m) = 1", "floor(-m) = -1",
    "cast('99999999.99' AS decimal(10,2)) * 2147483647 = 214748364678525163.53", "(m + cast('9999999999999999.99' AS decimal(18,2))) * 2 > 19999999999999999",
    "cast('9999999999999999.99' AS decimal(18,2)) + cast('9999999999999999.99' AS decimal(18,2)) = 19999999999999999.98", "m * i * 1000000000 < -1",
    "cast('-9999999999999999.99' AS decimal(18,2)) - cast('9999999999999999.99' AS decimal(18,2)) = -19999999999999999.98",
    "m IN (0.01, 1)", "NOT (m IN (0, 1))", "x IN (0, 1)", "t NOT IN (1, 2)",
    # a null list has no size, and what is not in a list with a null may be in it
    "size(e) IS NULL", "array_size(e) IS NULL", "cardinality(e) IS NULL", "size(map_keys(p)) IS NULL", "size(a) = 2", "array_contains(a, 1)",
    "array_contains(a, 2) IS NULL", "array_contains(e, 1) IS NULL",
    # texts
    "trim(s) = s", "ltrim('\t a') = '\t a'", "length(trim('  a  ')) = 1", "left('abc', -1) = ''", "substring('abc', 3, -2) = ''", "substring('abc', -2, 1) = 'b'", "right('abc', 0) = ''", "left('abc', 2) = 'ab'", "replace('abab', 'a') = 'bb'",
    "split_part('a-b', '-', 2) = 'b'", "split_part('a-b', '-', t - 127) IS NULL", "upper('straße') = 'STRASSE'", "length(lower('İ')) = 2", "lower('ΑΘΗΝΑΣ ΑΣΑ') = 'αθηνας ασα'", "'ΟΔΟΣ' ILIKE 'οδος'", "upper('ﬀ') = 'FF'",
    "'É' ILIKE 'é'", "NOT ('İ' ILIKE '_')", "n IS NULL", "(n = 'a') IS NULL", "NOT (n <=> 'a')", "concat_ws('-', n, 'a') = 'a'",
    "substring('abc', cast(n AS int), 0) IS NULL", "substring('abc', 1, cast(n AS int)) IS NULL", "substring('abc', 0, 0) = ''", "left('abc', cast(n AS int)) IS NULL",
    # parts of a date have Spark's names and Spark's numbers
    "extract(DOW FROM k) = 6", "extract(dayofweek FROM z) = 7", "date_part('dow', z) = 7", "extract(DOW_ISO FROM z) = 6", "date_part('DAYOFWEEK_ISO', z) = 6",
    "date_part('MON', z) = 1", "date_part('m', to_timestamp('2026-01-31 10:20:30')) = 20", "extract(WEEK FROM z) = 5", "extract(YEAROFWEEK FROM date'2027-01-01') = 2026",
    "date_part('doy', z) = 31", "date_part('secs', to_timestamp('2026-01-31 10:20:30.25')) = 30.25", "second(to_timestamp('2026-01-31 10:20:30.25')) = 30",
    "extract(HOUR FROM k) = 0", "date_part('year', cast(n AS date)) IS NULL",
    # not a number
    "isnan(f)", "f = f", "f > 1e308", "NOT (f < 0)",
]  # fmt: skip


def candidate(tmp_path: Path) -> Candidate:
    path = tmp_path / "part-0.parquet"
    pq.write_table(ROW, path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    file = CandidateFile(path=str(path), size=path.stat().st_size, rows=1, digest=digest)
    return Candidate(
        location=str(tmp_path), columns=tuple((n, parse_type(t)) for n, t in TYPES.items()), spelled={}, files=(file,), digest="none"
    )


@pytest.mark.parametrize("engine", [pytest.param(e, marks=[] if e == "duckdb" else [pytest.mark.spark]) for e in ENGINES])
def test_condition_is_true(engine: str, tmp_path: Path) -> None:
    with engine_of(engine).open(tmp_path / "scratch", lambda name, _: str(tmp_path / name)) as session:
        violated = session.count_violations(candidate(tmp_path), TRUE, NOW)
    assert [sql for sql, count in zip(TRUE, violated, strict=True) if count] == []


def test_conditions_are_ones_that_a_contract_takes() -> None:
    columns = {n: parse_type(t) for n, t in TYPES.items()}
    assert {sql: found for sql in TRUE if (found := check_condition(sql, columns))} == {}


@pytest.mark.parametrize(("sql", "said"), [
    ("n > 1", "a text with a number"), ("m = '1'", "a text with a number"), ("k = n", "a text with a date"), ("k > 'yesterday'", "a text with a date"),
    ("coalesce(i, 'x') = 'x'", "a text with a number"), ("if(isnan(d), i, 'x') = 'x'", "a text with a number"), ("abs(n) = 1", "expected a number"), ("n + 1 > 0", "a text with a number"),
    ("length(i) = 1", "expected a text"), ("upper(i) = '1'", "expected a text"), ("hour(n) = 1", "expected a date"), ("date_add(n, 1) = k", "expected a date"),
    ("cast(z AS bigint) > 0", "a cast of a timestamp to a number"), ("cast(d AS string) = '0.15'", "the text of a float"), ("concat(d, 'x') = 'x'", "the text of a float"),
    ("k - k < INTERVAL 1 DAY", "a difference of times"), ("k + 1 > k", "added by a plus"), ("x = m", "40 digits"), ("x IN (0.5, 1)", "39 digits"), ("-x < 0", "more than 34 digits"),
    ("extract(YEAR FROM s) = 2026", "expected a date"), ("date_part('year', s) = 2026", "expected a date"), ("date_part('year', k) = '2026'", "a text with a number"),
    ("extract(EPOCH FROM z) > 0", "expected a part of a date, found 'EPOCH'"), ("date_part('century', k) = 20", "expected a part of a date, found 'century'"),
    ("date_part(s, k) = 1", "expected a part of a date, found 's'"), ("x + 1 > 0", "needs a decimal of 39 digits"), ("x * 2 >= 0", "needs a decimal of 40 digits"), ("m * cast(b AS decimal(30,2)) > 0", "41 digits"),
    ("x / 3 > 0", "44 digits"), ("f = 0.1", "a float meets a decimal"), ("f IN (1, 0.5)", "a float meets a decimal"), ("f BETWEEN 0 AND 0.5", "a float meets a decimal"),
    ("coalesce(f, 0.1) > 0", "a float meets a decimal"), ("f * 0.1 > 0", "a float meets a decimal"), ("if(isnan(f), f, d) > m", "a float meets a decimal"), ("abs(f) - m > 0", "a float meets a decimal"), ("(x - 1) % 2 = 0", "39 digits"), ("x % 2 = 0 AND x - m > 0", "41 digits"), ("(i > 0) = 1", "a number with a boolean"), ("k > cast('epoch' AS date)", "a word for a moment"), ("k > date'Today'", "a word for a moment"),
])  # fmt: skip
def test_condition_that_engines_convert_differently_is_refused(sql: str, said: str) -> None:
    found = check_condition(sql, {n: parse_type(t) for n, t in TYPES.items()})
    assert found
    assert said in str(found[0])


@pytest.mark.parametrize("sql", ["k > '2026-01-31'", "z < '2026-01-31 10:00:00'", "k BETWEEN '2026-01-01' AND '2026-12-31'", "k <= z", "i > m", "m * m * 2 + i > 0", "b * b > 0", "x % 2 = 0", "m / i > 0", "f >= 1e-1", "f >= 1", "f = d", "cast(f AS double) >= 0.1", "d = 0.1", "f + 1 > i", "k + INTERVAL 1 DAY > k"])
def test_condition_that_means_one_thing_is_taken(sql: str) -> None:
    assert check_condition(sql, {n: parse_type(t) for n, t in TYPES.items()}) == []
