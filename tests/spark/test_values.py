"""Every text and every JSON value in a field of every type: the same rows are right, and the same values are published."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spark.test_parity import QUICK, assert_same, on

TYPES = (
    "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal(10,2)", "decimal(4,4)", "decimal(38,0)", "decimal(38,10)",
    "decimal(38,38)", "date", "timestamp", "timestamp_ntz", "binary", "string",
)  # fmt: skip
DECLARED = (
    'date, format: "dd/MM/yyyy"', 'date, format: "d/M/yyyy"', "timestamp, timezone: any", "timestamp, timezone: none",
    "timestamp, source_timezone: Europe/Paris", "timestamp, source_timezone: America/New_York", "timestamp, format: \"dd-MM-yyyy'T'HH:mm:ssXX\"",
    'timestamp_ntz, format: "yyyy-MM-dd HH:mm:ss.SSS"', '"decimal(10,2)", decimal_separator: ",", group_separator: "."', 'date, format: "d MMM yyyy"',
)  # fmt: skip
TEXTS = [
    "0", "-0", "00", "1", "-1", "+1", " 1", "1 ", "1\n", "\t1", "1.", ".1", "1.0", "1.00", "1.000", "1.23", "1.235", "-1.20", "1e3", "1E3", "1e-3", "1.5e0", "1_0", "0x1F", "127",
    "128", "-128", "-129", "32767", "32768", "2147483647", "-2147483648", "2147483648", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
    "99999999.99", "100000000", "0.1234", "0.12345", "1.1234", "9" * 38, "9" * 39, "-" + "9" * 38, "0." + "9" * 38, "0." + "9" * 39, "9" * 28 + ".0123456789", "9" * 29 + ".1",
    "1." + "0" * 30, "NaN", "nan", "NAN", "Infinity", "-Infinity", "inf", "1e400", "-1e400", "1e-400", "3.4028235e38", "3.5e38", "1e39", "0.1", "16777217", "1.17549435e-38", "5e-324",
    "true", "false", "TRUE", "True", "t", "f", "yes", "no", "on", "1d", "1f", "1L", "\u0661", "\u22121", "1,5", "1.234,56", "12.345,6", "1.234", "1234,56", ",5", "-1.234,50",
    "2026-01-31", "2026-02-30", "2026-1-31", "2026-01-1", "0001-01-01", "0000-01-01", "9999-12-31", "10000-01-01", "-0001-01-01", "2024-02-29", "2023-02-29", "2026-01-31 ",
    "2026/01/31", "31/01/2026", "31/1/2026", "1/2/2026", "29/02/2023", "31 Jan 2026", "1 Jan 2026", "31 jan 2026", "31 Januar 2026", "epoch", "now", "infinity", "today",
    "2026-01-31T10:20:30Z", "2026-01-31 10:20:30Z", "2026-01-31T10:20Z", "2026-01-31T10:20:30.1Z", "2026-01-31T10:20:30.123456Z", "2026-01-31T10:20:30.1234567Z", "2026-01-31T10Z",
    "2026-01-31T10:20:30+01:00", "2026-01-31T10:20:30+0100", "2026-01-31T10:20:30+01", "2026-01-31T10:20:30-18:00", "2026-01-31T10:20:30+18:30", "2026-01-31T10:20:30+19:00",
    "2026-01-31T10:20:30", "2026-01-31 10:20:30", "2026-01-31T24:00:00Z", "2026-01-31T23:59:60Z", "2026-01-31T10:20:30 UTC", "2026-01-31T10:20:30Europe/Paris", "2026-01-31t10:20:30z",
    "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+01:00", "0001-01-01T00:00:00", "9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59-01:00", "9999-12-31T23:59:59", "1582-10-10T00:00:00Z",
    "294247-01-10T04:00:54", "+294247-01-10T04:00:54", "-290308-12-21T19:59:06", "+294247-01-10T04:00:54Z", "-290308-12-21T19:59:06Z",
    "2026-03-29T02:30:00", "2026-03-29T03:00:00", "2026-10-25T02:30:00", "2026-10-25T03:00:00", "2026-03-08T02:30:00", "2026-11-01T01:30:00", "1900-01-01T00:00:00", "1850-06-01T12:00:00",
    "31-12-2026T10:11:00+0200", "31-12-2026T10:11:00Z", "31-12-2026T10:11:00", "31-02-2026T10:11:00Z", "2026-01-31 10:20:30.123", "2026-01-31 10:20:30.12", "2026-01-31T10:20:30.123",
    "YQ==", "YQ", "YQ=", "Y Q==", "", " ", "YWJj", "YWJj\n", "a+/=", "a-_=", "\u00a0", "\u00a01", "a\u0000b", "😀", "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"), "e\u0301", "\u2028", "a\r\nb", "\\", "\\N", '"', "null", "NULL",
]  # fmt: skip
NESTED = (
    "array<int>", "array<decimal(10,2)>", "map<string,int>", "struct<x:int,y:string>", "array<struct<x:int,y:string>>", "map<string,array<date>>",
    "struct<a:struct<x:int,y:string>,b:array<array<boolean>>>",
)  # fmt: skip
VALUES = [
    *TEXTS[:80], *(json.dumps(t) for t in TEXTS), "null", "true", "false", "[]", "{}", "[1]", "[1,null]", "[1.5]", "[1.50]", "[1.500]", '["1"]', "[[1]]", "[null]", "[true]", "[[true]]",
    '{"x":1,"y":"a"}', '{"x":1}', '{"y":"a"}', '{"x":"1"}', '{"x":1,"z":2}', '{"X":1}', '{"x":null,"y":null}', '{"x":1.0}', '[{"x":1}]', '[{"x":1,"y":"a"},null]', '[{"x":"1"}]', '[{"z":1}]',
    '{"a":1}', '{"a":null}', '{"a":"1"}', '{"":1}', '{"a b":1,"é":2}', '{"a":["2026-01-31"]}', '{"a":["2026-02-30"]}', '{"a":{"x":1,"y":"a"}}', '{"a":{"x":1},"b":[[true,null],[]]}',
    '{"a":{"x":"1"}}', '{"b":[[1]]}', '{"a":{"w":1}}', "1.500", "1.5000000000000000000", "1.10", "100", "1e2", "1.0e2", "1E+2", "0.10", "-0", "1e-2", "0e0", "12345678901234567890.10",
    "0.00000000000000000000000000000000000001", "1234567890123456789012345678901234567890", "1.7976931348623157e308", "0.1e1", "10e-1", "3.0", "[1e2]", "[100.0]",
]  # fmt: skip
ENGINES = ["spark", "spark-connect"]
pytestmark = pytest.mark.slow
FLAT = tuple(f'"{t}"' for t in TYPES) + DECLARED
GROUPS = [FLAT[:6], FLAT[6:12], FLAT[12:17], FLAT[17:22], FLAT[22:]]
"""A few types at once: Spark compiles the whole of a batch's columns."""
NESTED_GROUPS = [*GROUPS, tuple(f'"{t}"' for t in NESTED[:4]), tuple(f'"{t}"' for t in NESTED[4:])]


