"""Rows that were set aside come back as they were delivered, in whatever form the contract's source is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from deltalake import DeltaTable

from tests.cli.conftest import Place

CONTRACT = """\
contract: orders
version: "{version}"
source: {{location: batch, format: {format}, empty: accept, options: {options}}}
fields:
  - {{name: id, type: string}}
  - {{name: note, type: string{rule}}}
quality: {{on_row_failure: quarantine}}
publish: {{target: orders, mode: append}}
"""


def _set_aside(place: Place, form: str, options: str, content: bytes) -> str:
    """Deliver rows that all fail, agree on a contract that takes them, and return the submission."""
    (place.root / "batch").write_bytes(content)
    contract = place.root / "orders.yaml"
    contract.write_text(CONTRACT.format(version="1.0.0", format=form, options=options, rule=", max_length: 0"))
    assert place.call("run", "orders.yaml").code == 2
    contract.write_text(CONTRACT.format(version="1.1.0", format=form, options=options, rule=""))
    return "s-"


def _published(root: Path) -> list[tuple[str, str]]:
    found = DeltaTable(str(root / "lake" / "orders")).to_pyarrow_table().to_pylist()
    return sorted((row["id"], row["note"]) for row in found)


@pytest.mark.parametrize(
    ("form", "options", "content", "rows"),
    [
        ("csv", "{encoding: latin-1}", "id,note\n1,é\n2,ü\n".encode("latin-1"), [("1", "é"), ("2", "ü")]),
        ("csv", "{encoding: utf-16}", "id,note\n1,é\n".encode("utf-16"), [("1", "é")]),
        ("csv", '{escape: "\\\\"}', b'id,note\n1,"a\\"b"\n2,"x\\\\"\n3,"c\\\\\\"d"\n', [("1", 'a"b'), ("2", "x\\"), ("3", 'c\\"d')]),
        ("csv", '{delimiter: ";", quote: "\'"}', b"id;note\n1;'it''s; so'\n", [("1", "it's; so")]),
        ("csv", "{trailing_delimiter: accept}", b"id,note,\n1,a,\n", [("1", "a")]),
        ("csv", "{}", b'id,note\n1,"a\nb"\n2,"c\r\nd"\n', [("1", "a\nb"), ("2", "c\r\nd")]),
        ("json", "{shape: array}", b'[{"id":"1","note":"a"},{"id":"2","note":"b"}]', [("1", "a"), ("2", "b")]),
        ("json", "{shape: any}", b'[{"id":"1","note":"a"}]', [("1", "a")]),
    ],
)
def test_released_rows_are_published_as_they_were_delivered(
    place: Place, form: str, options: str, content: bytes, rows: list[tuple[str, str]]
) -> None:
    submission = _set_aside(place, form, options, content)
    said = place.call("quarantine", "release", "orders.yaml", "--submission", submission)
    assert (said.code, said.out.split("  ")[0]) == (0, "PUBLISHED")
    assert _published(place.root) == rows
    left = [p for p in (place.root / "lake" / "orders__candidates").rglob("*") if "released-" in str(p)]
    assert left == []


def test_exported_file_is_in_the_encoding_that_the_contract_reads(place: Place) -> None:
    submission = _set_aside(place, "csv", "{encoding: latin-1}", "id,note\n1,é\n".encode("latin-1"))
    words = ("quarantine", "export", "orders.yaml", "--submission", submission, "--write")
    assert place.call(*words, "fixed.csv").code == 0
    assert (place.root / "fixed.csv").read_bytes() == '"id","note"\n"1","é"\n'.encode("latin-1")
    assert (place.root / "fixed.csv").stat().st_mode & 0o777 == 0o600
    assert place.call(*words, "fixed.csv").code == 64


def test_rows_that_the_encoding_cannot_hold_are_refused(place: Place) -> None:
    submission = _set_aside(place, "csv", "{}", "id,note\n1,日本\n".encode())
    contract = place.root / "orders.yaml"
    contract.write_text(contract.read_text().replace("options: {}", "options: {encoding: latin-1}"))
    said = place.call("quarantine", "release", "orders.yaml", "--submission", submission)
    assert said.code == 3
    assert "cannot be written in the encoding of the contract's source, latin-1" in said.err
    assert "日本" not in said.err + said.out


@pytest.mark.parametrize(("given", "sentence"), [("s-0000", "no row is there of submission"), ("", "no row is there")])
def test_submission_that_is_not_in_the_quarantine_exits_64(place: Place, given: str, sentence: str) -> None:
    (place.root / "orders.yaml").write_text(CONTRACT.format(version="1.0.0", format="csv", options="{}", rule=""))
    said = place.call("quarantine", "release", "orders.yaml", "--submission", given)
    assert said.code == 64
    assert sentence in said.err


def test_rows_of_a_rejected_batch_are_not_released(place: Place) -> None:
    (place.root / "batch").write_bytes(b"id,note\n1,long\n")
    text = CONTRACT.format(version="1.0.0", format="csv", options="{}", rule=", max_length: 0").replace("quarantine", "reject")
    (place.root / "orders.yaml").write_text(text)
    assert place.call("run", "orders.yaml").code == 1
    said = place.call("quarantine", "release", "orders.yaml", "--submission", "s-")
    assert said.code == 64
    assert "their whole batch was rejected" in said.err
