from __future__ import annotations

import os
from pathlib import Path

import pytest

from invaract_orchestration.errors import InputUnreadable, NotSupported
from invaract_orchestration.intake.listing import Listing, list_files, partition_of, verify_unchanged


def write(base: Path, *names: str) -> None:
    for name in names:
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name}\n")


def names(listing: Listing) -> list[str]:
    return [file.name for file in listing.files]


def code_of(location: str, base: Path) -> str:
    with pytest.raises(InputUnreadable) as raised:
        list_files(location, base=base)
    assert "Hint:" in str(raised.value)
    return raised.value.code


def test_list_single_file_is_named_from_its_folder(tmp_path: Path) -> None:
    write(tmp_path, "in/a.csv", "in/b.csv")
    listing = list_files("in/a.csv", base=tmp_path)
    assert names(listing) == ["a.csv"]
    assert listing.root == str(tmp_path / "in")
    assert listing.files[0].size == len("in/a.csv\n")
    assert listing.files[0].modified_ns == (tmp_path / "in/a.csv").stat().st_mtime_ns


def test_list_folder_takes_every_file_below_in_order(tmp_path: Path) -> None:
    write(tmp_path, "in/z.csv", "in/a/2.csv", "in/a/10.csv", "in/B.csv")
    assert names(list_files("in", base=tmp_path)) == ["B.csv", "a/10.csv", "a/2.csv", "z.csv"]
    assert names(list_files("in/", base=tmp_path)) == ["B.csv", "a/10.csv", "a/2.csv", "z.csv"]


def test_list_pattern_matches_one_folder_level(tmp_path: Path) -> None:
    write(tmp_path, "in/a.csv", "in/b.txt", "in/sub/c.csv", "in/x.csv/part-0.csv")
    assert names(list_files("in/*.csv", base=tmp_path)) == ["a.csv", "x.csv/part-0.csv"]
    assert names(list_files("in/?.csv", base=tmp_path)) == ["a.csv", "x.csv/part-0.csv"]
    assert names(list_files("*/s*/*.csv", base=tmp_path)) == ["in/sub/c.csv"]


def test_list_double_star_matches_any_depth(tmp_path: Path) -> None:
    write(tmp_path, "in/a.csv", "in/s/b.csv", "in/s/t/c.csv", "in/s/t/d.txt")
    assert names(list_files("in/**/*.csv", base=tmp_path)) == ["a.csv", "s/b.csv", "s/t/c.csv"]
    assert names(list_files("in/**", base=tmp_path)) == ["a.csv", "s/b.csv", "s/t/c.csv", "s/t/d.txt"]


def test_list_absolute_path_and_file_url_mean_the_same(tmp_path: Path) -> None:
    write(tmp_path, "my in/a.csv")
    absolute = list_files(str(tmp_path / "my in"), base=Path("/"))
    assert list_files(f"file://{tmp_path}/my%20in", base=Path("/")).files == absolute.files
    assert list_files(f"file:{tmp_path}/my%20in", base=Path("/")).files == absolute.files


@pytest.mark.parametrize("url", ["s3://bucket/x.csv", "abfss://c@a/x", "https://example.org/x.csv", "dbfs:/x.csv"])
def test_list_other_url_is_not_supported_by_name(url: str, tmp_path: Path) -> None:
    with pytest.raises(NotSupported, match=url.split(":")[0]):
        list_files(url, base=tmp_path)


def test_list_file_url_with_a_host_is_not_supported(tmp_path: Path) -> None:
    with pytest.raises(NotSupported, match="host 'server'"):
        list_files("file://server/x.csv", base=tmp_path)


def test_list_hidden_names_are_no_input(tmp_path: Path) -> None:
    write(tmp_path, "in/a.csv", "in/_SUCCESS", "in/.a.csv.crc", "in/_temporary/0/b.csv", "in/.git/c.csv")
    assert names(list_files("in", base=tmp_path)) == ["a.csv"]
    assert names(list_files("in/**/*.csv", base=tmp_path)) == ["a.csv"]


