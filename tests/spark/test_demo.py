"""The demonstration's deliveries by `invaract run --engine spark`: the verdicts that the embedded engine gives them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from invaract_orchestration.cli import app, console
from invaract_orchestration.demo.faults import FAULTS
from invaract_orchestration.demo.flights import write_delivery, write_months

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def landing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("deliveries") / "landing"
    for month, file in write_months(folder).items():
        if month in FAULTS:
            with file.open(encoding="utf-8", newline="") as text:
                lines = text.readlines()
            write_delivery(folder, month, FAULTS[month].apply(lines))
    return folder


@pytest.fixture
def run(spark: Any, landing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.setenv("INVARACT_LAKE_ROOT", str(tmp_path / "lake"))
    monkeypatch.setenv("INVARACT_SPARK_MASTER", "local[2]")

    def call(contract: str, month: str) -> tuple[int, dict[str, Any]]:
        console._console.cache_clear()
        capfd.readouterr()
        source = str(landing / "{month}" / "*.csv")
        code = app.call([
            "run", str(ROOT / "contracts" / contract), "--param", f"month={month}", "--source", source, "--engine", "spark",
            "--output", "json", "--quiet",
        ])  # fmt: skip
        return code, json.loads(capfd.readouterr().out)

    return call


def table(tmp_path: Path, name: str) -> DeltaTable:
    return DeltaTable(str(tmp_path / "lake" / "nyc" / "reporting" / name))


def test_faulty_months_are_rejected_for_their_fault_and_leave_the_table(run: Any, tmp_path: Path) -> None:
    code, published = run("flights.yaml", "2013-01")
    assert (code, published["state"]) == (0, "published")
    reasons = {}
    for month in FAULTS:
        code, rejected = run("flights.yaml", month)
        assert (code, rejected["state"]) == (1, "rejected")
        reasons[month] = rejected["verdict"]["reasons"][0]
    assert reasons == {
        "2013-03": "header|unexpected_column", "2013-05": "header|order", "2013-08": "time_hour+carrier+flight|unique",
        "2013-11": "dep_delay|type",
    }  # fmt: skip
    assert (table(tmp_path, "flights").version(), table(tmp_path, "flights").count()) == (1, 27_004)


def test_month_is_published_once_however_often_it_is_submitted(run: Any, tmp_path: Path) -> None:
    assert [run("flights.yaml", "2013-02")[0] for _ in range(2)] == [0, 0]
    assert table(tmp_path, "flights").count() == 24_951


def test_cancelled_flights_are_set_aside(run: Any, tmp_path: Path) -> None:
    assert [run("departures.yaml", month)[0] for month in ("2013-01", "2013-02")] == [2, 2]
    assert table(tmp_path, "departures").count() == 26_483 + 23_690
    assert table(tmp_path, "departures__quarantine").count() == 521 + 1_261
