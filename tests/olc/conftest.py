"""Which corpus is played, on which engines, and the table of outcomes at the end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from invaract_orchestration.gate import Gate
from invaract_orchestration.settings import Settings
from invaract_orchestration.wiring import open_gate
from tests.olc.play import OlcCase, read_cases
from tests.spark import sessions

OWN = Path(__file__).parent / "own"
SHARED = Path(__file__).parents[2].parent / "shared" / "conformance" / "olc"


def corpora() -> list[Path]:
    """The folders of cases: that of INVARACT_OLC_CASES, else the public corpus where it is at hand, and our own."""
    chosen = os.environ.get("INVARACT_OLC_CASES")
    if chosen:
        return [Path(chosen)]
    return [SHARED, OWN] if SHARED.is_dir() else [OWN]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        cases: list[OlcCase] = [case for folder in corpora() for case in read_cases(folder)]
        metafunc.parametrize("case", cases, ids=[case.id for case in cases])
    if "engine" in metafunc.fixturenames:
        spark = pytest.param("spark", marks=[pytest.mark.slow, pytest.mark.spark])
        metafunc.parametrize("engine", ["duckdb", spark])


@pytest.fixture
def gate(engine: str, tmp_path: Path) -> Iterator[Gate]:
    """A gate with an audit of its own: cases share names and versions."""
    if engine == "spark":
        if not sessions.HAS_JAVA:
            pytest.skip("the Spark engine needs Java, and none was found")
        sessions.classic()
    settings = Settings(lake_root=tmp_path / "lake", audit_url=f"sqlite:///{tmp_path / 'audit.db'}", engine=engine)
    with open_gate(settings) as opened:
        yield opened