def test_list_folder_column_with_underscore_is_input(tmp_path: Path) -> None:
    write(tmp_path, "in/_region=eu/a.csv")
    assert list_files("in", base=tmp_path).files[0].partition == (("_region", "eu"),)


def test_list_hidden_folder_written_in_the_location_is_read(tmp_path: Path) -> None:
    write(tmp_path, "_landing/a.csv")
    assert names(list_files("_landing/*.csv", base=tmp_path)) == ["a.csv"]


@pytest.mark.parametrize("location", ["in", "in/*.csv", "in/_orders.csv"])
def test_list_only_hidden_names_is_none_readable(location: str, tmp_path: Path) -> None:
    write(tmp_path, "in/_orders.csv")
    with pytest.raises(InputUnreadable) as raised:
        list_files(location, base=tmp_path)
    assert raised.value.code == "input.none_readable"
    assert "1 file on disk, 0 readable: '_orders.csv'" in str(raised.value)
    assert "starts with '_' or '.'" in str(raised.value)


def test_list_nothing_there_says_the_nearest_folder_and_name(tmp_path: Path) -> None:
    write(tmp_path, "landing/2026-01-02/a.csv")
    with pytest.raises(InputUnreadable) as raised:
        list_files("landing/2026-01-03/*.csv", base=tmp_path)
    assert raised.value.code == "input.missing"
    assert str(raised.value) == (
        "location 'landing/2026-01-03/*.csv': expected at least one file, found none\n"
        f"Hint: the nearest folder that exists is '{tmp_path}/landing'; looked for '2026-01-03/*.csv' in it; it holds "
        "1 name, the closest is '2026-01-02'"
    )


@pytest.mark.parametrize("location", ["empty", "empty/*.csv", "none.csv", "in/*.CSV", "in/a.csv/x.csv", "../nowhere/*"])
def test_list_no_file_at_all_is_missing(location: str, tmp_path: Path) -> None:
    base = tmp_path / "base"
    (base / "empty").mkdir(parents=True)
    write(base, "in/a.csv")
    assert code_of(location, base) == "input.missing"


@pytest.mark.parametrize("location", ["", " ", "a\0b"])
def test_list_location_that_names_nothing_is_missing(location: str, tmp_path: Path) -> None:
    with pytest.raises(InputUnreadable):
        list_files(location, base=tmp_path)


def test_list_existing_name_with_brackets_is_no_pattern(tmp_path: Path) -> None:
    write(tmp_path, "in/a[1].csv", "in/a1.csv", "in/*.csv")
    assert names(list_files("in/a[1].csv", base=tmp_path)) == ["a[1].csv"]
    assert names(list_files("in/*.csv", base=tmp_path)) == ["*.csv"]
    assert names(list_files("in/a[1-2].csv", base=tmp_path)) == ["a1.csv"]


def test_list_folder_columns_keep_their_text(tmp_path: Path) -> None:
    write(tmp_path, "in/store=007/ver=1.000/p.csv", "in/store=a%2Fb %3D/ver=__HIVE_DEFAULT_PARTITION__/p.csv")
    files = list_files("in", base=tmp_path).files
    assert [file.partition for file in files] == [
        (("store", "007"), ("ver", "1.000")),
        (("store", "a/b ="), ("ver", None)),
    ]
    assert files[0].folder_columns == ("store", "ver")


def test_list_folder_column_of_the_location_is_said_but_not_found_below(tmp_path: Path) -> None:
    write(tmp_path, "in/day=2026-01-02/p.csv")
    file = list_files("in/day=2026-01-02/*.csv", base=tmp_path).files[0]
    assert file.partition == (("day", "2026-01-02"),)
    assert file.folder_columns == ()
    assert file.columns_beside(own=("id",), agreed=("id", "day")) == ("day",)
    assert file.columns_beside(own=("id", "day"), agreed=("id", "day")) == ()
    assert file.columns_beside(own=("id",), agreed=("id",)) == ()


