"""Arbitrary delimited text on Spark: the embedded engine's own cases, and its strict reader as the measure of the expressions."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invaract_orchestration.contract.model import SourceOptions
from invaract_orchestration.engines.spark.csv_lines import Cells
from tests.engines import test_raw_records
from tests.engines.test_raw_records import (
    strict_records,
    test_bytes_that_are_no_letter_of_latin_1_break_their_record_alone,
    test_original_text_is_kept_of_a_record_that_is_none,
    test_other_encodings_are_read_as_declared,
    test_record_that_the_reader_would_let_through_is_malformed,
    test_text_that_is_not_in_the_declared_encoding_is_unreadable,
)
from tests.spark.lakes import EngineLake

__all__ = [
    "test_bytes_that_are_no_letter_of_latin_1_break_their_record_alone",
    "test_original_text_is_kept_of_a_record_that_is_none", "test_other_encodings_are_read_as_declared",
    "test_record_that_the_reader_would_let_through_is_malformed",
    "test_text_that_is_not_in_the_declared_encoding_is_unreadable",
]  # fmt: skip


@pytest.fixture(autouse=True)
def on_spark(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_raw_records, "Lake", partial(EngineLake, engine="spark"))
    for function in __all__:
        monkeypatch.setitem(globals()[function].__globals__, "Lake", partial(EngineLake, engine="spark"))


CELLS = st.sampled_from(["x", "", '"q"', '""', '"a,b"', '"a\nb"', ' "p"', '"p" ', 'm"m', '"a""b"', " ", '"', "7", '"a\r\nb"'])
LINES = st.lists(CELLS, min_size=1, max_size=4).map(",".join)
TEXTS = st.lists(st.tuples(LINES, st.sampled_from(["\n", "\n", "\r\n", "\n\n", "\r"])).map("".join), max_size=6).map("".join)


@given(text=TEXTS)
def test_expressions_tell_records_apart_as_a_strict_reader_does(text: str) -> None:
    """The patterns are possessive, so Python's matcher reads them as Java's does."""
    lines = re.split(r"(?<=\r\n)|(?<=\n)|(?<=\r)(?!\n)", text)
    records, parts = [], []
    is_open = False
    for line in filter(None, lines):
        parts.append(line)
        bare = line.rstrip("\r\n")
        is_open = found(SIGNS["again" if is_open else "outside"], bare)
        if not is_open:
            records.append("".join(parts).removesuffix("\n").removesuffix("\r"))
            parts = []
    records += ["".join(parts).removesuffix("\n").removesuffix("\r")] if parts else []
    assert [cells_of(r) for r in records if r] == strict_records(text)


def patterns_of(expression: str) -> list[re.Pattern[str]]:
    texts = re.findall(r"X'([0-9A-F]+)'", expression)
    return [re.compile(bytes.fromhex(t).decode().replace(r"\z", r"\Z")) for t in texts]


CELL_FORMS = Cells(SourceOptions())
OUTSIDE, INSIDE = CELL_FORMS.stays_open("line")
SIGNS = {"outside": patterns_of(OUTSIDE), "again": patterns_of(INSIDE)}
QUOTED, STRICT, EACH = patterns_of(CELL_FORMS.split("line"))[:3]


def found(signs: list[re.Pattern[str]], line: str) -> bool:
    return any(sign.search(line) for sign in signs)


def cells_of(record: str) -> list[str | None] | None:
    cells = EACH.findall("," + record) if STRICT.search(record) else None
    if cells is None or len(cells) != 2:
        return None
    return [c[1:-1].replace('""', '"') if c.startswith('"') else (c or None) for c in cells]
