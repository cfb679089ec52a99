"""The Open Lakehouse Contract's conformance corpus, played through the real gate."""

from __future__ import annotations

from pathlib import Path

from invaract_orchestration.gate import Gate
from tests.olc.play import OlcCase, play, problems


def test_case_gives_what_its_corpus_says(case: OlcCase, gate: Gate, tmp_path: Path) -> None:
    assert problems(case, play(case, gate, tmp_path)) == []
