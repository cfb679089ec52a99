"""Which plan cases are judged: our own, another file, or folders with a setup, a transformation and a contract."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.plan.cases import Case, CaseFile, load_cases
from tests.plan.outcome_table import write_table

FILES = ("plan_cases.yaml", "more_cases.yaml", "odd_cases.yaml", "usual_cases.yaml", "rare_cases.yaml")
OWN_CASES = tuple(Path(__file__).parent / name for name in FILES)


def case_file(config: pytest.Config) -> CaseFile:
    chosen = config.getoption("--plan-cases", default=None) or os.environ.get("INVARACT_PLAN_CASES")
    return load_cases(*((Path(chosen),) if chosen else OWN_CASES))


def case_folders(config: pytest.Config) -> list[Path]:
    chosen = config.getoption("--case-folders", default=None) or os.environ.get("INVARACT_CASE_FOLDERS")
    return sorted(Path(chosen).glob("P*/")) if chosen else []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for kind in ("rule_case", "lineage_case", "sensitivity_case", "render_case", "literal_case"):
        if kind in metafunc.fixturenames:
            cases: list[Case] = case_file(metafunc.config).of(kind.removesuffix("_case"))
            front_end = getattr(metafunc.module, "FRONT_END", "sql")
            fitting = [case for case in cases if front_end in case.front_ends]
            metafunc.parametrize(kind, fitting, ids=[case.id for case in fitting])
    if "case_folder" in metafunc.fixturenames:
        folders = case_folders(metafunc.config)
        missing = pytest.param(None, marks=pytest.mark.skip("no --case-folders and no INVARACT_CASE_FOLDERS"))
        metafunc.parametrize("case_folder", folders or [missing], ids=[f.name for f in folders] or ["none"])


@pytest.fixture(scope="session")
def plan_cases(pytestconfig: pytest.Config) -> CaseFile:
    return case_file(pytestconfig)


OUTCOMES: dict[tuple[str, str], str] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" and "test_rule_case_of_the_file" in report.nodeid:
        module, _, rest = report.nodeid.partition("::")
        front_end = {"connect": "spark_connect", "spark": "spark"}.get(Path(module).stem.rpartition("_")[2], "sql")
        OUTCOMES[front_end, rest.partition("[")[2].rstrip("]")] = "passed" if report.passed else "failed"


def pytest_sessionfinish(session: pytest.Session) -> None:
    if os.environ.get("INVARACT_WRITE_PLAN_TABLE"):
        cases = case_file(session.config).of("rule")
        write_table(Path(session.config.rootpath) / "docs" / "plan-rules.md", cases, OUTCOMES)
