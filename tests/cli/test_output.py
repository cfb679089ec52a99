"""What becomes of the output is no part of what a command does: a reader who leaves, a full disk, a terminal of few letters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from invaract_orchestration.cli import console
from tests.cli.conftest import BAD, GOOD, Place

PROGRAM = [sys.executable, "-c", "from invaract_orchestration.cli import main; main()"]


def _without_reader(place: Place, *arguments: str, closed: str) -> int:
    """The exit code of a command whose reader has gone before the first line."""
    reading, writing = os.pipe()
    os.close(reading)
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, closed: writing}
    try:
        return subprocess.run([*PROGRAM, *arguments], cwd=place.root, check=False, **streams).returncode
    finally:
        os.close(writing)


@pytest.mark.parametrize(("closed", "output"), [("stdout", "text"), ("stdout", "json"), ("stderr", "text")])
@pytest.mark.parametrize(("text", "code", "state"), [(GOOD, 0, "published"), (BAD, 1, "rejected")])
def test_run_whose_output_nobody_reads_ends_as_it_would(
    place: Place, closed: str, output: str, text: str, code: int, state: str
) -> None:
    place.deliver("d1", text)
    assert _without_reader(place, "run", "orders.yaml", "-p", "day=d1", "--output", output, closed=closed) == code
    assert [a["state"] for a in json.loads(place.call("history", "--output", "json").out)["attempts"]] == [state]


@pytest.mark.parametrize("arguments", [("--help",), ("run", "--help"), ("lint", "orders.yaml"), ("schema",), ("quarantine",)])
def test_help_and_reports_that_nobody_reads_are_no_error(place: Place, arguments: tuple[str, ...]) -> None:
    assert _without_reader(place, *arguments, closed="stdout") == 0


def test_failure_that_nobody_reads_keeps_its_exit_code(place: Place) -> None:
    assert _without_reader(place, "run", "none.yaml", closed="stderr") == 3
    assert _without_reader(place, "rnu", closed="stderr") == 64


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize("arguments", [("lint", "orders.yaml"), ("lint", "orders.yaml", "--output", "json")])
def test_output_that_cannot_be_written_exits_3_and_says_so(place: Place, arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        said = subprocess.run([*PROGRAM, *arguments], cwd=place.root, check=False, stdout=full, stderr=subprocess.PIPE, text=True)
    assert said.returncode == 3
    assert "Traceback" not in said.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_progress_that_cannot_be_written_stops_no_run(place: Place) -> None:
    place.deliver("d1", GOOD)
    with Path("/dev/full").open("w") as full:
        said = subprocess.run(
            [*PROGRAM, "run", "orders.yaml", "-p", "day=d1"], cwd=place.root, check=False,
            stdout=subprocess.PIPE, stderr=full, text=True,
        )  # fmt: skip
    assert (said.returncode, said.stdout.splitlines()[0]) == (0, "PUBLISHED  orders 1.0.0, day=d1")


def test_run_with_closed_streams_publishes(place: Place) -> None:
    place.deliver("d1", GOOD)
    closing = "import os; os.close(1); os.close(2); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    said = subprocess.run(
        [sys.executable, "-c", f"import sys; {closing}", *PROGRAM[1:], "run", "orders.yaml", "-p", "day=d1"],
        cwd=place.root, check=False,
    )  # fmt: skip
    assert said.returncode == 0


@pytest.mark.parametrize("arguments", [("run", "größe.yaml"), ("history",), ("lint", "größe.yaml")])
def test_letters_that_the_terminal_does_not_know_are_escaped(place: Place, arguments: tuple[str, ...]) -> None:
    text = (place.root / "orders.yaml").read_text().replace("contract: orders", "contract: orders\ndescription: größe")
    text = text.replace("landing/{day}.csv", "größe.csv").replace("name: note", "name: größe").replace("append", "overwrite")
    (place.root / "größe.yaml").write_text(text, encoding="utf-8")
    (place.root / "größe.csv").write_text("id,amount,größe\n1,-1.00,x\n", encoding="utf-8")
    place.call("run", "größe.yaml")
    said = subprocess.run(
        [*PROGRAM, *arguments], cwd=place.root, check=False, capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"},
    )  # fmt: skip
    assert said.returncode == (1 if arguments[0] == "run" else 0)
    assert said.stdout.isascii()
    assert b"Traceback" not in said.stderr


@pytest.mark.parametrize("columns", [40, 80])
def test_table_that_is_wider_than_the_terminal_is_told_row_by_row_and_whole(
    place: Place, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    place.deliver("d1", BAD)
    place.call("run", "orders.yaml", "-p", "day=d1")
    monkeypatch.setattr(console, "_WIDTH_OF_FILES", columns)
    lines = place.call("status").out.splitlines()
    assert [line.split("  ")[0] for line in lines] == [
        "contract", "last accepted data (UTC)", "last attempt (UTC)", "blocked since", "reasons",
    ]  # fmt: skip
    assert lines[-1].endswith("amount|type, amount|min")


def test_table_that_fits_is_one(place: Place) -> None:
    place.deliver("d1", GOOD)
    place.call("run", "orders.yaml", "-p", "day=d1")
    assert place.call("status").out.splitlines()[0].split() == (
        ["contract", "last", "accepted", "data", "(UTC)", "last", "attempt", "(UTC)", "blocked", "since", "reasons"]
    )
