"""`init`: whatever file it is given, the file keeps the contract that was drafted from it."""

from __future__ import annotations

import gzip
import json
import time

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from invaract_orchestration.contract.load import load_contract
from tests.cli.conftest import Place

FILES: dict[str, bytes] = {
    "plain.csv": b"id,amount,day,ok\n1,2.50,2026-01-31,true\n2,,2026-02-28,false\n",
    "semicolon.csv": "Nr;Betrag;Tag;Straße\n1;12,50;31.12.2026;Hauptstraße\n2;1,00;01.02.2026;\n".encode(),
    "latin.csv": "name,city\nMüller,Köln\n".encode("latin-1"),
    "utf16.csv": "name\tcity\nMüller\tKöln\n".encode("utf-16"),
    "tabs.csv": b"a\tb\n1\tx\n",
    "na.csv": b"id,delay\n1,5\n2,NA\n",
    "trailing.csv": b"a,b,\n1,2,\n",
    "zip.csv": b"zip,big,when\n01234,12345678901234567890,2026-01-01T10:00:00Z\n99999,1,2026-01-01T11:00:00+02:00\n",
    "packed.csv.gz": gzip.compress(b"a,b\n1,2026-01-01 10:00:00\n"),
    "header_only.csv": b"a,b\n",
    "quoted.csv": b'"a","b c"\n"1","x, y"\n',
    "records.jsonl": b'{"id": 1, "tags": ["a"], "at": "2026-01-01T10:00:00Z", "o": {"x": 1.5}}\n'
    b'{"id": 2, "tags": [], "at": null, "o": null}\n',
    "numbers.jsonl": b'{"id": 12345678901234567890, "n": 123456789012345678901234567890, "x": 2}\n{"id": 1, "n": null, "x": 2.5}\n',
    "array.json": b'[{"id": 1, "day": "2026-01-01"}, {"id": 2, "day": "2026-01-02"}]',
}


@pytest.mark.parametrize("name", [n for n in FILES if n != "header_only.csv"])
def test_file_keeps_the_contract_drafted_from_it(place: Place, name: str) -> None:
    (place.root / name).write_bytes(FILES[name])
    assert place.call("init", name, "--write", "contracts/new.yaml").code == 0
    said = place.call("check", "contracts/new.yaml")
    assert said.code == 0, said.out


def test_header_alone_gives_texts(place: Place) -> None:
    (place.root / "header_only.csv").write_bytes(FILES["header_only.csv"])
    assert place.call("init", "header_only.csv", "--write", "new.yaml").code == 0
    assert [str(f.type) for f in load_contract("new.yaml").fields] == ["string", "string"]


@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("plain.csv", ["bigint", "decimal(18,2)", "date", "boolean"]),
        ("semicolon.csv", ["bigint", "decimal(18,2)", "date", "string"]),
        ("zip.csv", ["string", "string", "timestamp"]),
        ("na.csv", ["bigint", "bigint"]),
        ("packed.csv.gz", ["bigint", "timestamp_ntz"]),
        ("records.jsonl", ["bigint", "array<string>", "timestamp", "struct<x:double>"]),
        ("array.json", ["bigint", "date"]),
        ("numbers.jsonl", ["decimal(38,0)", "decimal(38,0)", "double"]),
    ],
)
def test_types_are_the_narrowest_that_every_value_is_written_in(place: Place, name: str, types: list[str]) -> None:
    (place.root / name).write_bytes(FILES[name])
    place.call("init", name, "--write", "new.yaml")
    assert [str(f.type) for f in load_contract("new.yaml").fields] == types


def test_parquet_gives_its_own_types(place: Place) -> None:
    duckdb.sql("SELECT 1::BIGINT AS id, 1.5::DECIMAL(9,3) AS x, [1] AS many, 1::UINTEGER AS odd").write_parquet("t.parquet")
    said = place.call("init", "t.parquet")
    assert '{name: x, type: "decimal(9,3)"}' in said.out
    assert '"array<int>"' in said.out
    assert "found uinteger, which a contract cannot name" in said.out


@pytest.mark.parametrize(("zone", "type_"), [(None, "timestamp_ntz"), ("UTC", "timestamp")])
def test_parquet_of_nanoseconds_is_published_by_its_own_draft(place: Place, zone: str | None, type_: str) -> None:
    moments = pa.array([1_700_000_000_123_456_000, -1_000, None], pa.int64()).cast(pa.timestamp("ns", zone))
    pq.write_table(pa.table({"id": [1, 2, 3], "at": moments}), place.root / "t.parquet")
    assert place.call("init", "t.parquet", "--write", "new.yaml", "--target", "./out/t").code == 0
    text = (place.root / "new.yaml").read_text()
    assert f"{{name: at, type: {type_}}}" in text
    assert "# found in nanoseconds" in text
    assert "type_changes: accept  # " in text
    assert place.call("run", "new.yaml").code == 0


