from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from invaract_orchestration.contract.model import SourceOptions
from invaract_orchestration.errors import InputUnreadable
from invaract_orchestration.intake.csv_header import FileHeader, read_header
from invaract_orchestration.intake.listing import ListedFile

RELAXED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300, deadline=None)


NUL = "NUL character in the first line, expected utf-8 text; it looks like"


def read(folder: Path, content: bytes, name: str = "x.csv", **options: Any) -> FileHeader:
    path = folder / name
    path.write_bytes(content)
    return read_header(ListedFile(path=path, name=name, size=len(content), modified_ns=0), SourceOptions(**options))


def problem(header: FileHeader) -> tuple[str, str]:
    assert header.names == ()
    (only,) = header.problems
    return only.code, only.sentence


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_header_line_end_is_no_part_of_a_name(end: str, tmp_path: Path) -> None:
    header = read(tmp_path, f"id,status{end}1,open{end}".encode())
    assert header.names == ("id", "status")
    assert header.has_rows is True
    assert header.problems == ()
    assert header.encoding == "utf-8"


@pytest.mark.parametrize("tail", ["", "\n", "\r\n", "\r", "\n\n\r\n"])
def test_header_without_rows_is_said(tail: str, tmp_path: Path) -> None:
    header = read(tmp_path, f"id,city{tail}".encode())
    assert header.names == ("id", "city")
    assert header.has_rows is False


def test_header_utf8_mark_is_no_part_of_a_name(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xef\xbb\xbfid,city\n1,Rome\n").names == ("id", "city")
    assert read(tmp_path, b'\xef\xbb\xbf"id",city\n').names == ("id", "city")


@pytest.mark.parametrize(
    ("content", "declared", "sentence"),
    [
        (b"\xff\xfei\0d\0\n\0", "utf-8", "UTF-16 byte order mark seen, expected utf-8 text"),
        (b"\xfe\xff\0i\0d\0\n", "utf-8", "UTF-16 byte order mark seen, expected utf-8 text"),
        (b"\xff\xfe\0\0i\0\0\0", "utf-8", "UTF-32 byte order mark seen, expected utf-8 text"),
        (b"\0\0\xfe\xff\0\0\0i", "utf-16", "UTF-32 byte order mark seen, expected utf-16 text"),
        (b"\xff\xfei\0d\0\n\0", "latin-1", "UTF-16 byte order mark seen, expected latin-1 text"),
        (b"\xef\xbb\xbfid\n", "latin-1", "UTF-8 byte order mark seen, expected latin-1 text"),
        (b"\xef\xbb\xbfid\n", "utf-16", "UTF-8 byte order mark seen, expected utf-16 text"),
        (b"i\0d\0,\0c\0\n\0", "utf-8", f"{NUL} UTF-16 without a byte order mark"),
        (b"\0i\0d\0,\0c\0\n", "utf-8", f"{NUL} UTF-16 without a byte order mark"),
        (b"id,city\0\n1,2\n3,4\n5,6\n", "utf-8", f"{NUL} binary data"),
        (b"id,caf\xe9\n1,2\n", "utf-8", "the first line is not valid utf-8 text near byte 6"),
        (b"i\0d\0\x00\xd8", "utf-16", "the first line is not valid utf-16 text near byte 4"),
    ],
)  # fmt: skip
def test_header_in_another_encoding_is_a_problem(content: bytes, declared: str, sentence: str, tmp_path: Path) -> None:
    assert problem(read(tmp_path, content, encoding=declared)) == ("input.encoding", sentence)


def test_header_bad_bytes_after_the_first_line_are_no_header_problem(tmp_path: Path) -> None:
    header = read(tmp_path, b"id,label\n1,ok\n2,caf\xe9\n")
    assert header.names == ("id", "label")
    assert header.has_rows is True


def test_header_nul_after_the_first_line_is_no_header_problem(tmp_path: Path) -> None:
    assert read(tmp_path, b"id,label\n1,o\0k\n").names == ("id", "label")


def test_header_latin1_names_are_decoded(tmp_path: Path) -> None:
    assert read(tmp_path, b"id,caf\xe9\n", encoding="latin-1").names == ("id", "caf\u00e9")


@pytest.mark.parametrize(
    ("codec", "seen"), [("utf-16", "utf-16-le"), ("utf-16-le", "utf-16-le"), ("utf-16-be", "utf-16-be")]
)
def test_header_utf16_is_read_in_either_byte_order(codec: str, seen: str, tmp_path: Path) -> None:
    header = read(tmp_path, "id,Größe\n1,2\n".encode(codec), encoding="utf-16")
    assert header.names == ("id", "Größe")
    assert header.encoding == seen
    assert header.has_rows is True


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ('"id","full name"', ("id", "full name")),
        ('"a,b",c', ("a,b", "c")),
        ('"say ""hi""",c', ('say "hi"', "c")),
        ('"two\nlines",c', ("two\nlines", "c")),
        ('"two\r\nlines",c', ("two\r\nlines", "c")),
        ('in"ner,c', ('in"ner', "c")),
        (' "id", c ', (' "id"', " c ")),
        ('"",c', ("", "c")),
        ('"id', ()),
        ('"id"x,c', ()),
    ],
)
def test_header_quoting_follows_rfc_4180(line: str, names: tuple[str, ...], tmp_path: Path) -> None:
    assert read(tmp_path, f"{line}\n1,2\n".encode()).names == names


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('"id', "the first line is not well quoted: a quote is opened and never closed in column 1"),
        ('id,"city"x,c', "the first line is not well quoted: text follows a closing quote in column 2"),
    ],
)
def test_header_with_bad_quotes_is_malformed(line: str, sentence: str, tmp_path: Path) -> None:
    assert problem(read(tmp_path, f"{line}\n1,2\n".encode())) == ("header.malformed", sentence)