def texts_batch(texts: list[str], kinds: tuple[str, ...]) -> tuple[dict[str, bytes | str], str]:
    """A file in which every text stands in every column once, beside nulls."""
    fields = "\n".join(f"{{name: c{i}, type: {kind}}}" for i, kind in enumerate(kinds))
    header = ",".join(f"c{i}" for i in range(len(kinds)))
    rows = [
        "," * i + '"' + text.replace('"', '""') + '"' + "," * (len(kinds) - 1 - i)
        for text in texts
        for i in range(len(kinds))
    ]  # fmt: skip
    return {"a.csv": "\n".join([header, *rows, ""]).encode("utf-8")}, fields


def values_batch(values: list[str], kinds: tuple[str, ...]) -> tuple[dict[str, bytes | str], str]:
    """Records that hold every JSON value under every name once."""
    fields = "\n".join(f"{{name: c{i}, type: {kind}}}" for i, kind in enumerate(kinds))
    lines = [f'{{"c{i}": {value}}}' for value in values if "\n" not in value for i in range(len(kinds))]
    return {"a.json": "\n".join([*lines, ""]).encode("utf-8")}, fields


ASIDE = "quality: {on_row_failure: quarantine}\nschema_policy: {missing_optional: accept}"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kinds", GROUPS, ids=str)
def test_every_text_means_the_same_in_every_type(spark: Any, engine: str, kinds: tuple[str, ...]) -> None:
    files, fields = texts_batch(TEXTS, kinds)
    assert_same(on(engine, files, fields, more=ASIDE), on("duckdb", files, fields, more=ASIDE))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kinds", NESTED_GROUPS, ids=str)
def test_every_json_value_means_the_same_in_every_type(spark: Any, engine: str, kinds: tuple[str, ...]) -> None:
    files, fields = values_batch(VALUES, kinds)
    parts = {"source": "format: json", "more": ASIDE}
    assert_same(on(engine, files, fields, **parts), on("duckdb", files, fields, **parts))


NOISE = st.text(alphabet="0123456789-+.eExXNaTZ:_ ,/\u0663é\t'\"truefalsinf", max_size=10)
SHAPED = st.from_regex(
    r"[-+]?[0-9]{0,12}(\.[0-9]{0,5})?([eE][-+]?[0-9]{1,2})?|[0-9]{4}-[01][0-9]-[0-3][0-9]([T ][0-2][0-9]:[0-6][0-9](:[0-6][0-9](\.[0-9]{0,7})?)?(Z|[+-][01][0-9](:?[0-5][0-9])?)?)?",
    fullmatch=True,
)


@QUICK
@given(texts=st.lists(st.one_of(SHAPED, SHAPED, NOISE), min_size=1, max_size=60), kinds=st.sampled_from(GROUPS))
def test_any_text_means_the_same_in_every_type(spark: Any, texts: list[str], kinds: tuple[str, ...]) -> None:
    files, fields = texts_batch(texts, kinds)
    assert_same(on("spark", files, fields, more=ASIDE), on("duckdb", files, fields, more=ASIDE))


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**65), 2**65), st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(TEXTS[:40])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["x", "y", "a", "b", "z"]), inner, max_size=3)), max_leaves=6,
)  # fmt: skip


@QUICK
@given(
    values=st.lists(st.one_of(JSON.map(json.dumps), SHAPED.filter(bool)), min_size=1, max_size=40), kinds=st.sampled_from(NESTED_GROUPS)
)  # fmt: skip
def test_any_json_value_means_the_same_in_every_type(spark: Any, values: list[str], kinds: tuple[str, ...]) -> None:
    files, fields = values_batch(values, kinds)
    parts = {"source": "format: json", "more": ASIDE}
    assert_same(on("spark", files, fields, **parts), on("duckdb", files, fields, **parts))
