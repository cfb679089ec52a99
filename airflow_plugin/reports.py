"""What of a gate's result leaves the task: names, counts and pointers, small, and never a row."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from invaract_orchestration.audit.records import Counts
    from invaract_orchestration.audit.result import GateResult
    from invaract_orchestration.checks.result import CheckResult

XCOM_KEY = "contract_gate"
"""The XCom with the report, pushed before a task fails so that it is there for a failed one too."""

_MOST = 20


def summarize(result: GateResult) -> dict[str, Any]:
    """The report for XCom: who, how it ended, table version, counts, and the checks that blocked (the first 20)."""
    publication = result.publication
    return {
        "contract": result.contract,
        "contract_version": result.version,
        "target": result.target,
        "submission_id": result.submission_id,
        "attempt_id": result.attempt_id,
        "state": result.state,
        "code": result.code,
        "table_version": publication.table_version if publication else None,
        "counts": known_counts(result.counts),
        "blocking": [c.check for c in result.blocking[:_MOST]],
        "blocking_total": len(result.blocking),
    }


def asset_extra(result: GateResult, counts: Counts) -> dict[str, Any]:
    """What an asset event says of a publication; `counts` are those of the attempt that published."""
    publication = result.publication
    assert publication is not None  # an event is about a publication
    return {
        "contract": result.contract,
        "contract_version": result.version,
        "submission_id": publication.submission_id,
        "attempt_id": publication.attempt_id,
        "table_version": publication.table_version,
        "counts": known_counts(counts),
    }


def known_counts(counts: Counts) -> dict[str, int]:
    """The counts that are known, by name."""
    return {name: value for name, value in asdict(counts).items() if value is not None}


def sentence_of(result: GateResult) -> str:
    """The task's failure for people: what happened, each blocking check with what it found, and a hint."""
    lines = [f"contract {result.contract}: {result.state}: {result.message}"]
    lines += [_line(check) for check in result.blocking[:_MOST]]
    if len(result.blocking) > _MOST:
        lines.append(f"  and {len(result.blocking) - _MOST} more: see attempt {result.attempt_id}")
    by_origin = sorted(result.blocking, key=lambda check: check.origin != "contract")  # the gate's own only follow from these
    hint = result.hint or next((c.hint for c in by_origin if c.hint), None)
    return "\n".join(lines if hint is None else [*lines, f"Hint: {hint}"])


def _line(check: CheckResult) -> str:
    return f"  {check.check} {check.outcome}: expected {check.expected}, found {check.found}"
