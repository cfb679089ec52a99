"""What a contract says that its author hardly means: contradictions, rules that add nothing or are never reached.

A contract with findings still loads. An `error` is something that no batch, or no value, could keep or use; a `warning`
is something that could be left out or said more clearly.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from invaract_orchestration.contract.lint_fields import lint_fields
from invaract_orchestration.contract.lint_finding import LintFinding
from invaract_orchestration.contract.lint_rules import lint_rules
from invaract_orchestration.contract.lint_setup import lint_setup
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.contract.phases import early_checks
from invaract_orchestration.contract.step_columns import step_columns

LINTS: tuple[Callable[[Contract], Iterator[LintFinding]], ...] = (lint_fields, lint_rules, lint_setup)


def lint(contract: Contract, created: Collection[str] = ()) -> tuple[LintFinding, ...]:
    """All findings, in the order of the file. `created` are further columns that only a post transformation makes."""
    created = (*created, *step_columns(contract).created)
    findings = [finding for check in LINTS for finding in check(contract)]
    findings.extend(
        LintFinding(
            code="PHS-001", level="error", path=path,
            message=f"check {name!r} is written for phase pre, and only a post transformation makes a column it reads",
            hint="leave the phase out, or write post",
        )
        for path, name in early_checks(contract, created)
    )  # fmt: skip
    return tuple(sorted((f.located(contract) for f in findings), key=lambda f: (f.line or 0, f.column or 0, f.code)))
