from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from invaract_orchestration.errors import InputUnreadable
from invaract_orchestration.intake.digests import FileDigest, digest_files, intake_digest, tables_digest
from invaract_orchestration.intake.identity import slice_digest, submission_id
from invaract_orchestration.intake.listing import list_files


def digests(base: Path, files: dict[str, bytes]) -> tuple[FileDigest, ...]:
    for name, content in files.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_bytes(content)
    return digest_files(list_files(".", base=base).files)


def test_digest_of_a_file_is_its_sha256(tmp_path: Path) -> None:
    (found,) = digests(tmp_path, {"a.csv": b"abc"})
    assert found.digest == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert (found.name, found.size) == ("a.csv", 3)


def test_digest_of_a_large_file_reads_all_chunks(tmp_path: Path) -> None:
    (found,) = digests(tmp_path, {"a.csv": b"a" * 3_000_000})
    assert found.digest == "2a152c894398719c0570f83fac34ac03a0f6e8e474b995c2403aa5434f7b9dd4"
    assert found.size == 3_000_000


def test_intake_digest_ignores_times_and_order(tmp_path: Path) -> None:
    first = digests(tmp_path / "x", {"a.csv": b"1", "b.csv": b"2"})
    second = digests(tmp_path / "y", {"b.csv": b"2", "a.csv": b"1"})
    os.utime(tmp_path / "y/a.csv", (1, 1))
    third = digest_files(list_files("y", base=tmp_path).files)
    assert intake_digest(first) == intake_digest(second) == intake_digest(third[::-1])


def test_intake_digest_of_swapped_contents_differs(tmp_path: Path) -> None:
    first = digests(tmp_path / "x", {"a.csv": b"1", "b.csv": b"2"})
    second = digests(tmp_path / "y", {"a.csv": b"2", "b.csv": b"1"})
    assert intake_digest(first) != intake_digest(second)


def test_intake_digest_of_a_renamed_file_differs(tmp_path: Path) -> None:
    first = digests(tmp_path / "x", {"a.csv": b"1"})
    second = digests(tmp_path / "y", {"b.csv": b"1"})
    assert intake_digest(first) != intake_digest(second)


def test_tables_digest_follows_the_version() -> None:
    assert tables_digest({"a": 1, "b": 2}) == tables_digest({"b": 2, "a": 1})
    assert tables_digest({"a": 1}) != tables_digest({"a": 2})


def test_digest_of_whole_gzip_with_two_members_and_padding_is_given(tmp_path: Path) -> None:
    content = gzip.compress(b"id\n1\n") + gzip.compress(b"2\n") + b"\0" * 100
    (found,) = digests(tmp_path, {"a.csv.gz": content})
    assert found.size == len(content)


@pytest.mark.parametrize("cut", [1, 8, 20, 500])
def test_digest_of_cut_gzip_is_unreadable(cut: int, tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(b"%d,%d\n" % (i, i * i) for i in range(5000)))
    with pytest.raises(InputUnreadable, match=r"'a\.csv\.gz' cannot be read: its gzip data is cut off") as raised:
        digests(tmp_path, {"a.csv.gz": whole[:-cut]})
    assert raised.value.code == "input.unreadable"


@pytest.mark.parametrize("damage", [b"\0" * 8, b"garbage!"])
def test_digest_of_gzip_with_a_wrong_checksum_is_unreadable(damage: bytes, tmp_path: Path) -> None:
    whole = gzip.compress(b"id\n1\n2\n")
    with pytest.raises(InputUnreadable, match="damaged"):
        digests(tmp_path, {"a.csv.gz": whole[:-8] + damage})


def test_digest_of_gzip_with_text_after_it_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(InputUnreadable, match="damaged"):
        digests(tmp_path, {"a.csv.gz": gzip.compress(b"id\n1\n") + b"3,4\n"})


@pytest.mark.parametrize("content", [b"", b"id\n1\n"])
def test_digest_of_gz_name_without_gzip_data_is_unreadable(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(InputUnreadable):
        digests(tmp_path, {"a.csv.gz": content})


def test_digest_of_a_file_that_grew_since_listing_is_changed(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1\n")
    listing = list_files(".", base=tmp_path)
    (tmp_path / "a.csv").write_text("1\n2\n")
    with pytest.raises(InputUnreadable) as raised:
        digest_files(listing.files)
    assert raised.value.code == "input.changed"
    assert "2 bytes listed, 4 read" in str(raised.value)


def test_slice_digest_does_not_depend_on_the_order_of_parameters() -> None:
    one = slice_digest("c", "t", {"a": "1", "b": "2"})
    assert one == slice_digest("c", "t", {"b": "2", "a": "1"})
    assert one != slice_digest("c", "t", {"a": "2", "b": "1"})
    assert one != slice_digest("c", "u", {"a": "1", "b": "2"})


def test_submission_id_is_stable_between_releases() -> None:
    slice_ = slice_digest("flights", "lake.reporting.flights", {"month": "2013-01"})
    assert submission_id(slice_, "0" * 64) == "s-92e15fbed16c9ad82ba5d205"
