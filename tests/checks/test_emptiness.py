"""Whether a batch has rows to publish."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engines.lake import Lake, broken

FIELDS = "{name: id, type: int}\n{name: v, type: int, min: 0}"


@pytest.mark.parametrize(("text", "expected"), [
    ("id,v\n", {"batch|rows": None}),
    ("id,v\n1,x\n", {"v|type": 1, "v|min": 0}),
    ("id,v\n1,-1\n", {"v|min": 1}),
    ("id,v\n1\n", {"row|malformed": 1}),
])  # fmt: skip
def test_batch_that_is_rejected_whole_is_empty_only_without_rows(tmp_path: Path, text: str, expected: dict[str, int | None]) -> None:
    lake = Lake(tmp_path)
    lake.put({"a.csv": text})
    result = lake.run(lake.contract(FIELDS))
    assert (result.state, broken(result)) == ("rejected", expected)


def test_batch_of_which_every_row_is_set_aside_is_empty(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    lake.put({"a.csv": "id,v\n1,-1\n"})
    result = lake.run(lake.contract(FIELDS, more="quality: {on_row_failure: quarantine}"))
    assert (result.state, broken(result)) == ("rejected", {"v|min": 1, "batch|rows": None})
