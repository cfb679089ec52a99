"""The demonstration, with the contracts that ship with it, on the real flights."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from deltalake import DeltaTable

from invaract_orchestration.cli import app, console


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "flights"
    console._console.cache_clear()
    assert app.call(["demo", "--folder", str(folder)]) == 0
    return folder


def test_demo_publishes_every_flight_of_the_year_once(demo: Path) -> None:
    table = DeltaTable(str(demo / "lake/nyc/reporting/flights"))
    assert table.count() == 336_776
    assert table.version() == 12


def test_demo_sets_cancelled_flights_aside(demo: Path) -> None:
    assert DeltaTable(str(demo / "lake/nyc/reporting/departures")).count() == 26_483 + 23_690
    assert DeltaTable(str(demo / "lake/nyc/reporting/departures__quarantine")).count() == 521 + 1_261


def test_demo_rejects_the_four_faulty_months_for_their_fault(
    demo: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("INVARACT_LAKE_ROOT", str(demo / "lake"))
    console._console.cache_clear()
    capfd.readouterr()
    assert app.call(["history", "--state", "rejected", "--output", "json"]) == 0
    attempts = json.loads(capfd.readouterr().out)["attempts"]
    assert [(a["submission"]["parameters"]["month"], a["verdict"]["reasons"][0]) for a in attempts] == [
        ("2013-11", "dep_delay|type"),
        ("2013-08", "time_hour+carrier+flight|unique"),
        ("2013-05", "header|order"),
        ("2013-03", "header|unexpected_column"),
    ]


def test_demo_leaves_a_folder_alone_that_is_not_its_own(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "precious").write_text("x")
    console._console.cache_clear()
    assert app.call(["demo", "--folder", str(tmp_path)]) == 64
    assert (tmp_path / "precious").read_text() == "x"