def test_header_backslash_escape_is_honoured(tmp_path: Path) -> None:
    header = read(tmp_path, b'"say \\"hi\\"","back\\\\slash","c\\d"\n', escape="\\")
    assert header.names == ('say "hi"', "back\\slash", "c\\d")


def test_header_other_delimiter_and_quote_are_honoured(tmp_path: Path) -> None:
    assert read(tmp_path, b"'a;b';c,d\n", delimiter=";", quote="'", escape="'").names == ("a;b", "c,d")


def test_header_trailing_delimiter_is_a_name_unless_accepted(tmp_path: Path) -> None:
    refused = read(tmp_path, b"id,amount,\n1,5,\n")
    assert (refused.names, refused.trailing_delimiter) == (("id", "amount", ""), True)
    accepted = read(tmp_path, b"id,amount,\n1,5,\n", trailing_delimiter="accept")
    assert (accepted.names, accepted.trailing_delimiter) == (("id", "amount"), True)
    twice = read(tmp_path, b"id,amount,,\n", trailing_delimiter="accept")
    assert twice.names == ("id", "amount", "")
    none = read(tmp_path, b"id,amount\n", trailing_delimiter="accept")
    assert (none.names, none.trailing_delimiter) == (("id", "amount"), False)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "the file is empty (0 bytes)"),
        (b"\xef\xbb\xbf", "the first line is blank"),
        (b"\n1,2\n", "the first line is blank"),
        (b"  \nid\n", "the first line is blank"),
        (b'""\n', "the first line is blank"),
    ],
)
def test_header_that_is_not_there_is_missing(content: bytes, sentence: str, tmp_path: Path) -> None:
    assert problem(read(tmp_path, content)) == ("header.missing", sentence)


def test_header_of_a_gzip_file_is_read(tmp_path: Path) -> None:
    header = read(tmp_path, gzip.compress(b"id,city\n1,Rome\n"), "x.csv.gz")
    assert (header.names, header.has_rows) == (("id", "city"), True)


