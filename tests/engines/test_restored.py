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


@pytest.mark.parametrize(
    ("restores", "newest", "version", "expected"),
    [
        ((), 3, 2, None),
        (((3, {"version": "1"}),), 3, 2, 1),
        (((3, {"version": "1"}),), 3, 1, None),
        (((3, {"version": 0, "timestamp": None}),), 3, 1, 0),
        (((3, {"version": "2"}),), 3, 2, None),
        (((3, {"version": "1"}),), 5, 2, 1),
        (((3, {"version": "1"}),), 5, 4, None),
        (((3, {"version": "1"}), (4, {"version": "2"})), 4, 2, None),
        (((3, {"version": "2"}), (4, {"version": "1"})), 4, 2, 1),
        (((3, {"datetime": "1500"}),), 3, 2, 1),
        (((3, {"version": None, "timestamp": "1970-01-01 00:00:01.5"}),), 3, 2, 1),
        (((3, {"version": None, "timestamp": "1970-01-01T02:00:02.500+02:00"}),), 3, 2, None),
        (((3, {"timestamp": "some day"}),), 3, 2, -1),
    ],
)
def test_content_before_a_version_is_noticed(
    restores: tuple[tuple[int, dict[str, Any]], ...], newest: int, version: int, expected: int | None
) -> None:
    assert restored_before(history(*restores, newest=newest), version) == expected


def test_log_that_was_cleaned_up_does_not_count_as_restored() -> None:
    assert restored_before(history(newest=9)[:4], 7) is None