def test_draft_is_printed_when_no_place_is_named_and_holds_no_value(place: Place) -> None:
    (place.root / "c.csv").write_bytes(b"id,word\n1,canary-11\n1,canary-12\n")
    said = place.call("init", "c.csv")
    assert said.code == 0
    assert "contract: c\n" in said.out
    assert "canary" not in said.out + said.err


def test_contract_that_is_there_is_not_replaced(place: Place) -> None:
    (place.root / "plain.csv").write_bytes(FILES["plain.csv"])
    said = place.call("init", "plain.csv", "--write", "orders.yaml")
    assert said.code == 64
    assert "--force replaces it" in said.err
    assert "contract: orders" in (place.root / "orders.yaml").read_text()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "the file is empty"), (b"a,a\n1,2\n", "is there twice"), (b"a,,c\n1,2,3\n", "a column has no name"),
        (b"PK\x03\x04xx", "is a zip archive"),
    ],
)  # fmt: skip
def test_file_without_a_usable_header_exits_3(place: Place, content: bytes, sentence: str) -> None:
    (place.root / "x.csv").write_bytes(content)
    said = place.call("init", "x.csv")
    assert said.code == 3
    assert sentence in said.err
    assert "\nHint: " in said.err


def test_missing_file_exits_3(place: Place) -> None:
    assert place.call("init", "none.csv").code == 3


def test_first_run_after_init_publishes_and_is_on_record(place: Place) -> None:
    (place.root / "plain.csv").write_bytes(FILES["plain.csv"])
    place.call("init", "plain.csv", "--write", "plain.yaml")
    assert place.call("run", "plain.yaml").code == 0
    status = json.loads(place.call("status", "--output", "json").out)["contracts"]
    assert [(s["contract"], s["blocked_since"]) for s in status] == [("plain", None)]


def test_wide_file_is_drafted_in_a_moment(place: Place) -> None:
    names = [f"c{i}" for i in range(2000)]
    (place.root / "wide.csv").write_text(f"{','.join(names)}\n{','.join(map(str, range(2000)))}\n{',' * 1999}\n")
    started = time.process_time()
    said = place.call("init", "wide.csv")
    assert said.code == 0
    assert said.out.count("type: bigint}") == 2000
    assert time.process_time() - started < 30  # with one condition for each column and form it was more than an hour


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("deep.json", '{"a":' * 300 + "1" + "}" * 300, "nested deeper than a contract can say"),
        ("keyless.json", "{}\n{}\n", "its records have no keys"),
        ("nameless.json", '{"":1}\n', "a key of its records has no name"),
        ("text.json", "hello", "holds no JSON records"),
    ],
)
def test_json_that_no_contract_can_describe_exits_3_with_a_hint(
    place: Place, name: str, content: str, sentence: str
) -> None:
    (place.root / name).write_text(content)
    said = place.call("init", name)
    assert said.code == 3
    assert sentence in said.err
    assert "\nHint: " in said.err


def test_file_with_a_brace_in_its_name_exits_64(place: Place) -> None:
    (place.root / "day{x}.csv").write_text("id\n1\n")
    assert place.call("init", "day{x}.csv").code == 64


def test_folder_keeps_the_contract_drafted_from_it_with_the_columns_of_its_folders(place: Place) -> None:
    for day in ("1", "2"):
        (place.root / f"in/day={day}").mkdir(parents=True)
        (place.root / f"in/day={day}/a.csv").write_text("id\n1\n")
    assert place.call("init", "in", "--write", "in.yaml").code == 0
    assert [f.name for f in load_contract(place.root / "in.yaml").fields] == ["id", "day"]
    assert place.call("run", "in.yaml").code == 0


@pytest.mark.parametrize(
    ("target", "written"), [("lake/orders/", "../lake/orders"), ("./orders", "./orders"), ("a.orders", "a.orders")]
)
def test_target_that_was_typed_starts_where_the_caller_is(place: Place, target: str, written: str) -> None:
    (place.root / "x.csv").write_text("id\n1\n")
    folder = "contracts/" if target == "lake/orders/" else ""
    assert place.call("init", "x.csv", "--write", f"{folder}x.yaml", "--target", target).code == 0
    assert f'target: "{written}"' in (place.root / f"{folder}x.yaml").read_text()
    assert place.call("run", f"{folder}x.yaml").code == 0
