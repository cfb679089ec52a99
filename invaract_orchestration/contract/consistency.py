"""What must fit together across a contract: names, values, types, expressions, places."""

from __future__ import annotations

from collections.abc import Callable

from invaract_orchestration.contract.environments import check_environments
from invaract_orchestration.contract.field_checks import check_fields
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.contract.place_checks import check_notifications, check_places, check_source, check_times
from invaract_orchestration.contract.quoted_names import check_quotes
from invaract_orchestration.contract.reference_checks import check_keys, check_references, check_rule_names
from invaract_orchestration.contract.report import Report
from invaract_orchestration.contract.sql_checks import check_bounds, check_sql
from invaract_orchestration.contract.step_checks import check_steps
from invaract_orchestration.errors import Problem

CHECKS: tuple[Callable[[Contract, Report], None], ...] = (
    check_fields,
    check_keys,
    check_references,
    check_rule_names,
    check_steps,
    check_sql,
    check_quotes,
    check_bounds,
    check_source,
    check_places,
    check_times,
    check_notifications,
    check_environments,
)


def find_problems(contract: Contract) -> tuple[Problem, ...]:
    """What does not fit together in a contract that was made in Python; a loaded one has no such problem."""
    report = Report(contract.file)
    check_consistency(contract, report)
    return report.sorted_problems()


def check_consistency(contract: Contract, report: Report) -> None:
    """Report everything in a contract that does not fit together; parts with problems of their own are left out."""
    for check in CHECKS:
        check(contract, report)
