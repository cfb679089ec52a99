"""The faults in the short form that CI runs; `make faults` runs every point."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults import scenarios
from tests.faults.ground import AFTER_BOTH


@pytest.mark.slow
@pytest.mark.parametrize("mode", AFTER_BOTH)
def test_kill_between_steps_then_retry_publishes_once(tmp_path: Path, mode: str) -> None:
    tally = scenarios.kills(tmp_path, mode, step=5)
    assert tally.is_clean, tally


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["append", "append with constraints"])
def test_kill_while_the_table_is_made_then_retry_publishes_once(tmp_path: Path, mode: str) -> None:
    tally = scenarios.first_kills(tmp_path, mode, step=4)
    assert tally.is_clean, tally


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "processes"), [("append", 8), ("merge", 2), ("replace_partitions", 2)])
def test_processes_with_one_submission_publish_it_once(tmp_path: Path, mode: str, processes: int) -> None:
    tally = scenarios.same_submission(tmp_path, mode, processes, 1)
    assert tally.is_clean, tally


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["append", "merge"])
def test_processes_with_own_rows_lose_and_double_none(tmp_path: Path, mode: str) -> None:
    tally = scenarios.other_submissions(tmp_path, mode, 4, 1)
    assert tally.is_clean, tally


@pytest.mark.parametrize("mode", AFTER_BOTH)
def test_error_after_the_commit_landed_is_a_publication(tmp_path: Path, mode: str) -> None:
    tally = scenarios.raising_commit(tmp_path, mode)
    assert tally.is_clean, tally


@pytest.mark.parametrize("failure", ["reject", "quarantine"])
def test_canary_in_every_bad_cell_is_in_the_quarantine_alone(tmp_path: Path, failure: str) -> None:
    tally = scenarios.canary(tmp_path, failure)
    assert tally.is_clean, tally
