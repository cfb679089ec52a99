"""Batches of every format, and what is wrong with them: each a kind of fault that was there once."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from tests.engines.lake import Lake, broken, check_of

ASIDE = "quality: {on_row_failure: quarantine}"
ID_NOTE = "{name: id, type: int, required: true}\n{name: note, type: string}"


def parquet(table: pa.Table, **how: Any) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, **how)
    return sink.getvalue().to_pybytes()


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


# -- delimited text


def test_malformed_line_of_texts_without_rules_is_set_aside_and_counted(lake: Lake) -> None:
    lake.put({"x.csv": "a,b\n1,x\n2\n3,y\n"})
    result = lake.run(lake.contract("{name: a, type: string}\n{name: b, type: string}", more=ASIDE))
    assert lake.aside() == [("x.csv", 2, ["row|malformed"])]
    assert (result.counts.read, result.counts.good, result.counts.quarantined) == (3, 2, 1)


def test_record_numbers_are_those_of_each_file_also_after_malformed_lines(lake: Lake) -> None:
    lake.put({
        "a.csv": "id,note\n1,a\n2\n3,b\n", "b.csv": "id,note\n4\nq,a\n5,b,c\n6,z\n", "c.csv": "id,note\n",
        "d.csv": "id,note\nz,1\n",
    })  # fmt: skip
    lake.run(lake.contract(ID_NOTE, more=ASIDE))
    assert [row[:2] for row in lake.aside()] == [("a.csv", 2), ("b.csv", 1), ("b.csv", 2), ("b.csv", 3), ("d.csv", 1)]


def test_files_with_columns_in_another_order_are_read_by_name(lake: Lake) -> None:
    lake.put({"a.csv": "id,note\n1,a\nq,1\n", "b.csv": "note,id\nx,2\ny,w\n", "c.csv": "id,note\nw,3\n"})
    lake.run(lake.contract(ID_NOTE, source="header: names", more=ASIDE))
    assert lake.rows() == [{"id": 1, "note": "a"}, {"id": 2, "note": "x"}]
    assert [row[:2] for row in lake.aside()] == [("a.csv", 2), ("b.csv", 2), ("c.csv", 1)]


def test_null_words_are_null_unless_they_are_quoted(lake: Lake) -> None:
    lake.put({"x.csv": 'id,note\n1,NA\n2,"NA"\n3,\n4,""\n'})
    lake.run(lake.contract(ID_NOTE, source='options: {null_values: ["", NA]}'))
    assert [row["note"] for row in lake.rows()] == [None, "NA", None, ""]


def test_mark_at_the_start_of_one_of_two_files_is_no_part_of_a_name(lake: Lake) -> None:
    lake.put({"a.csv.gz": gzip.compress(b"\xef\xbb\xbfid,note\n1,a\n"), "b.csv": "id,note\n2,b\n"})
    assert lake.run(lake.contract(ID_NOTE)).state == "published"
    assert [row["id"] for row in lake.rows()] == [1, 2]


@pytest.mark.parametrize("name", ["null_padding=false, nullstr='', filename='f'.csv", "it's [x]*.csv", "a?.csv", "2026-01-31T10:00:00.csv"])
def test_path_is_meant_literally_whatever_it_says(lake: Lake, name: str) -> None:
    lake.put({name: "id,note\n1,a\n2\n"})
    lake.run(lake.contract(ID_NOTE, more=ASIDE))
    assert lake.rows() == [{"id": 1, "note": "a"}]
    assert lake.aside() == [(name, 2, ["row|malformed"])]


def test_folder_values_are_texts_judged_and_kept_like_any_other(lake: Lake) -> None:
    lake.put({
        "day=2026-01-01/a.csv": "id,note\n1,a\n", "day=2026-13-02/b.csv": "id,note\n2,b\n",
        "day=__HIVE_DEFAULT_PARTITION__/c.csv": "id,note\n3,c\n",
    })  # fmt: skip
    lake.run(lake.contract(ID_NOTE + "\n{name: day, type: date}", more=ASIDE))
    assert [str(row["day"]) for row in lake.rows()] == ["2026-01-01", "None"]
    assert lake.payloads() == ['{"id":"2","note":"b","day":"2026-13-02"}']


def test_single_column_with_blank_lines_has_null_rows(lake: Lake) -> None:
    lake.put({"x.csv": 'id\n1\n\n2\n""\n'})
    result = lake.run(lake.contract("{name: id, type: int, required: true}", more=ASIDE))
    assert broken(result) == {"id|type": 1, "id|required": 1}


def test_extra_column_that_is_ignored_is_parsed_all_the_same(lake: Lake) -> None:
    lake.put({"x.csv": b"id,note,more\n1,a,ok\n2,b,caf\xe9\nx,c,ok\n"})
    result = lake.run(lake.contract(ID_NOTE, more=ASIDE + "\nschema_policy: {extra_fields: accept}"))
    assert [row["id"] for row in lake.rows()] == [1]
    assert (result.counts.read, result.counts.quarantined) == (3, 2)


# -- JSON


def test_json_lines_that_end_in_different_ways_are_read(lake: Lake) -> None:
    lake.put({"x.jsonl": '{"id":1,"note":"a"}\r\n{"id":2,"note":"b"}\n\n{"id":"3","note":"c"}\r\n'})
    lake.run(lake.contract(ID_NOTE, source="format: json", more=ASIDE))
    assert [row["id"] for row in lake.rows()] == [1, 2]
    assert lake.aside() == [("x.jsonl", 4, ["id|type"])]


@pytest.mark.parametrize("number", ["NaN", "nan", "Infinity", "-inf", "+1", "01", ".5", "1."])
def test_json_with_a_word_or_form_that_is_no_number_is_malformed(lake: Lake, number: str) -> None:
    lake.put({"x.jsonl": f'{{"d":1.5,"s":"NaN"}}\n{{"d":{number},"s":"x"}}\n'})
    lake.run(lake.contract("{name: d, type: double}\n{name: s, type: string}", source="format: json", more=ASIDE))
    assert lake.rows() == [{"d": 1.5, "s": "NaN"}]
    assert lake.aside() == [("x.jsonl", 2, ["row|malformed"])]


@pytest.mark.parametrize(("number", "value"), [
    ("1.50", "1.50"), ("1.500", "1.50"), ("1.50000000000000000000", "1.50"), ("2", "2.00"), ("1.505", None), ("1.50500000000000000000", None), ("1e2", None), ("1.5e1", None),
    (f"1.5{'0' * 60}", "1.50"), (f"-1.{'0' * 60}", "-1.00"), (f"1.50{'0' * 40}5", None), (f"1.5{'0' * 60}e0", None),
])  # fmt: skip
def test_decimal_of_json_is_a_number_without_an_exponent_whatever_zeros_end_it(lake: Lake, number: str, value: str | None) -> None:
    lake.put({"x.jsonl": f'{{"m":{number}}}\n{{"m":0}}\n'})
    lake.run(lake.contract('{name: m, type: "decimal(10,2)"}', source="format: json", more=ASIDE))
    assert [str(row["m"]) for row in lake.rows()] == (["0.00"] if value is None else sorted(["0.00", value]))
    assert [row[2] for row in lake.aside()] == ([["m|type"]] if value is None else [])


@pytest.mark.parametrize(
    ("record", "rules"),
    [
        ('{"id":1,"a":{"x":1,"y":{"z":true}},"items":[{"sku":"s","qty":1}]}', ["a.y.z|type"]),
        ('{"id":1,"a":{"x":1,"y":true},"items":[]}', ["a.y|type"]),
        ('{"id":1,"a":null,"items":[{"sku":"s","qty":"1"}]}', ["items.qty|type"]),
        ('{"id":1,"a":null,"items":{"sku":"s"}}', ["items|type"]),
        ('{"id":1,"a":null,"items":[{"sku":"s","other":1}]}', ["items|type"]),
        ('{"id":1,"id":2,"a":null,"items":null}', ["row|duplicate_key"]),
        ('{"id":1,"a":{"x":1,"x":2,"y":null},"items":null}', ["a|type"]),
        ('{"id":1,"a":null,"items":null,}', ["row|malformed"]),
        ("[1]", ["row|malformed"]),
    ],
)
def test_nested_value_in_a_wrong_form_is_told_by_its_path(lake: Lake, record: str, rules: list[str]) -> None:
    good = '{"id":7,"a":{"x":1,"y":{"z":2}},"items":[{"sku":"s","qty":1}]}'
    lake.put({"x.jsonl": f"{good}\n{record}\n"})
    fields = (
        '{name: id, type: int}\n{name: a, type: "struct<x:int,y:struct<z:int>>"}\n'
        '{name: items, type: "array<struct<sku:string,qty:int>>"}'
    )
    rejected = lake.run(lake.contract(fields, source="format: json"))
    assert (rejected.state, lake.rows()) == ("rejected", [])
    assert list(broken(rejected)) == rules
    assert lake.aside() == [("x.jsonl", 2, rules)]


REPEATED = {
    '{"id":1,"a":{"x":1,"y":{"z":1,"z":2}}}': ["a.y|type"],
    '{"id":1,"a":{"x":"s","x":1,"y":{"z":"s"}}}': ["a|type"],
    '{"id":1,"a":{"x":"s","y":{"z":1,"z":2}}}': ["a.x|type", "a.y|type"],
    r'{"id":1,"a":{"x":1,"\u0078":2}}': ["a|type"],
    '{"id":1,"m":{"k":1,"k":1}}': ["m|type"],
    '{"id":1,"m":{"k":1,"K":1}}': [],
    r'{"id":1,"m":{"{":1,"}":2,":":3,"\"":4,"\\\"":5}}': [],
    r'{"id":1,"m":{"{":1,"}":2,":":3,"\"":4,"\u0022":5}}': ["m|type"],
    '{"id":1,"m":{"":1,"":2}}': ["m|type"],
    '{"id":1,"l":[{"q":1},{"q":1,"q":2}]}': ["l|type"],
    '{"id":1,"l":[{"q":{"r":1,"r":2}}]}': ["l.q|type"],
    '{"id":1,"other":{"q":1,"q":2}}': [],
    '{"id":"s","other":[{"q":1,"q":2}]}': ["id|type"],
    '{"id":1,"id":2,"a":{"x":1,"x":2}}': ["row|duplicate_key"],
    '{"id":1,"other":{"q":1,"q":2,}}': ["row|malformed"],
    '{"id":1,"other":{"q":1,"q":NaN}}': ["row|malformed"],
    '{"id":1,"other":{"q":1,"q":2}} x': ["row|malformed"],
    '{"id":1,"other":{"q":1,"q":2}}, {"id":2}': ["row|malformed"],
}
"""Records in which a key is there twice, and the rules that are broken by it."""
REPEATED_FIELDS = (
    '{name: id, type: int}\n{name: a, type: "struct<x:int,y:struct<z:int>>"}\n{name: m, type: "map<string,int>"}\n'
    '{name: l, type: "array<struct<q:int>>"}'
)
LENIENT = ASIDE + "\nschema_policy: {extra_fields: accept, missing_optional: accept}"


def test_key_that_is_there_twice_breaks_the_object_that_holds_it(lake: Lake) -> None:
    lake.put({"x.jsonl": "".join(f"{record}\n" for record in REPEATED)})
    result = lake.run(lake.contract(REPEATED_FIELDS, source="format: json", more=LENIENT))
    assert result.state == "published", result
    assert len(lake.rows()) == 3
    assert lake.aside() == [("x.jsonl", n, rules) for n, rules in enumerate(REPEATED.values(), 1) if rules]
    assert sorted(p for p in lake.payloads() if p.startswith("{")) == sorted(
        record for record, rules in REPEATED.items() if rules and rules != ["row|malformed"]
    )


def test_key_that_is_there_twice_breaks_its_element_of_an_array_alone(lake: Lake) -> None:
    records = [record for record, rules in REPEATED.items() if rules != ["row|malformed"]]
    lake.put({"x.json": "[" + ",\n".join([*records, r'"{\"id\":1,\"id\":2}"', "5"]) + "]"})
    source = "format: json, options: {shape: array}"
    result = lake.run(lake.contract(REPEATED_FIELDS, source=source, more=LENIENT))
    assert result.state == "published", result
    assert len(lake.rows()) == 3
    expected = [rules for rules in REPEATED.values() if rules != ["row|malformed"]] + [["row|malformed"]] * 2
    assert lake.aside() == [("x.json", n, rules) for n, rules in enumerate(expected, 1) if rules]


@pytest.mark.parametrize("after", [" x", "\n[{\"id\":2}]", ",", "]", "}", "]}", "}]", ']} {"id":3}', '],"r":[{"id":2}]'])
def test_file_that_holds_more_than_its_array_is_not_read(lake: Lake, after: str) -> None:
    lake.put({"x.json": '[{"id":1}]' + after, "y.json": '[{"id":7}]'})
    result = lake.run(lake.contract("{name: id, type: int}", source="format: json, options: {shape: array}"))
    assert (result.state, result.code, lake.rows()) == ("failed", "input.unreadable", []), result


@pytest.mark.parametrize("text", ["", " \n", "[]", " [ ]\n"])
def test_file_without_an_element_has_no_records(lake: Lake, text: str) -> None:
    lake.put({"x.json": text, "y.json": ' [ {"id":7} ]\n'})
    result = lake.run(lake.contract("{name: id, type: int}", source="format: json, options: {shape: array}"))
    assert (result.state, lake.rows()) == ("published", [{"id": 7}]), result


@pytest.mark.parametrize("written", ["-0.0", "-0", "-0e0", "-1e-400", "-0." + "0" * 50])
def test_zero_of_json_has_no_sign(lake: Lake, written: str) -> None:
    lake.put({"x.jsonl": f'{{"d":{written},"f":{written}}}\n'})
    result = lake.run(lake.contract("{name: d, type: double}\n{name: f, type: float}", source="format: json"))
    assert result.state == "published", result
    assert [(str(row["d"]), str(row["f"])) for row in lake.rows()] == [("0.0", "0.0")]


def test_value_of_json_as_text_is_what_was_written(lake: Lake) -> None:
    written = ["1.50", "1.0", "1e2", "0.1e1", "-0.0", "-0", "12345678901234567890", "1." + "0" * 40, "true", "false"]
    texts = [f'{{"t":{w},"s":{{"t":{w}}},"l":[1,{w}],"m":{{"k":{w}}},"n":1.5}}' for w in [*written, '"a\\n1.0"']]
    fields = (
        '{name: t, type: string, as_text: true}\n{name: s, type: "struct<t:string>", fields: [{name: t, type: string, as_text: true}]}\n'
        '{name: l, type: "array<string>", as_text: true}\n{name: m, type: "map<string,string>", as_text: true}\n{name: n, type: double}'
    )
    for name, text in {"lines.json": "\n".join(texts), "array.json": f"[{','.join(texts)}]"}.items():
        own = type(lake)(**{f: getattr(lake, f) for f in ("engine",) if hasattr(lake, f)}, root=lake.root / name)
        own.put({name: text})
        shape = "" if name == "lines.json" else ", options: {shape: array}"
        result = own.run(own.contract(fields, source=f"format: json{shape}"))
        assert result.state == "published", result
        found = sorted((r["t"], r["s"]["t"], r["l"][1], dict(r["m"])["k"]) for r in own.rows())
        assert found == sorted((w, w, w, w) for w in [*written, "a\n1.0"])


def test_long_numbers_of_json_keep_every_digit(lake: Lake) -> None:
    lake.put({"x.jsonl": '{"d":1234567890123456789012345678.1234567890}\n{"d":-0.0}\n'})
    lake.run(lake.contract('{name: d, type: "decimal(38,10)"}', source="format: json"))
    assert {row["d"] for row in lake.rows()} == {Decimal("1234567890123456789012345678.1234567890"), Decimal(0)}


@pytest.mark.parametrize("shape", ["lines", "array"])
@pytest.mark.parametrize("number", ["1", f"1.{'0' * 40}", "1" * 40])
def test_json_that_is_no_text_is_malformed_whatever_numbers_it_holds(lake: Lake, shape: str, number: str) -> None:
    record, other = f'{{"n":{number},"s":"'.encode() + b'\xe9"}', b'{"n":1,"s":"a"}'
    lake.put({"x.json": record + b"\n" + other if shape == "lines" else b"[" + record + b"," + other + b"]"})
    fields = "{name: n, type: double}\n{name: s, type: string}"
    result = lake.run(lake.contract(fields, source=f"format: json, options: {{shape: {shape}}}", more=ASIDE))
    if shape == "array":
        assert (result.state, result.code, lake.rows()) == ("failed", "input.unreadable", [])
    else:
        assert (lake.rows(), lake.aside()) == ([{"n": 1.0, "s": "a"}], [("x.json", 1, ["row|malformed"])])


@pytest.mark.parametrize(("type_", "keys", "found"), [
    ("int", '{"1":0,"2":1}', {1: 0, 2: 1}), ("int", '{"x":0}', None), ("int", '{"":0}', None), ("int", '{"1":0,"1":0}', None),
    ("decimal(3,1)", '{"1":0,"1.0":0}', None), ("double", '{"1":0,"1e0":0}', None), ("double", '{"-0.0":0,"0":0}', None),
    ("timestamp", '{"2026-01-01T00:00:00Z":0,"2026-01-01T01:00:00+01:00":0}', None), ("double", '{"-0.0":0}', {0.0: 0}),
    ("int", '{"1":"0"}', None), ("int", "[]", None), ("int", "{}", {}), ("int", "null", None),
])  # fmt: skip
def test_key_of_a_map_that_is_none_or_that_is_there_twice_breaks_its_record(
    lake: Lake, type_: str, keys: str, found: dict[Any, int] | None
) -> None:
    lake.put({"x.jsonl": f'{{"id":1,"m":{keys}}}\n{{"id":2,"m":null}}\n'})
    result = lake.run(lake.contract(f'{{name: id, type: int}}\n{{name: m, type: "map<{type_},int>"}}', source="format: json", more=ASIDE))
    assert result.state == "published", result
    kept = {row["id"]: None if row["m"] is None else dict(row["m"]) for row in lake.rows()}
    is_kept = found is not None or keys == "null"
    assert repr(kept) == repr({1: found, 2: None} if is_kept else {2: None})
    assert lake.aside() == ([] if is_kept else [("x.jsonl", 1, ["m|type"])])


@pytest.mark.parametrize("shape", ["lines", "array"])
def test_zeros_at_the_end_of_a_long_number_of_json_do_not_count(lake: Lake, shape: str) -> None:
    zeros, whole = "0" * 40, "12345678901234567890123456789012345678"
    written = f'{{"d":{whole}.{zeros},"f":0.5{zeros},"i":7,"s":"1.0{zeros}"}}', f'{{"d":1,"f":1,"i":7.{zeros},"s":"a"}}'
    lake.put({"x.json": "\n".join(written) if shape == "lines" else f"[{','.join(written)}]"})
    fields = '{name: d, type: "decimal(38,0)"}\n{name: f, type: float}\n{name: i, type: bigint}\n{name: s, type: string}'
    lake.run(lake.contract(fields, source=f"format: json, options: {{shape: {shape}}}", more=ASIDE))
    assert lake.rows() == [{"d": Decimal(whole), "f": 0.5, "i": 7, "s": f"1.0{zeros}"}]
    assert lake.aside() == [("x.json", 2, ["i|type"])]
    assert shape == "array" or f"7.{zeros}" in lake.payloads()[0]


# -- Parquet


def test_parquet_files_of_other_writers_are_read_by_name(lake: Lake) -> None:
    lake.put({
        "a.parquet": parquet(pa.table({"id": pa.array([1], pa.int32()), "note": pa.array(["a"]).dictionary_encode()})),
        "b.parquet": parquet(pa.table({"note": pa.array(["b"], pa.large_string()), "id": pa.array([2], pa.int32())})),
    })  # fmt: skip
    assert lake.run(lake.contract(ID_NOTE, source="format: parquet")).state == "published"
    assert lake.rows() == [{"id": 1, "note": "a"}, {"id": 2, "note": "b"}]


@pytest.mark.parametrize("unit", ["ms", "us"])
def test_parquet_instants_keep_their_instant(lake: Lake, unit: str) -> None:
    when = datetime(2026, 1, 1, 10, tzinfo=UTC)
    lake.put({"a.parquet": parquet(pa.table({"t": pa.array([when], pa.timestamp(unit, "Europe/Paris"))}))})
    lake.run(lake.contract("{name: t, type: timestamp}", source="format: parquet"))
    assert [row["t"] for row in lake.rows()] == [when]


def test_failing_rows_of_every_type_are_kept_with_all_digits(lake: Lake) -> None:
    table = pa.table({
        "id": pa.array([1, 2], pa.int32()), "f": [float("nan"), 1.0], "b": [b"\xff\x00", None],
        "d": pa.array([Decimal("12345678901234567890.123"), None], pa.decimal128(38, 3)),
    })  # fmt: skip
    lake.put({"a.parquet": parquet(table)})
    fields = '{name: id, type: int, min: 2}\n{name: f, type: double}\n{name: b, type: binary}\n{name: d, type: "decimal(38,3)"}'
    lake.run(lake.contract(fields, source="format: parquet", more=ASIDE))
    assert lake.payloads() == ['{"id":1,"f":"nan","b":"\\\\xFF\\\\x00","d":"12345678901234567890.123"}']
    assert lake.aside() == [("a.parquet", 1, ["id|min"])]


def test_columns_that_are_called_like_the_readers_own_are_columns(lake: Lake) -> None:
    names = ["f", "p", "n", "v0", "t0", "filename", "file_row_number"]
    lake.put({
        f"{part}.parquet": parquet(pa.table({name: pa.array([part, 7], pa.int32()) for name in names})) for part in (1, 2)
    })  # fmt: skip
    fields = "\n".join(f"{{name: {name}, type: int{', min: 2' if name == 'n' else ''}}}" for name in names)
    lake.run(lake.contract(fields, source="format: parquet", more=ASIDE))
    assert lake.aside() == [("1.parquet", 1, ["n|min"])]
    assert [row["filename"] for row in lake.rows()] == [2, 7, 7]


@pytest.mark.parametrize("content", [b"", b"hello", b"PAR1 and nothing more PAR1"])
def test_file_that_is_no_parquet_file_is_unreadable(lake: Lake, content: bytes) -> None:
    lake.put({"a.parquet": content})
    result = lake.run(lake.contract(ID_NOTE, source="format: parquet"))
    assert (result.state, result.code) == ("failed", "input.unreadable")


def test_wider_types_are_taken_value_by_value_where_that_is_agreed(lake: Lake) -> None:
    table = pa.table({
        "id": pa.array([1, 2**40, 3], pa.int64()),
        "d": pa.array([Decimal("1.230"), Decimal("1"), Decimal("1.239")], pa.decimal128(15, 3)),
    })  # fmt: skip
    lake.put({"a.parquet": parquet(table)})
    fields = '{name: id, type: int}\n{name: d, type: "decimal(10,2)"}'
    result = lake.run(
        lake.contract(fields, source="format: parquet", more=ASIDE + "\nschema_policy: {type_changes: accept}")
    )
    assert broken(result) == {"id|type": 1, "d|type": 1}
    assert lake.rows() == [{"id": 1, "d": Decimal("1.23")}]


FINE = {
    "whole": [1_700_000_000_123_456_000, 0, -1_000, None, -9_223_372_036_854_775_000],
    "finer": [1_700_000_000_123_456_789, 1_010, -1, -1_001, 9_223_372_036_854_775_806],
}


def nanoseconds(values: list[int | None], zone: str | None) -> pa.Table:
    return pa.table({"id": range(len(values)), "at": pa.array(values, pa.int64()).cast(pa.timestamp("ns", zone))})


@pytest.mark.parametrize(("zone", "name"), [(None, "timestamp_ntz"), ("Europe/Berlin", "timestamp")])
def test_nanoseconds_are_refused_with_the_way_out(lake: Lake, zone: str | None, name: str) -> None:
    lake.put({"a.parquet": parquet(nanoseconds(FINE["whole"], zone))})
    fields = f"{{name: id, type: bigint}}\n{{name: at, type: {name}}}"
    result = lake.run(lake.contract(fields, source="format: parquet"))
    assert broken(result) == {"schema|type": None}
    check = check_of(result, "schema|type")
    assert check.found == f"a.parquet: 'at' is {name} in nanoseconds, expected {name}"
    assert check.hint is not None
    assert 'coerce_timestamps="us"' in check.hint
    assert "schema_policy.type_changes: accept" in check.hint


@pytest.mark.parametrize(("zone", "name"), [(None, "timestamp_ntz"), ("Europe/Berlin", "timestamp")])
def test_nanoseconds_are_taken_where_they_are_whole_microseconds_and_that_is_agreed(
    lake: Lake, zone: str | None, name: str
) -> None:
    late = datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC if zone else None)
    coarse = pa.table({"id": [7], "at": pa.array([late], pa.timestamp("us", zone and "UTC")), "more": ["m"]})
    lake.put({
        "a.parquet": parquet(nanoseconds(FINE["whole"], zone)), "b.parquet": parquet(coarse),
        "c.parquet": parquet(nanoseconds(FINE["finer"], zone)),
    })  # fmt: skip
    fields = f"{{name: id, type: bigint}}\n{{name: at, type: {name}}}\n{{name: more, type: string, may_be_absent: true}}"
    result = lake.run(lake.contract(fields, source="format: parquet", more=ASIDE + "\nschema_policy: {type_changes: accept}"))
    assert broken(result) == {"at|type": 5}
    ends = ["1677-09-21T00:12:43.145225", "1969-12-31T23:59:59.999999", "1970-01-01T00:00:00", "2023-11-14T22:13:20.123456",
            "9999-12-31T23:59:59.999999", "None"]  # fmt: skip
    found = [row["at"] and row["at"].replace(tzinfo=None).isoformat() for row in lake.rows()]
    assert sorted(map(str, found)) == ends
    assert [row["more"] for row in lake.rows() if row["id"] == 7] == ["m"]
    assert lake.aside() == [("c.parquet", n, ["at|type"]) for n in (1, 2, 3, 4, 5)]
    kept = sorted(json.loads(payload)["at"].removesuffix("+00") for payload in lake.payloads())
    assert kept == [
        "1969-12-31 23:59:59.999998999", "1969-12-31 23:59:59.999999999", "1970-01-01 00:00:00.00000101",
        "2023-11-14 22:13:20.123456789", "2262-04-11 23:47:16.854775806",
    ]  # fmt: skip


def test_nanoseconds_reject_a_batch_that_is_taken_as_a_whole_or_not_at_all(lake: Lake) -> None:
    lake.put({"a.parquet": parquet(nanoseconds([1_000, 1_001], None))})
    fields = "{name: id, type: bigint}\n{name: at, type: timestamp_ntz}"
    result = lake.run(lake.contract(fields, source="format: parquet", more="schema_policy: {type_changes: accept}"))
    assert broken(result) == {"at|type": 1}
    assert lake.rows() == []


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_nanoseconds_inside_of_another_type_are_refused_by_name(lake: Lake, zone: str | None) -> None:
    moments = pa.array([[1_000]], pa.list_(pa.int64())).cast(pa.list_(pa.timestamp("ns", zone)))
    lake.put({"a.parquet": parquet(pa.table({"at": moments}))})
    fields = f'{{name: at, type: "array<timestamp{"" if zone else "_ntz"}>"}}'
    result = lake.run(lake.contract(fields, source="format: parquet", more="schema_policy: {type_changes: accept}"))
    assert broken(result) == {"schema|type": None}


NO_TEXT = pa.StringArray.from_buffers(3, pa.py_buffer(b"\0\0\0\0\2\0\0\0\5\0\0\0\7\0\0\0"), pa.py_buffer(b"aab\xe9bzz"))
"""Three texts, of which the second is none, nor the smallest or the largest."""


@pytest.mark.parametrize("is_frame", [True, False])
@pytest.mark.parametrize(("type_", "values"), [
    ("string", NO_TEXT), ("struct<x:string>", pa.StructArray.from_arrays([NO_TEXT], ["x"])),
    ("array<string>", pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), NO_TEXT)),
    ("map<int,string>", pa.MapArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), pa.array([1, 2, 3], pa.int32()), NO_TEXT)),
])  # fmt: skip
def test_bytes_that_are_no_text_are_never_published_as_one(lake: Lake, is_frame: bool, type_: str, values: pa.Array) -> None:
    table = pa.table({"id": pa.array([1, 2, 3], pa.int32()), "v": values})
    fields = f'{{name: id, type: int}}\n{{name: v, type: "{type_}"}}'
    if is_frame:
        result = lake.run(lake.contract(fields, more=ASIDE), frame=table, submission_id="frame-1")
    else:
        lake.put({"a.parquet": parquet(table)})
        result = lake.run(lake.contract(fields, source="format: parquet", more=ASIDE))
    assert (result.state, result.code, lake.rows()) == ("failed", "input.unreadable", [])
    assert "a text is no UTF-8" in result.message


ENDS = {"date": [-719_162, 2_932_896], "timestamp": [-62_135_596_800_000_000, 253_402_300_799_999_999]}
"""The first and the last day and microsecond of the years 1 to 9999."""


@pytest.mark.parametrize("beyond", [0, -1, 1])
@pytest.mark.parametrize("form", ["parquet", "frame", "nested"])
@pytest.mark.parametrize("type_", ["date", "timestamp", "timestamp_ntz"])
def test_time_outside_of_the_years_is_never_published(lake: Lake, type_: str, form: str, beyond: int) -> None:
    first, last = ENDS[type_.removesuffix("_ntz")]
    native = pa.date32() if type_ == "date" else pa.timestamp("us", None if type_.endswith("ntz") else "UTC")
    values = pa.array([first + min(beyond, 0), last + max(beyond, 0), None], pa.int32() if type_ == "date" else pa.int64()).cast(native)
    if form == "nested":
        values, type_ = pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), values), f"array<{type_}>"
    table, fields = pa.table({"v": values}), f'{{name: v, type: "{type_}"}}'
    if form == "frame":
        result = lake.run(lake.contract(fields), frame=table, submission_id="frame-1")
    else:
        lake.put({"a.parquet": parquet(table)})
        result = lake.run(lake.contract(fields, source="format: parquet"))
    if beyond:
        assert (result.state, result.code, lake.rows()) == ("failed", "input.unreadable", [])
        assert "outside of the years 1 to 9999" in result.message
    else:
        assert (result.state, len(lake.rows())) == ("published", 3)


# -- frames, queries and tables


def in_nanoseconds(kind: str, type_: str, beyond: int) -> Any:
    """Three moments, the second before 1970 and the third null; `beyond` nanoseconds are added to the first."""
    zone = "Europe/Paris" if type_ == "timestamp" else None
    moments = pa.array([1_767_225_600_123_456_000 + beyond, -1_000, None], pa.timestamp("ns", tz=zone))
    table = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "at": moments})
    return {
        "arrow": lambda: table, "pandas": table.to_pandas, "polars": lambda: pl.from_arrow(table),
        "pandas over arrow": lambda: table.to_pandas(types_mapper=pd.ArrowDtype),
    }[kind]()  # fmt: skip


@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars", "pandas over arrow"])
@pytest.mark.parametrize("type_", ["timestamp", "timestamp_ntz"])
def test_frame_of_nanoseconds_is_published_as_it_is_or_not_at_all(lake: Lake, kind: str, type_: str) -> None:
    contract = lake.contract(f"{{name: id, type: bigint}}\n{{name: at, type: {type_}}}")
    finer = lake.run(contract, frame=in_nanoseconds(kind, type_, 789), submission_id="finer")
    assert (finer.state, finer.code, lake.rows()) == ("failed", "input.unreadable", [])
    assert "'at' holds moments finer than a microsecond" in finer.message
    assert lake.run(contract, frame=in_nanoseconds(kind, type_, 0), submission_id="whole").state == "published"
    zone = UTC if type_ == "timestamp" else None
    moments = [datetime(2026, 1, 1, 0, 0, 0, 123456, zone), datetime(1969, 12, 31, 23, 59, 59, 999999, zone), None]
    assert [(r["id"], r["at"]) for r in lake.rows()] == list(zip([1, 2, 3], moments, strict=True))


@pytest.mark.parametrize("kind", ["table", "reader", "relation", "pandas", "polars"])
def test_frame_that_gives_its_rows_once_is_split_all_the_same(lake: Lake, kind: str) -> None:
    table = pa.table({"id": pa.array([1, 2, 2**40], pa.int64()), "note": ["a", "b", "c"]})
    with duckdb.connect() as own:
        frame = {
            "table": lambda: table, "reader": table.to_reader, "relation": lambda: own.from_arrow(table),
            "pandas": lambda: pd.DataFrame(table.to_pydict()), "polars": lambda: pl.DataFrame(table.to_pydict()),
        }[kind]()  # fmt: skip
        fields = "{name: id, type: int, min: 2}\n{name: note, type: string}"
        contract = lake.contract(fields, more=ASIDE + "\nschema_policy: {type_changes: accept}")
        result = lake.run(contract, frame=frame, submission_id="frame-1")
    assert (result.counts.read, result.counts.good, result.counts.quarantined) == (3, 1, 2)
    assert lake.rows() == [{"id": 2, "note": "b"}]


def test_query_that_answers_differently_each_time_is_asked_once(lake: Lake) -> None:
    sql = "SELECT id, CASE WHEN rand() < 0.5 THEN -1 ELSE 1 END AS v, uuid() AS u FROM range(500)"
    fields = "{name: id, type: bigint}\n{name: v, type: int, min: 0}\n{name: u, type: string}"
    contract = lake.contract(fields, source=f'format: sql, sql: "{sql}"', more=ASIDE)
    contract = contract.model_copy(update={"source": contract.source.model_copy(update={"location": None})}).placed(lake.root)
    lake.run(contract, submission_id="query-1")
    published = {row["id"] for row in lake.rows()}
    assert {row["v"] for row in lake.rows()} == {1}
    assert len(published) + len(lake.aside()) == 500


@pytest.mark.parametrize("calculated", ["a + 1", "a - -1", "a * 2", "sum(a * 2)", "abs(a) * 2"])
def test_overflow_in_a_query_ends_the_run(lake: Lake, calculated: str) -> None:
    write_deltalake(lake.root / "s", pa.table({"a": pa.array([9223372036854775807, 3], pa.int64())}))
    source = f"format: sql, sql: 'select {calculated} as a from s', inputs: {{s: ./s}}"
    contract = lake.contract("{name: a, type: bigint}", source=source)
    contract = contract.model_copy(update={"source": contract.source.model_copy(update={"location": None})}).placed(lake.root)
    result = lake.run(contract, submission_id="query-1")
    assert result.state == "failed"
    assert "a calculation of the query overflows its type" in result.message
    assert "9223372036854775807" not in str(result)


def test_delta_source_is_read_at_the_version_it_had(lake: Lake) -> None:
    source = lake.root / "in"
    write_deltalake(str(source), pa.table({"id": pa.array([1, 2], pa.int32()), "note": ["a", None]}))
    result = lake.run(lake.contract(ID_NOTE, source="format: delta"))
    assert (result.state, len(lake.rows())) == ("published", 2)


@pytest.mark.parametrize("header", ["id,note", "id,note,"])
def test_value_behind_the_delimiter_that_ends_a_line_is_malformed(lake: Lake, header: str) -> None:
    ends = [("1,a,", True), ("2,b,c", False), ("3,d", False), ('4,e,""', False), ("5,f,,", False), ('6,"g,",', True), ("7,,", True)]
    lake.put({"x.csv": "\n".join([header, *(line for line, _ in ends), "", '8,"h', 'i",', ""])})
    source = "options: {trailing_delimiter: accept}"
    result = lake.run(lake.contract(ID_NOTE, source=source, more=ASIDE))
    assert (result.state, broken(result)) == ("published", {"row|malformed": 4})
    assert sorted((row["id"], row["note"]) for row in lake.rows()) == [(1, "a"), (6, "g,"), (7, None), (8, "h\ni")]
    kept = [json.loads(payload)["line"] for payload in lake.payloads()]
    assert sorted(kept) == sorted(line for line, is_right in ends if not is_right)


# -- the check results


def test_whole_null_column_says_that_no_value_was_checked(lake: Lake) -> None:
    lake.put({"x.csv": "id,note\n1,\n2,\n"})
    fields = '{name: id, type: int}\n{name: note, type: string, pattern: "[A-Z]+"}'
    result = lake.run(lake.contract(fields))
    assert check_of(result, "note|pattern").found == "none of 2 rows failed; 0 checked, 2 null"


def test_warning_is_counted_and_moves_no_row(lake: Lake) -> None:
    lake.put({"x.csv": "id,note\n1,a\n2,b\n"})
    result = lake.run(lake.contract("{name: id, type: int, min: 2, severity: warn}\n{name: note, type: string}", more=ASIDE))
    assert (result.state, broken(result), len(lake.rows())) == ("published", {"id|min": 1}, 2)


@pytest.mark.parametrize(
    ("limit", "state"), [("rows: 1", "published"), ("rows: 0", "rejected"), ("percent: 50", "published"), ("percent: 49.9", "rejected")]
)
def test_limits_of_rows_set_aside_are_inclusive(lake: Lake, limit: str, state: str) -> None:
    lake.put({"x.csv": "id,note\n1,a\nx,b\n"})
    result = lake.run(
        lake.contract(ID_NOTE, more=f"quality: {{on_row_failure: quarantine, max_quarantined: {{{limit}}}}}")
    )
    assert result.state == state


@pytest.mark.parametrize(("bad", "state"), [(57, "published"), (58, "rejected")])
def test_share_of_rows_set_aside_is_compared_as_it_is_written(lake: Lake, bad: int, state: str) -> None:
    lake.put({"x.csv": "id,note\n" + "x,b\n" * bad + "1,a\n" * (10_000 - bad)})
    more = "quality: {on_row_failure: quarantine, max_quarantined: {percent: 0.57}}"
    assert lake.run(lake.contract(ID_NOTE, more=more)).state == state


def test_retry_after_a_rejection_keeps_failing_rows_once(lake: Lake) -> None:
    lake.put({"x.csv": "id,note\n1,a\nx,b\n"})
    contract = lake.contract(ID_NOTE)
    assert [lake.run(contract).state, lake.run(contract).state] == ["rejected", "rejected"]
    assert len(lake.aside()) == 1


def test_nothing_but_the_candidate_is_left_of_an_attempt(lake: Lake) -> None:
    lake.put({"x.csv": "id,note\n1,a\nx,b\n"})
    lake.run(lake.contract(ID_NOTE))
    left = {path.name.split("-")[0] for path in (lake.root / "t__candidates").rglob("*") if path.is_file()}
    assert left == {"part", "manifest.json"}
