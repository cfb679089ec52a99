"""Text files that are something else than their name says."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from invaract_orchestration.errors import InputUnreadable
from invaract_orchestration.intake.listing import list_files
from invaract_orchestration.intake.text_files import check_utf8_start
from tests.engines.lake import Lake

RECORD = b'{"id":1}\n'


@pytest.mark.parametrize(("name", "content", "code", "sentence"), [
    ("a.jsonl", RECORD.decode().encode("utf-16"), "input.encoding", "UTF-16 byte order mark seen, expected UTF-8 text"),
    ("a.jsonl", b"\xff\xfe\x00\x00" + RECORD, "input.encoding", "UTF-32 byte order mark seen"),
    ("a.json", gzip.compress(RECORD, mtime=0), "input.unreadable", "holds gzip data but is not called .gz"),
    ("a.json.gz", RECORD, "input.unreadable", "is called .gz but holds no gzip data"),
    ("a.json.zst", RECORD, "input.unreadable", "is called .zst: only plain text and gzip are read"),
    ("a.json", b"PK\x03\x04....", "input.unreadable", "is a zip archive, not text"),
])  # fmt: skip
def test_json_file_that_is_no_utf8_text_is_refused_by_what_it_is(
    tmp_path: Path, name: str, content: bytes, code: str, sentence: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputUnreadable, match=sentence) as raised:
        check_utf8_start(list_files(str(tmp_path), base=tmp_path).files)
    assert raised.value.code == code


@pytest.mark.parametrize(("name", "content"), [
    ("a.jsonl", RECORD), ("a.jsonl", b"\xef\xbb\xbf" + RECORD), ("a.jsonl", b""), ("a.jsonl.gz", gzip.compress(RECORD, mtime=0)),
    ("a.jsonl.GZ", gzip.compress(b"\xef\xbb\xbf" + RECORD, mtime=0)),
])  # fmt: skip
def test_json_file_of_utf8_text_is_fine(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    check_utf8_start(list_files(str(tmp_path), base=tmp_path).files)


@pytest.mark.parametrize("ending", ["bz2", "zst", "snappy"])
def test_delimited_file_with_the_name_of_another_packing_is_refused(tmp_path: Path, ending: str) -> None:
    lake = Lake(tmp_path)
    lake.put({f"a.csv.{ending}": "id\n1\n"})
    result = lake.run(lake.contract("{name: id, type: int}"))
    assert (result.state, result.code) == ("failed", "input.unreadable")


def test_json_in_utf16_fails_the_attempt_with_its_encoding(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    lake.put({"a.jsonl": RECORD.decode().encode("utf-16")})
    result = lake.run(lake.contract("{name: id, type: int}", source="format: json"))
    assert (result.state, result.code, lake.rows()) == ("failed", "input.encoding", [])
