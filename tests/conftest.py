"""Options of the whole suite, and one folder for what its processes leave behind."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--pictures", action="store_true", help="write the pictures of docs/pictures")
    group = parser.getgroup("cases")
    group.addoption("--cases", metavar="DIR", help="a folder of case folders, played by tests/cases")
    group.addoption("--engine", choices=["duckdb", "spark"], help="play cases on this engine alone; both without it")
    group.addoption("--plan-cases", metavar="FILE", help="another file of the form of tests/plan/plan_cases.yaml")
    group.addoption("--case-folders", metavar="DIR", help="a folder of case folders; plan cases are named P*")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """One process takes a file whole, as its tests share what they started; Airflow's all go to one, which serves it once."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            folder = "tests/airflow/"
            return folder if nodeid.startswith(folder) else nodeid.partition("::")[0]

    return ByFile(config, log)


def pytest_configure(config: pytest.Config) -> None:
    _one_temporary_folder(config)
    _quiet_properties()


def _one_temporary_folder(config: pytest.Config) -> None:
    """Temporary files of the tests, and of every process that they start and kill, go when the tests end."""
    if hasattr(config, "workerinput"):
        return  # one of several processes: the first one's folder is given to each by the environment
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())  # pytest keeps its own folders for the next look
    folder = tempfile.mkdtemp(prefix="ivt-")  # short, as a socket's path has 107 characters at most
    Path(folder).chmod(0o711)  # PostgreSQL's server is another user, and has its own folder in this one
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def _quiet_properties() -> None:
    """Property tests say what is right, not how quickly: a busy machine must not make them fail, nor chance."""
    from hypothesis import HealthCheck, settings

    settings.register_profile("suite", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("suite")
