"""Every case folder, played on the real gate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cases.choices import CHOICES
from tests.cases.elsewhere import PLAYED_ELSEWHERE
from tests.cases.expect import problems_of
from tests.cases.play import play, verdict_of
from tests.cases.sketch import Case, NotUnderstood
from tests.spark.conftest import QUIET

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.filterwarnings(quiet) for quiet in QUIET]


@pytest.mark.usefixtures("_session")
def test_case_has_its_verdict(
    case: Case, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    record_property("case", case.id if engine == "duckdb" else f"{case.id} {engine}")
    record_property("expected", case.expected["verdict"])
    waits = _waits(case)
    if waits is not None:
        _skip(case, waits, record_property)
    own_folder = tmp_path / "cwd"
    own_folder.mkdir()
    monkeypatch.chdir(own_folder)
    assert case.contracts, "a case without a contract is none"
    problems: list[str] = []
    try:
        for number, contract in enumerate(case.contracts):
            choice = CHOICES[case.id][0] if case.id in CHOICES and number == 0 else None
            played = play(case, contract, tmp_path / f"lake{number}", engine)
            if number == 0:
                record_property("verdict", verdict_of(played.decisive))
            problems += problems_of(case, played, number, choice)
            waits = played.waits
    except NotUnderstood as reason:
        _skip(case, str(reason), record_property)
    problems += [f"a file was left in the working directory: {p.name}" for p in own_folder.iterdir()]
    assert not problems, "\n".join([case.title, *problems])
    if waits is not None:
        _skip(case, waits, record_property)


def _skip(case: Case, reason: str, record_property: Callable[[str, object], None]) -> None:
    elsewhere = PLAYED_ELSEWHERE.get(case.id)
    told = f"played by {elsewhere[0]}" if elsewhere else f"waits: {reason}"
    record_property("skipped", told)
    pytest.skip(told)


def _waits(case: Case) -> str | None:
    """What a case needs that this suite does not have, by its kind and files."""
    if case.kind == "orchestration":
        words = " ".join((case.title, *case.steps)).lower()
        needs = [name for name in ("Dagster", "Airflow") if name.lower() in words]
        return f"{' and '.join(needs) or 'an orchestrator'}, for the task around the gate"
    if not case.contracts:
        words = " ".join((case.title, *case.steps)).lower()
        if "rendered fields" in words or "plugin page" in words:
            return "Airflow, for connections and rendered fields"
        return "a contract: the case has none"
    return None


@pytest.mark.parametrize("case_id", sorted(CHOICES))
def test_choice_names_a_page_that_says_it(case_id: str) -> None:
    _, page = CHOICES[case_id]
    assert (ROOT / page).is_file()
