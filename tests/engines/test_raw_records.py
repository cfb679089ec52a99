"""Arbitrary delimited text: what is published is what a strict reader reads, and everything else is malformed."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.engines.lake import Lake, broken, check_of

FIELDS = "{name: a, type: string}\n{name: b, type: string}"
ASIDE = "quality: {on_row_failure: quarantine}"


def strict_records(text: str) -> list[list[str | None] | None]:
    """Records of RFC 4180 with two cells each; null for one that is none. Blank lines are no records."""
    records: list[list[str | None] | None] = []
    at = 0
    while at < len(text):
        cells: list[str | None] | None = []
        while True:  # a cell
            if text.startswith('"', at):
                value, at, is_closed = "", at + 1, False
                while at < len(text):
                    if text.startswith('""', at):
                        value, at = value + '"', at + 2
                    elif text[at] == '"':
                        at, is_closed = at + 1, True
                        break
                    else:
                        value, at = value + text[at], at + 1
                end = at
                while end < len(text) and text[end] not in ",\r\n":
                    end += 1
                if not is_closed or end != at:
                    cells = None
                elif cells is not None:
                    cells.append(value)
                at = end
            else:
                end = at
                while end < len(text) and text[end] not in ",\r\n":
                    end += 1
                if text[at:end].lstrip(" ").startswith('"'):
                    cells = None
                elif cells is not None:
                    cells.append(text[at:end] or None)
                at = end
            if at < len(text) and text[at] == ",":
                at += 1
                continue
            break
        at += 2 if text.startswith("\r\n", at) else 1
        if cells != [None]:
            records.append(cells if cells is not None and len(cells) == 2 else None)
    return records


CELLS = st.sampled_from(["x", "", '"q"', '""', '"a,b"', '"a\nb"', ' "p"', '"p" ', 'm"m', '"a""b"', " ", '"', "7"])
LINES = st.lists(CELLS, min_size=1, max_size=4).map(",".join)
TEXTS = st.lists(st.tuples(LINES, st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n"])).map("".join), max_size=6).map("".join)


def submitted(content: bytes, name: str = "x.csv") -> tuple[list[list[str | None]], int, Lake]:
    lake = Lake(Path(tempfile.mkdtemp(prefix="records-")))
    lake.put({name: content})
    result = lake.run(lake.contract(FIELDS, source="empty: accept", more=ASIDE))
    assert result.state == "published", result
    assert result.counts.read == (result.counts.good or 0) + (result.counts.failing or 0)
    assert set(broken(result)) <= {"row|malformed"}
    malformed = check_of(result, "row|malformed")
    assert malformed.failed == len(lake.aside())
    return [[row["a"], row["b"]] for row in lake.rows()], malformed.failed or 0, lake


@settings(max_examples=50, deadline=None)
@given(text=TEXTS)
@example(text='x,"q"\n7,m"m\r\n')
@example(text="x,7,\nx,7\n")
@example(text='"p" ,7\n')
@example(text='"q"x,7\n7,7\n')
@example(text='x,"\n7,7\n')
def test_text_is_read_strictly_or_not_at_all(text: str) -> None:
    records = strict_records(text)
    rows, malformed, _ = submitted(f"a,b\n{text}".encode())
    assert sorted(map(repr, rows)) == sorted(repr(r) for r in records if r is not None)
    assert malformed == sum(r is None for r in records)


@pytest.mark.parametrize(
    ("text", "rows", "aside"),
    [
        ("1,x,\n2,y\n", [["2", "y"]], [("x.csv", 1)]),
        ('1, "x"\n2,"y" \n3,"z"\n', [["3", "z"]], [("x.csv", 1), ("x.csv", 2)]),
        ("1,x\r\n2,y\n3,z\r\n", [["1", "x"], ["2", "y"], ["3", "z"]], []),
        ('1,"x\r\nx"\n2,y\n', [["1", "x\r\nx"], ["2", "y"]], []),
        ("1,x\n\n2\n\n3,z\n4,a,b\n", [["1", "x"], ["3", "z"]], [("x.csv", 2), ("x.csv", 4)]),
        ('1,"a\nb\nc"\n2\n3,z\n', [["1", "a\nb\nc"], ["3", "z"]], [("x.csv", 2)]),
        ("1,x\n2,y", [["1", "x"], ["2", "y"]], []),
        ('1,"a"b"\n2,y\n', [["2", "y"]], [("x.csv", 1)]),
        ('1,"5" pipe"\n2,"y"\n3,"5"" pipe"\n', [["2", "y"], ["3", '5" pipe']], [("x.csv", 1)]),
        ('1,"a"b,"x\ny"\n2,y\n', [["2", "y"]], [("x.csv", 1)]),
        ('1,x\n2,"never closed\n3,z\n', [["1", "x"]], [("x.csv", 2)]),
        ('1,"a\\"b"\n2,y\n', [["2", "y"]], [("x.csv", 1)]),
    ],
)  # fmt: skip
def test_record_that_the_reader_would_let_through_is_malformed(
    text: str, rows: list[list[str]], aside: list[tuple[str, int]]
) -> None:
    for name, content in (("x.csv", text.encode()), ("x.csv.gz", gzip.compress(text.encode()))):
        header = b"a,b\n"
        content = gzip.compress(header + text.encode()) if name.endswith(".gz") else header + content
        found, malformed, lake = submitted(content, name)
        assert found == rows
        assert [(file.removesuffix(".gz"), number) for file, number, _ in lake.aside()] == aside
        assert malformed == len(aside)


def test_original_text_is_kept_of_a_record_that_is_none() -> None:
    _, _, lake = submitted(b'a,b\n1,x,\n2, "y"\n3,"a\x1eq"b\n')
    assert [json.loads(p) for p in lake.payloads()] == [
        {"line": "1,x,"}, {"line": '2, "y"'}, {"line": '3,"a\x1eq"b'},
    ]  # fmt: skip


def test_quote_that_is_never_closed_in_a_long_file_is_one_malformed_record() -> None:
    rows, malformed, lake = submitted(b'a,b\n1,x\n2,"y\n' + b"3,z\n" * 60_000)
    assert (rows, malformed) == ([["1", "x"]], 1)
    assert json.loads(lake.payloads()[0])["line"].startswith('2,"y\n3,z\n3,z\n')


def test_long_quoted_value_over_many_lines_is_a_value() -> None:
    rows, malformed, _ = submitted(b'a,b\n1,"' + b"3,z\n" * 60_000 + b'"\n')
    assert (rows, malformed) == ([["1", "3,z\n" * 60_000]], 0)


def test_bytes_that_are_no_letter_of_latin_1_break_their_record_alone(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    lake.put({"x.csv": 'a,b\ncafé,x\n5 €,y\n"ü, ß",z\n'.encode("windows-1252")})
    result = lake.run(lake.contract(FIELDS, source="options: {encoding: latin-1}", more=ASIDE))
    assert broken(result) == {"row|malformed": 1}
    assert lake.rows() == [{"a": "café", "b": "x"}, {"a": "ü, ß", "b": "z"}]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_other_encodings_are_read_as_declared(tmp_path: Path, encoding: str) -> None:
    lake = Lake(tmp_path)
    lake.put({"x.csv": "a,b\né,x\n2\nü,y,\n".encode(encoding)})
    lake.run(lake.contract(FIELDS, source=f"options: {{encoding: {encoding}}}", more=ASIDE))
    assert lake.rows() == [{"a": "é", "b": "x"}]
    assert [number for _, number, _ in lake.aside()] == [2, 3]


def test_text_that_is_not_in_the_declared_encoding_is_unreadable(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    lake.put({"x.csv": "a,b\n1,x\n".encode("utf-16") + b"\x00"})
    result = lake.run(lake.contract(FIELDS, source="options: {encoding: utf-16}"))
    assert (result.state, result.code) == ("failed", "input.unreadable")
    assert lake.rows() == []


def test_escape_before_a_plain_character_is_a_character(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    lake.put({"x.csv": 'a,b\n1,"C:\\new"\n2,a\\b\n3,"z\\\\"\n4,"q\\"r, \\s\\\\n"\n5,"c",\n"k\\l","m\nn\\o"\n'})
    lake.run(lake.contract(FIELDS, source='options: {escape: "\\\\"}', more=ASIDE))
    assert [(row["a"], row["b"]) for row in lake.rows()] == [
        ("1", "C:\\new"), ("2", "a\\b"), ("3", "z\\"), ("4", 'q"r, \\s\\n'), ("k\\l", "m\nn\\o"),
    ]  # fmt: skip
    assert [number for _, number, _ in lake.aside()] == [5]
