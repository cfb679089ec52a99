"""Which case folders are played, and the table of their verdicts at the end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases.python_job import engines_of
from tests.cases.sketch import Case, read_cases
from tests.spark import sessions

OWN = Path(__file__).parent / "own"
SHARED = Path(__file__).parents[2].parent / "shared" / "cases"


def case_folders(config: pytest.Config) -> list[Path]:
    chosen = config.getoption("--cases", default=None) or os.environ.get("INVARACT_CASES")
    if chosen:
        return [Path(chosen)]
    return [SHARED, OWN] if SHARED.is_dir() else [OWN]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" not in metafunc.fixturenames:
        return
    cases: list[Case] = [case for folder in case_folders(metafunc.config) for case in read_cases(folder)]
    chosen = metafunc.config.getoption("--engine", default=None)
    marks = {"duckdb": [], "spark": [pytest.mark.slow, pytest.mark.spark], "spark-connect": [pytest.mark.slow, pytest.mark.spark]}
    played = [(case, engine) for case in cases for engine in engines_of(case) if not chosen or engine.startswith(chosen)]
    params = [pytest.param(case, engine, id=f"{case.id}-{engine}", marks=marks[engine]) for case, engine in played]
    metafunc.parametrize(("case", "engine"), params)


@pytest.fixture
def _session(request: pytest.FixtureRequest) -> Iterator[None]:
    """On Spark, the session of the whole run is the user's own."""
    engine = request.node.callspec.params.get("engine", "")
    if engine.startswith("spark") and not sessions.HAS_JAVA:
        pytest.skip("the Spark engine needs Java, and none was found")
    if engine == "spark":
        sessions.classic()
    yield
    if engine == "spark-connect":
        sessions.connected().catalog.setCurrentDatabase("default")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    rows: dict[str, tuple[str, str, str]] = {}
    for kind in ("passed", "failed", "skipped", "error"):
        for report in terminalreporter.stats.get(kind, []):
            said = dict(getattr(report, "user_properties", ()))
            if "case" in said:
                state = "as expected" if kind == "passed" else said.get("skipped", "waits") if kind == "skipped" else "WRONG"
                rows[said["case"]] = (said.get("verdict", "-"), said["expected"], state)
    if not rows:
        return
    terminalreporter.section("cases")
    for name, (verdict, expected, state) in sorted(rows.items()):
        terminalreporter.write_line(f"{name:<18} {verdict:<11} expected {expected:<11} {state}")
    states = [state for _, _, state in rows.values()]
    right, wrong, waiting = states.count("as expected"), states.count("WRONG"), sum(s.startswith("waits") for s in states)
    other = len(rows) - right - wrong - waiting
    terminalreporter.write_line(
        f"{len(rows)} cases: {right} as expected, {wrong} wrong, {waiting} waiting, {other} played by other tests"
    )