def test_partition_value_with_equals_sign_and_empty_value() -> None:
    assert partition_of(["a=b=c", "d=", "=x", "plain"]) == (("a", "b=c"), ("d", ""))


def test_list_symbolic_links_are_followed(tmp_path: Path) -> None:
    write(tmp_path, "real/a.csv")
    (tmp_path / "in").mkdir()
    (tmp_path / "in/linked").symlink_to(tmp_path / "real")
    (tmp_path / "in/b.csv").symlink_to(tmp_path / "real/a.csv")
    assert names(list_files("in", base=tmp_path)) == ["b.csv", "linked/a.csv"]


def test_list_dangling_link_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/b.csv").symlink_to(tmp_path / "gone.csv")
    with pytest.raises(InputUnreadable, match=r"file 'b\.csv' cannot be read: no such file or directory"):
        list_files("in", base=tmp_path)


def test_list_folder_that_contains_itself_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "in/a.csv")
    (tmp_path / "in/again").symlink_to(tmp_path / "in")
    with pytest.raises(InputUnreadable, match="contains itself"):
        list_files("in", base=tmp_path)


def test_list_pipe_is_no_regular_file(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    os.mkfifo(tmp_path / "in/p.csv")
    with pytest.raises(InputUnreadable, match="not a regular file"):
        list_files("in", base=tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_list_file_without_permission_is_unreadable(tmp_path: Path) -> None:
    write(tmp_path, "in/a.csv")
    (tmp_path / "in/a.csv").chmod(0)
    with pytest.raises(InputUnreadable, match="permission denied"):
        list_files("in", base=tmp_path)


def test_list_name_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/in/\xe9.csv")).write_text("id\n")
    with pytest.raises(InputUnreadable) as raised:
        list_files("in", base=tmp_path)
    assert raised.value.code == "input.unsafe_name"
    assert r"'\udce9.csv'" in str(raised.value)


@pytest.mark.parametrize("location", ["t", "t/*.parquet", "*/*.parquet"])
def test_list_files_of_a_delta_table_are_refused(location: str, tmp_path: Path) -> None:
    write(tmp_path, "t/_delta_log/00000000000000000000.json", "t/p.parquet")
    assert code_of(location, tmp_path) == "input.delta_table"


def test_unchanged_listing_is_fine(tmp_path: Path) -> None:
    write(tmp_path, "in/a.csv", "in/b.csv")
    verify_unchanged(list_files("in", base=tmp_path), "in", tmp_path)


def test_changed_vanished_and_appeared_files_are_all_named(tmp_path: Path) -> None:
    write(tmp_path, "in/a.csv", "in/b.csv", "in/c.csv")
    listing = list_files("in", base=tmp_path)
    with (tmp_path / "in/a.csv").open("a") as more:
        more.write("x\n")
    (tmp_path / "in/b.csv").unlink()
    write(tmp_path, "in/d.csv")
    with pytest.raises(InputUnreadable) as raised:
        verify_unchanged(listing, "in", tmp_path)
    assert raised.value.code == "input.changed"
    assert raised.value.sentence == (
        "the input at 'in' is not what was listed: 1 file changed: 'a.csv'; 1 file vanished: 'b.csv'; 1 file appeared: "
        "'d.csv'"
    )


def test_file_rewritten_with_the_same_size_is_changed(tmp_path: Path) -> None:
    write(tmp_path, "in/a.csv")
    listing = list_files("in", base=tmp_path)
    os.utime(tmp_path / "in/a.csv", ns=(1, listing.files[0].modified_ns + 1))
    with pytest.raises(InputUnreadable, match="1 file changed"):
        verify_unchanged(listing, "in", tmp_path)


def test_all_files_gone_is_changed(tmp_path: Path) -> None:
    write(tmp_path, "in/a.csv")
    listing = list_files("in", base=tmp_path)
    (tmp_path / "in/a.csv").unlink()
    with pytest.raises(InputUnreadable) as raised:
        verify_unchanged(listing, "in", tmp_path)
    assert raised.value.code == "input.changed"
