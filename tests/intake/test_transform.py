"""What a function is called with, and which texts name one."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from invaract_orchestration.errors import UsageError
from invaract_orchestration.intake.transform import import_function, is_function_name, rows_and_transform, transform_of


class Job:
    def __call__(self, session: Any, rows: Any) -> Any:
        return rows


def of_both(session: Any, rows: Any, factor: int = 2) -> Any:
    return rows


def of_the_session(session: Any) -> Any:
    return session


@pytest.mark.parametrize(
    ("function", "takes_rows"),
    [
        (of_both, True), (of_the_session, False), (Job(), True), (partial(of_both, factor=3), True),
        (lambda *both: both, True), (partial(of_both, "session"), False), (lambda session, day="today": session, False),
        (lambda session, rows=None: rows, True),
    ],
)  # fmt: skip
def test_function_takes_rows_when_it_needs_two_arguments(function: Any, takes_rows: bool) -> None:
    assert transform_of(function).takes_rows is takes_rows


def test_function_is_named_by_its_module_and_name() -> None:
    assert transform_of(partial(of_both, factor=3)).name.endswith("test_transform:of_both")
    assert transform_of(Job()).name.endswith("test_transform:Job")


@pytest.mark.parametrize("function", [lambda: 1, lambda one, two, three: 1, lambda session, *, rows: 1])
def test_function_that_takes_anything_else_is_refused(function: Any) -> None:
    with pytest.raises(UsageError, match="cannot be called with a session and rows"):
        transform_of(function)


@pytest.mark.parametrize(
    ("text", "is_name"),
    [
        ("jobs.totals:daily", True), ("jobs:daily", True), ("jobs.daily", True), ("daily.sql", False), ("daily", False),
        ("sql/daily.sql", False), ("./jobs.daily", False), ("select 1", False), ("jobs.totals:daily()", False),
    ],
)  # fmt: skip
def test_text_names_a_function_or_a_file(text: str, is_name: bool) -> None:
    assert is_function_name(text) is is_name


def test_file_that_is_there_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "totals.daily").touch()
    assert not is_function_name("totals.daily")


def test_module_that_fails_when_it_is_loaded_is_told_by_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "invaract_test_broken.py").write_text("raise ValueError('CANARY')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match="ValueError while importing 'invaract_test_broken'") as told:
        import_function("invaract_test_broken:f")
    assert "CANARY" not in str(told.value)


def test_rows_are_handed_in_once() -> None:
    frame = object()
    assert rows_and_transform(None, frame) == (frame, None)
    assert rows_and_transform(frame, None) == (frame, None)
    with pytest.raises(UsageError, match="handed in twice"):
        rows_and_transform(frame, frame)
    with pytest.raises(UsageError, match="takes none"):
        rows_and_transform(frame, of_the_session)
