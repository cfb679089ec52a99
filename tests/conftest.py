"""Options of the whole suite: cases that lie elsewhere."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("cases")
    group.addoption("--cases", metavar="DIR", help="a folder of case folders, played by tests/cases")
    group.addoption("--plan-cases", metavar="FILE", help="another file of the form of tests/plan/plan_cases.yaml")
    group.addoption("--case-folders", metavar="DIR", help="a folder of case folders; plan cases are named P*")
