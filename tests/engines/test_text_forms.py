"""The forms of written values, against plain Python that knows nothing of the engine."""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal as Number
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invaract_orchestration.contract.field_types import parse_type
from invaract_orchestration.contract.model import FieldSpec
from invaract_orchestration.engines.duckdb.session import connect
from invaract_orchestration.engines.duckdb.text_forms import read_text

WRONG = object()
RANGES = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    opened = connect(tmp_path_factory.mktemp("spill"), None, 1)
    yield opened
    opened.close()


def read_all(connection: duckdb.DuckDBPyConnection, type_: str, texts: list[str], **declared: Any) -> list[Any]:
    spec = FieldSpec(name="v", type=parse_type(type_), **declared)
    read = read_text("t", spec.type, spec, "UTC")
    rows = connection.execute(
        f"SELECT coalesce({read.is_right}, false), {read.value} FROM (SELECT unnest(?) AS t, generate_subscripts(?, 1) AS n) "
        "ORDER BY n",
        [texts, texts],
    ).fetchall()
    return [value if is_right else WRONG for is_right, value in rows]


def whole_number(text: str, bits: int) -> Any:
    if not re.fullmatch(r"-?(0|[1-9][0-9]*)", text):
        return WRONG
    value = int(text)
    return value if -(2 ** (bits - 1)) <= value < 2 ** (bits - 1) else WRONG


def decimal_number(text: str, precision: int, scale: int) -> Any:
    match = re.fullmatch(r"-?([0-9]+)(?:\.([0-9]+))?", text)
    if not match or len(match[1]) > max(precision - scale, 1) or len(match[2] or "") > scale:
        return WRONG
    value = Number(text)
    return value if abs(value) < Number(10) ** (precision - scale) else WRONG


def floating(text: str, *, is_single: bool) -> Any:
    if text == "NaN":
        return "NaN"
    if not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", text):
        return WRONG
    value = float(text)
    try:
        value = struct.unpack("f", struct.pack("f", value))[0] if is_single else value
    except OverflowError:
        return WRONG
    return value if abs(value) != float("inf") else WRONG


def day(text: str) -> Any:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return WRONG
    try:
        return date(*map(int, text.split("-")))
    except ValueError:
        return WRONG


CLOCK = r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]{1,6}))?)?"


def wall_clock(match: re.Match[str]) -> Any:
    own = day(match[1])
    if own is WRONG:
        return WRONG
    return datetime(
        own.year, own.month, own.day, int(match[2]), int(match[3]), int(match[4] or 0), int((match[5] or "").ljust(6, "0") or 0)
    )


def instant(text: str) -> Any:
    match = re.fullmatch(CLOCK + r"(Z|([+-])(0[0-9]|1[0-8])(?::?([0-5][0-9]))?)", text)
    if not match or (when := wall_clock(match)) is WRONG:
        return WRONG
    offset = timedelta(hours=int(match[8] or 0), minutes=int(match[9] or 0))
    if offset > timedelta(hours=18):
        return WRONG
    try:
        return (when + offset if match[7] == "-" else when - offset).replace(tzinfo=UTC)
    except OverflowError:
        return WRONG


def local_time(text: str) -> Any:
    match = re.fullmatch(CLOCK, text)
    return wall_clock(match) if match else WRONG


def blob(text: str) -> Any:
    try:
        value = base64.b64decode(text, validate=True)
    except ValueError:
        return WRONG
    return value if base64.b64encode(value).decode() == text else WRONG


NOISE = st.text(alphabet="0123456789-+.eExXNaTZ:_ ,/٣é\n\t\0'\"truefalsinf", max_size=12)
NUMBERS = st.from_regex(r"\A[-+]?[0-9]{0,20}(\.[0-9]{0,5})?([eE][-+]?[0-9]{1,3})?\Z", fullmatch=False)
DAYS = st.one_of(
    st.dates().map(str), st.from_regex(r"[0-9]{3,5}-[0-9]{1,2}-[0-9]{1,2}", fullmatch=True),
    st.from_regex(r"(0000|0001|2024|2026|9999)-(0[0-9]|1[0-3])-(0[0-9]|[23][0-9])", fullmatch=True),
)  # fmt: skip
TIMES = st.builds(
    "".join,
    st.tuples(
        DAYS, st.sampled_from(["T", " ", "", "t"]),
        st.from_regex(r"([01][0-9]|2[0-5]):[0-6][0-9](:[0-6][0-9](\.[0-9]{0,7})?)?", fullmatch=True),
        st.one_of(st.sampled_from(["", "Z", "z", "+00:00", " UTC"]), st.from_regex(r"[+-][012][0-9](:?[0-7][0-9])?", fullmatch=True)),
    ),
)  # fmt: skip


@pytest.mark.parametrize("type_", sorted(RANGES))
@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.one_of(st.integers(-(2**65), 2**65).map(str), NUMBERS, NOISE), min_size=1, max_size=40))
def test_whole_numbers_are_read_as_plain_python_reads_them(
    connection: duckdb.DuckDBPyConnection, type_: str, texts: list[str]
) -> None:
    assert read_all(connection, type_, texts) == [whole_number(t, RANGES[type_]) for t in texts]


