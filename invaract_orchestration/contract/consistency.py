"""What must fit together across a contract: names, values, types and expressions."""

from __future__ import annotations

from collections.abc import Callable

from invaract_orchestration.contract.environments import check_environments
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.contract.report import Report

CHECKS: tuple[Callable[[Contract, Report], None], ...] = (check_environments,)


def check_consistency(contract: Contract, report: Report) -> None:
    """Report everything in a contract that does not fit together; parts with problems of their own are left out."""
    for check in CHECKS:
        check(contract, report)