def test_header_of_an_empty_text_in_gzip_is_missing(tmp_path: Path) -> None:
    assert problem(read(tmp_path, gzip.compress(b""), "x.csv.gz"))[0] == "header.missing"


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        (gzip.compress(b"id,city\n1,Rome\n")[:-9], "x.csv.gz", "the gzip data is cut off or damaged"),
        (gzip.compress(b"id,city\n1,Rome\n")[:5], "x.csv.gz", "the gzip data is cut off or damaged"),
        (gzip.compress(b"id,city\n1,Rome\n"), "x.csv", "holds gzip data but is not called .gz"),
        (b"id,city\n", "x.csv.gz", "is called .gz but holds no gzip data"),
        (b"PK\x03\x04rest", "x.csv", "is a zip archive, not text"),
        (b"(\xb5/\xfdrest", "x.csv", "is zstd data, not text"),
        (b"a" * 5_000_000, "x.csv", "the first line is longer than 1,048,576 characters"),
        (b'id,"' + b"a\n" * 2_500_000, "x.csv", "the first line is longer than 1,048,576 characters"),
    ],
    ids=["cut", "cut in the head", "gzip", "no gzip", "zip", "zstd", "no line end", "open quote"],
)
def test_header_of_a_file_that_is_no_csv_is_unreadable(
    content: bytes, name: str, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(InputUnreadable) as raised:
        read(tmp_path, content, name)
    assert sentence in raised.value.sentence
    assert raised.value.code == "input.unreadable"
    assert raised.value.hint is not None


def test_header_of_a_vanished_file_is_unreadable(tmp_path: Path) -> None:
    file = ListedFile(path=tmp_path / "gone.csv", name="gone.csv", size=3, modified_ns=0)
    with pytest.raises(InputUnreadable, match=r"file 'gone\.csv' cannot be read: reading it failed"):
        read_header(file, SourceOptions())


def test_header_longer_than_one_chunk_is_read_whole(tmp_path: Path) -> None:
    names = tuple(f"spalte_ä_{i}" for i in range(20_000))
    assert read(tmp_path, (",".join(names) + "\n1\n").encode()).names == names



DELIMITERS = st.sampled_from([",", ";", "\t", "|", ":", " ", "x"])


@RELAXED
@given(
    content=st.one_of(
        st.binary(max_size=200),
        st.text(alphabet="a,;\t|\"'\\\r\n \0é\ufeff", max_size=60).map(lambda text: text.encode()),
        st.binary(max_size=50).map(gzip.compress),
    ),
    name=st.sampled_from(["x.csv", "x.csv.gz", "x.CSV.GZ"]),
    delimiter=DELIMITERS,
    quote=st.sampled_from(['"', "'", ","]),
    escape=st.sampled_from(['"', "\\"]),
    encoding=st.sampled_from(["utf-8", "latin-1", "utf-16"]),
    trailing=st.sampled_from(["reject", "accept"]),
)
@example(content=b"\xff\xfe", name="x.csv", delimiter=",", quote='"', escape='"', encoding="utf-16", trailing="reject")
def test_header_reader_any_bytes_is_a_header_or_unreadable(
    content: bytes, name: str, delimiter: str, quote: str, escape: str, encoding: str, trailing: str, tmp_path: Path
) -> None:
    options = {"delimiter": delimiter, "quote": quote, "escape": escape, "encoding": encoding}
    try:
        header = read(tmp_path, content, name, **options, trailing_delimiter=trailing)
    except InputUnreadable as refused:
        assert refused.code == "input.unreadable"
        return
    assert bool(header.names) != bool(header.problems)
    assert not any("\0" in column for column in header.names)


@RELAXED
@given(
    names=st.lists(st.text(alphabet=st.characters(codec="latin-1", exclude_characters="\0"), max_size=12), min_size=1),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    encoding=st.sampled_from(["utf-8", "latin-1", "utf-16"]),
    packed=st.booleans(),
)
def test_header_names_written_by_another_csv_writer_come_back(
    names: list[str], delimiter: str, end: str, quoting: Any, encoding: str, packed: bool, tmp_path: Path
) -> None:
    assume(len(names) > 1 or names[0].strip())
    text = io.StringIO()
    end = "\r\n" if any("\r" in name for name in names) else end  # Python quotes a CR only where it is in the line end
    csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=quoting).writerow(names)
    content = text.getvalue().encode(encoding)
    assume(not content.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\x1f\x8b")) or encoding == "utf-16")
    name = "x.csv.gz" if packed else "x.csv"
    header = read(tmp_path, gzip.compress(content) if packed else content, name, delimiter=delimiter, encoding=encoding)
    assert header.names == tuple(names)
