"""`invaract lint`: contracts read and judged without data."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from invaract_orchestration.cli.console import counted, to_stdout, write_out
from invaract_orchestration.errors import ContractError, Problem

if TYPE_CHECKING:
    from invaract_orchestration.contract.lint_finding import LintFinding
    from invaract_orchestration.contract.model import Contract


def lint(
    contracts: Annotated[tuple[str, ...], Parameter(required=True, help="the contracts' files")], /, *,
    output: Annotated[Literal["text", "json"], Parameter(help="for people or for programs")] = "text",
) -> int:  # fmt: skip
    """Say what is wrong with contracts, without any data."""
    from invaract_orchestration.audit.report import json_text, plain
    from invaract_orchestration.contract.lint import lint as find
    from invaract_orchestration.contract.load import load_contract

    problems: list[Problem] = []
    findings: list[LintFinding] = []
    loaded = 0
    for file in contracts:
        try:
            contract = load_contract(file)
            findings += (*find(contract), *_of_steps(contract))
            loaded += 1
        except ContractError as error:
            problems += error.problems
    errors = sum(f.level == "error" for f in findings)
    code = 3 if problems else 1 if errors else 0
    if output == "json":
        document = {"format": 1, "exit_code": code, "problems": plain(problems), "findings": plain(findings)}
        write_out(json_text(document))
        return code
    for each in (*problems, *findings):
        to_stdout(str(each))
    warnings = len(findings) - errors
    to_stdout(
        f"{loaded} of {counted(len(contracts), 'contract')} can be used; "
        f"{counted(len(problems) + errors, 'error')}, {counted(warnings, 'warning')}"
    )
    return code


def _of_steps(contract: Contract) -> tuple[LintFinding, ...]:
    """Findings about steps, which the embedded engine compiles without a row."""
    from invaract_orchestration.checks.stepped_lint import lint_steps
    from invaract_orchestration.wiring import choose_engine, utc_now

    if not contract.transformations:
        return ()
    works, _ = choose_engine(engine="duckdb")
    with tempfile.TemporaryDirectory() as scratch, works.open(Path(scratch) / "lint", str) as session:
        return tuple(lint_steps(contract, session, utc_now()))
