"""`--transform` with the name of a function: of a module in the working directory, or of one that is installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import BAD, GOOD, Place

JOB = '''
def positive(connection, rows):
    return rows.filter("amount > 2.75").project("id, amount, upper(note) AS note")


def wrong(connection, rows):
    raise ValueError("canary-7f3a")
'''


@pytest.fixture
def job(place: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    (place.root / "invaract_test_job.py").write_text(JOB, encoding="utf-8")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "invaract_test_job", raising=False)
    place.deliver("1", GOOD)
    yield place
    sys.modules.pop("invaract_test_job", None)


@pytest.mark.parametrize("name", ["invaract_test_job:positive", "invaract_test_job.positive"])
def test_run_publishes_what_a_named_function_makes(job: Place, name: str) -> None:
    said = job.call("run", "orders.yaml", "-p", "day=1", "--transform", name)
    assert (said.code, "version 1, 1 row," in said.err) == (0, True)


def test_check_judges_a_function_and_publishes_nothing(job: Place) -> None:
    job.deliver("2", BAD)
    assert job.call("check", "orders.yaml", "-p", "day=1", "--transform", "invaract_test_job:positive").code == 0
    assert job.call("check", "orders.yaml", "-p", "day=2", "--transform", "invaract_test_job:positive").code == 1
    assert not (job.root / "lake" / "sales" / "orders").exists()


def test_explain_shows_the_plan_of_a_function_without_reading_a_row(job: Place) -> None:
    text = (job.root / "orders.yaml").read_text() + "rules: [{type: required_filter_columns, columns: [id]}]\n"
    (job.root / "orders.yaml").write_text(text)
    said = job.call("explain", "orders.yaml", "-p", "day=1", "--transform", "invaract_test_job:positive")
    assert said.code == 1
    assert "Filter" in said.out
    assert "required_filter_columns" in said.out


@pytest.mark.parametrize(
    ("module", "told"),
    [
        ("import sys; sys.exit(0)", "SystemExit while importing 'invaract_test_odd'"),
        ("import invaract_test_gone", "ModuleNotFoundError while importing 'invaract_test_odd'"),
        ("import invaract_test_odd.part", "ModuleNotFoundError while importing 'invaract_test_odd'"),
        (None, "there is no module 'invaract_test_odd'"),
    ],
)
@pytest.mark.parametrize("verb", ["run", "check", "explain"])
def test_module_that_cannot_be_loaded_is_told_and_publishes_nothing(job: Place, verb: str, module: str | None, told: str) -> None:
    if module is not None:
        (job.root / "invaract_test_odd.py").write_text(f"{module}\n", encoding="utf-8")
    said = job.call(verb, "orders.yaml", "-p", "day=1", "--transform", "invaract_test_odd:f")
    assert (said.code, told in said.err) == (64, True)
    assert not (job.root / "lake" / "sales" / "orders").exists()


def test_function_that_raises_exits_3_without_its_message(job: Place) -> None:
    said = job.call("run", "orders.yaml", "-p", "day=1", "--transform", "invaract_test_job:wrong")
    assert said.code == 3
    assert "raised ValueError at line 7 of its file" in said.out + said.err
    assert "canary" not in said.out + said.err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("invaract_test_job:missing", "module 'invaract_test_job' has no function 'missing'"),
        ("no_such_module:f", "there is no module 'no_such_module'"),
        ("missing.sql", "the file 'missing.sql' cannot be read as text"),
    ],
)
def test_transform_that_is_not_there_exits_64(job: Place, name: str, message: str) -> None:
    said = job.call("run", "orders.yaml", "-p", "day=1", "--transform", name)
    assert (said.code, message in said.err) == (64, True)
    assert not (job.root / "lake" / "sales").exists()


def test_file_of_sql_stays_one_whatever_its_name(job: Place) -> None:
    Path("invaract_test_job.positive").write_text("select 1", encoding="utf-8")
    said = job.call("explain", "orders.yaml", "--transform", "invaract_test_job.positive")
    assert "Project" in said.out
