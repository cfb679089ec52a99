"""Formats of dates and times in Spark's letters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invaract_orchestration.contract.time_formats import TimeFormatError, format_letters, parse_time_format


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("yyyy-MM-dd", ["yyyy", "-", "MM", "-", "dd"]),
        ("dd/MM/yyyy", ["dd", "/", "MM", "/", "yyyy"]),
        ("yyyyMMdd", ["yyyy", "MM", "dd"]),
        ("M/d/yyyy H:mm", ["M", "/", "d", "/", "yyyy", " ", "H", ":", "mm"]),
        ("yyyy'T'''", ["yyyy", "T'"]),
        ("'o''clock' HH", ["o'clock", " ", "HH"]),
        ("HH:mm:ss.SSSXXX", ["HH", ":", "mm", ":", "ss", ".", "SSS", "XXX"]),
        ("hh:mm a", ["hh", ":", "mm", " ", "a"]),
    ],
)
def test_format_is_read_part_by_part(text: str, parts: list[str]) -> None:
    assert [p.text for p in parse_time_format(text)] == parts


def test_letters_leave_the_literal_texts_out() -> None:
    assert format_letters(parse_time_format("yyyy-MM-dd'T'HH")) == frozenset("yMdH")


@pytest.mark.parametrize(
    ("text", "offset", "message", "hint"),
    [
        ("YYYY-MM-dd", 0, "unknown letter 'Y'", "the year is yyyy; YYYY is the year of the week"),
        ("yyyy-MM-DD", 8, "unknown letter 'D'", "the day of the month is dd; D is the day of the year"),
        ("yy-MM-dd", 0, "'yy' is not supported", "the year is one of yyyy"),
        ("%Y-%m-%d", 0, "unknown letter '%'", "letters as in yyyy-MM-dd HH:mm:ss"),
        ("dMyyyy", 1, "where 'd' ends and 'M' begins cannot be told", None),
        ("yyyy yyyy", 5, "the year 'y' stands twice", None),
        ("yyyy 'x", 5, "a quote ' is not closed", None),
        ("hh:mm", 0, "the hour is not clear", "write HH for 00 to 23, or hh with a for AM and PM"),
        ("yyyy[-MM]", 4, "'[' is not supported", "write one fixed form, and quote literal text"),
        ("HH:mm z", 6, "unknown letter 'z'", "the zone is X, such as XXX for +01:00"),
    ],
)
def test_format_that_cannot_be_read_is_refused(text: str, offset: int, message: str, hint: str | None) -> None:
    with pytest.raises(TimeFormatError) as caught:
        parse_time_format(text)
    assert (str(caught.value), caught.value.offset, caught.value.hint) == (message, offset, hint)


@given(st.text(alphabet="yMdHhmsSXa'-/: TQ%", max_size=20))
def test_any_text_is_a_format_or_a_format_error(text: str) -> None:
    try:
        parse_time_format(text)
    except TimeFormatError as error:
        assert 0 <= error.offset <= len(text)
