"""Which version a table's content comes from after restores, as its log tells it."""

from __future__ import annotations

from typing import Any

import pytest

from invaract_orchestration.engines.delta.restored import restored_before


def history(*restores: tuple[int, dict[str, Any]], newest: int) -> list[dict[str, Any]]:
    """Versions up to `newest`, each a second after the one before; the named ones are restores."""
    said = dict(restores)
    return [
        {"version": v, "timestamp": v * 1000, "operation": "RESTORE" if v in said else "WRITE", "operationParameters": said.get(v, {})}
        for v in range(newest, -1, -1)
    ]


def unread(_: int) -> None:
    pytest.fail("the files were asked for, and the log says the version")


@pytest.mark.parametrize(
    ("restores", "newest", "version", "expected"),
    [
        ((), 3, 2, None),
        (((3, {"version": "1"}),), 3, 2, 1),
        (((3, {"version": "1"}),), 3, 1, None),
        (((3, {"version": "2"}),), 3, 2, None),
        (((3, {"version": "1"}),), 5, 2, 1),
        (((3, {"version": "1"}),), 5, 4, None),
        (((3, {"version": "1"}), (4, {"version": "2"})), 4, 2, None),
        (((3, {"version": "2"}), (4, {"version": "1"})), 4, 2, 1),
    ],
)
def test_content_before_a_version_is_noticed(
    restores: tuple[tuple[int, dict[str, Any]], ...], newest: int, version: int, expected: int | None
) -> None:
    assert restored_before(history(*restores, newest=newest), version, unread) == expected


def test_log_that_was_cleaned_up_does_not_count_as_restored() -> None:
    assert restored_before(history(newest=9)[:4], 7, unread) is None


@pytest.mark.parametrize("said", [{"timestamp": "2026-01-01 00:00:00.5"}, {"version": 0}, {"version": None, "datetime": "1500"}, {}])
@pytest.mark.parametrize(("same_as", "expected"), [(0, 0), (1, 1), (2, None), (None, -1)])
def test_files_tell_which_version_a_moment_was(said: dict[str, Any], same_as: int | None, expected: int | None) -> None:
    files = {v: frozenset({f"{v}.parquet"}) for v in range(3)}
    files[3] = files[same_as] if same_as is not None else frozenset({"other.parquet"})
    assert restored_before(history((3, said), newest=4), 2, files.get) == expected


def test_version_that_cannot_be_read_any_more_is_none_to_come_from() -> None:
    assert restored_before(history((3, {"timestamp": "1500"}), newest=3), 2, lambda _: None) == -1
