"""No case waits in silence: one that this suite cannot play is played by tests that exist."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases.conftest import SHARED
from tests.cases.elsewhere import PLAYED_ELSEWHERE
from tests.cases.sketch import read_cases

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="needs the case folders")


def test_every_case_of_an_orchestrator_or_a_page_names_the_tests_that_play_it() -> None:
    cases = read_cases(SHARED)
    around = {c.id for c in cases if c.kind == "orchestration" or not c.contracts or any("page" in step for step in c.steps)}

    assert around == set(PLAYED_ELSEWHERE)


@pytest.mark.slow
def test_every_named_test_is_collected() -> None:
    named = {test for tests in PLAYED_ELSEWHERE.values() for test in tests}
    files = sorted({test.partition("::")[0] for test in named})
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *files]
    plain = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}  # which changes what is printed
    done = subprocess.run(command, cwd=ROOT, env=plain, capture_output=True, text=True, check=False)

    assert named - set(done.stdout.splitlines()) == set(), done.stderr[-2000:]
