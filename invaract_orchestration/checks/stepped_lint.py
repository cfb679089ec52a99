"""What is wrong with a contract's steps that the contract alone tells: they are compiled over the columns that it declares."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from invaract_orchestration.candidate.step_source import source_contract
from invaract_orchestration.checks.phased import judge_result, phased_checks
from invaract_orchestration.contract.lint_finding import LintFinding
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.contract.phases import early_checks
from invaract_orchestration.contract.step_columns import step_columns
from invaract_orchestration.errors import GateError
from invaract_orchestration.intake.batch import Batch


def lint_steps(contract: Contract, session: Any, now: datetime) -> Iterator[LintFinding]:
    """Findings about steps that no batch could be run with; `session` is an engine's, and holds no row."""
    if not contract.transformations or contract.source is None:
        return  # what a caller names as the source says what arrives
    try:
        source = source_contract(contract, dict.fromkeys(step_columns(contract).sources))
    except GateError as error:
        if error.code == "transformation.source_fields":  # others depend on what arrives
            yield _finding(contract, error.sentence, error.hint)
        return
    if not _is_known(contract, source):
        return
    try:
        plan = session.compile_steps(contract, source, Batch(source=contract.source), now)
        made = judge_result(contract, plan)
        if not any(result.is_blocking for result in made):
            phased_checks(contract, plan)
    except GateError as error:
        if error.code != "contract.phase" or not any(early_checks(contract, step_columns(contract).created)):
            yield _finding(contract, error.sentence, error.hint)
        return
    for result in made:
        if result.is_blocking:
            yield _finding(contract, f"{result.check}: expected {result.expected}, found {result.found}")


def _is_known(contract: Contract, source: Contract) -> bool:
    """Whether the columns that arrive, and their types, stand in the contract."""
    declared = {f.name.lower() for f in (*contract.fields, *(contract.source.fields if contract.source else ()))}
    if contract.links or any(f.name.lower() not in declared for f in source.fields):
        return False
    policy = contract.schema_policy
    is_declared = contract.source is not None and bool(contract.source.fields)
    return is_declared or (policy.extra_fields == "reject" and policy.type_changes == "reject")


def _finding(contract: Contract, message: str, hint: str | None = None) -> LintFinding:
    finding = LintFinding(code="STP-001", level="error", path=("transformations",), message=message, hint=hint)
    return finding.located(contract)