@pytest.mark.parametrize(("precision", "scale"), [(10, 2), (38, 0), (38, 38), (4, 4), (18, 6), (1, 0), (38, 18)])
@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.one_of(st.decimals(allow_nan=False, allow_infinity=False).map(str), NUMBERS, NOISE), min_size=1, max_size=40))
def test_decimals_are_read_as_plain_python_reads_them(
    connection: duckdb.DuckDBPyConnection, precision: int, scale: int, texts: list[str]
) -> None:
    found = read_all(connection, f"decimal({precision},{scale})", texts)
    assert found == [decimal_number(t, precision, scale) for t in texts]


@pytest.mark.parametrize("type_", ["float", "double"])
@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.one_of(st.floats().map(str), NUMBERS, NOISE, st.just("NaN")), min_size=1, max_size=40))
def test_floats_are_read_as_plain_python_reads_them(connection: duckdb.DuckDBPyConnection, type_: str, texts: list[str]) -> None:
    found = ["NaN" if v is not WRONG and v != v else v for v in read_all(connection, type_, texts)]
    assert found == [floating(t, is_single=type_ == "float") for t in texts]


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.one_of(DAYS, NOISE), min_size=1, max_size=40))
def test_dates_are_read_as_plain_python_reads_them(connection: duckdb.DuckDBPyConnection, texts: list[str]) -> None:
    assert read_all(connection, "date", texts) == [day(t) for t in texts]


@settings(max_examples=100, deadline=None)
@given(texts=st.lists(st.one_of(TIMES, NOISE), min_size=1, max_size=40))
def test_instants_are_read_as_plain_python_reads_them(connection: duckdb.DuckDBPyConnection, texts: list[str]) -> None:
    found = [v if v is WRONG else v.astimezone(UTC) for v in read_all(connection, "timestamp", texts)]
    assert found == [instant(t) for t in texts]


@settings(max_examples=100, deadline=None)
@given(texts=st.lists(st.one_of(TIMES, NOISE), min_size=1, max_size=40))
def test_local_times_are_read_as_plain_python_reads_them(connection: duckdb.DuckDBPyConnection, texts: list[str]) -> None:
    assert read_all(connection, "timestamp_ntz", texts) == [local_time(t) for t in texts]


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.one_of(st.binary(max_size=9).map(lambda b: base64.b64encode(b).decode()), NOISE), min_size=1, max_size=40))
def test_binaries_are_read_as_plain_python_reads_them(connection: duckdb.DuckDBPyConnection, texts: list[str]) -> None:
    assert read_all(connection, "binary", texts) == [blob(t) for t in texts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-29 02:30:00", WRONG),  # does not exist: the clocks go forward
        ("2026-10-25 02:30:00", WRONG),  # exists twice: they go back
        ("2026-10-25 02:00:00", WRONG),
        ("2026-10-25 03:00:00", datetime(2026, 10, 25, 2, 0, tzinfo=UTC)),
        ("2026-03-29 03:00:00", datetime(2026, 3, 29, 1, 0, tzinfo=UTC)),
        ("2026-12-31 23:59:60", WRONG),
        ("2026-09-01 12:00:00", datetime(2026, 9, 1, 10, 0, tzinfo=UTC)),
        ("0001-01-01 00:00:00", WRONG),  # that instant lies in the year before the first
        ("infinity", WRONG), ("-infinity", WRONG), ("epoch", WRONG), ("", WRONG),
        ("2026-09-01T12:00:00Z", WRONG),
    ],
)
def test_local_time_of_a_zone_is_the_one_instant_that_shows_it(
    connection: duckdb.DuckDBPyConnection, text: str, expected: Any
) -> None:
    (found,) = read_all(connection, "timestamp", [text], source_timezone="Europe/Paris")
    assert (found if found is WRONG else found.astimezone(UTC)) == expected


@pytest.mark.parametrize(
    ("type_", "declared", "text", "expected"),
    [
        ("date", {"format": "dd/MM/yyyy"}, "31/12/2026", date(2026, 12, 31)),
        ("date", {"format": "dd/MM/yyyy"}, "31/02/2026", WRONG),
        ("date", {"format": "dd/MM/yyyy"}, "1/2/2026", WRONG),
        ("date", {"format": "d/M/yyyy"}, "1/2/2026", date(2026, 2, 1)),
        ("date", {"format": "dd/MM/yyyy"}, "31/12/0000", WRONG),
        ("timestamp", {"format": "dd-MM-yyyy'T'HH:mm:ssXX"}, "31-12-2026T10:11:00+0200", datetime(2026, 12, 31, 8, 11, tzinfo=UTC)),
        ("timestamp", {"format": "dd-MM-yyyy'T'HH:mm:ssXX"}, "31-12-2026T10:11:00Z", datetime(2026, 12, 31, 10, 11, tzinfo=UTC)),
        ("timestamp", {"format": "dd-MM-yyyy'T'HH:mm:ssXX"}, "31-12-2026T10:11:00", WRONG),
        ("decimal(10,2)", {"decimal_separator": ",", "group_separator": "."}, "1.234,56", Number("1234.56")),
        ("decimal(10,2)", {"decimal_separator": ",", "group_separator": "."}, "1.5", WRONG),
        ("decimal(10,2)", {"decimal_separator": ",", "group_separator": "."}, "12.34,5", WRONG),
    ],
)  # fmt: skip
def test_declared_form_takes_that_form_alone(
    connection: duckdb.DuckDBPyConnection, type_: str, declared: dict[str, Any], text: str, expected: Any
) -> None:
    (found,) = read_all(connection, type_, [text], **declared)
    assert (found.astimezone(UTC) if isinstance(found, datetime) else found) == expected
