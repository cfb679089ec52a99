"""Where rows may go: the declared partition, the replaced predicate, and the target's own constraints."""

from __future__ import annotations

from datetime import datetime

from invaract_orchestration.candidate.candidate import Candidate
from invaract_orchestration.candidate.target import TargetState
from invaract_orchestration.checks.measurements import Measurer
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.checks.rows import rows_text
from invaract_orchestration.contract.model import Contract


def judge_placement(
    contract: Contract, candidate: Candidate, measurer: Measurer, now: datetime
) -> tuple[CheckResult, ...]:
    """Rows outside of a declared partition, without a partition value in a replace, or outside of a replaced predicate."""
    publish = contract.publish
    if publish is None:
        return ()
    asked: list[tuple[str, str, str]] = []
    for column, value in publish.partition.items():
        asked.append((f"{column}|partition", f"every row lies in {column}={value}", _equals(contract, column, value)))
    if publish.mode == "replace_partitions":
        for column in publish.partition_columns:
            asked.append((f"{column}|partition_null", f"no null in partition column {column}", f"`{column}` IS NOT NULL"))
    if publish.mode == "replace_where" and publish.where:
        asked.append(("publish|replace_where", f"every row lies in {publish.where}", publish.where))
    counts = measurer.count_violations(candidate, [condition for _, _, condition in asked], now)
    return tuple(
        CheckResult(
            check=check, stage="target", outcome="broken" if failed else "kept", expected=expected, evidence="scan",
            found=f"{rows_text(failed)} outside" if failed else f"all of {rows_text(candidate.rows)} inside",
            rows=candidate.rows, failed=failed,
            hint="the batch holds rows of another slice; submit each slice on its own" if failed else None,
        )
        for (check, expected, _), failed in zip(asked, counts, strict=True)
    )  # fmt: skip


def judge_constraints(
    candidate: Candidate, target: TargetState, measurer: Measurer, now: datetime
) -> tuple[CheckResult, ...]:
    """The target's own NOT NULL and CHECK constraints, as rules of origin `target`."""
    names = {name.lower() for name, _ in candidate.columns}
    asked = [
        (f"{c.name}|target_not_null", f"NOT NULL of the target on {c.name}", f"`{c.name.replace('`', '``')}` IS NOT NULL")
        for c in target.columns
        if not c.nullable and c.name.lower() in names
    ]
    own = target.constraints_over(names)
    asked += [(f"{name}|target_check", f"CHECK of the target: {sql}", sql) for name, sql in own.items()]
    counts = measurer.count_violations(candidate, [condition for _, _, condition in asked], now)
    return tuple(
        CheckResult(
            check=check, stage="target", origin="target", outcome="broken" if failed else "kept", expected=expected,
            found=f"{rows_text(failed)} refused by the target" if failed else f"all of {rows_text(candidate.rows)} fit",
            evidence="scan", rows=candidate.rows, failed=failed,
            hint="the data keeps the contract; the table asks for more: state it in the contract or change the table"
            if failed
            else None,
        )
        for (check, expected, _), failed in zip(asked, counts, strict=True)
    )  # fmt: skip


def _equals(contract: Contract, column: str, value: str) -> str:
    spec = contract.field(column)
    quoted = "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    name = "`" + column.replace("`", "``") + "`"
    return f"{name} = CAST({quoted} AS {spec.type})" if spec is not None else f"{name} = {quoted}"
