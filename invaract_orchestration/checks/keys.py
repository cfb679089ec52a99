"""Keys judged: every key once in the batch, and where asked for once in the table."""

from __future__ import annotations

from invaract_orchestration.candidate.candidate import Candidate
from invaract_orchestration.candidate.target import TargetState
from invaract_orchestration.checks.measurements import KeyCount, Measurer
from invaract_orchestration.checks.result import CheckResult, Evidence
from invaract_orchestration.checks.rows import rows_text
from invaract_orchestration.contract.model import Contract, Key


def judge_keys(
    contract: Contract, candidate: Candidate, target: TargetState | None, measurer: Measurer
) -> tuple[CheckResult, ...]:
    """One result per key. A key with a null part is a failure unless its `nulls` says otherwise."""
    return tuple(_judged(key, measurer.count_key(contract, candidate, key, target)) for key in contract.all_keys())


def _judged(key: Key, count: KeyCount) -> CheckResult:
    nulls = count.null_rows if key.nulls == "fail" else 0
    failed = nulls + count.duplicate_rows + count.in_target
    parts = []
    if nulls:
        parts.append(f"{rows_text(nulls)} with a null in the key")
    if count.duplicate_rows:
        keys = "1 key" if count.duplicate_keys == 1 else f"{count.duplicate_keys} keys"
        parts.append(f"{rows_text(count.duplicate_rows)} share {keys}")
    if count.in_target:
        parts.append(f"{rows_text(count.in_target)} whose key the target has already")
    evidence: Evidence = "target" if key.across == "target" else "key pass"
    place = "the batch and the target" if key.across == "target" else "the batch"
    return CheckResult(
        check=key.check_id, stage="keys", outcome="broken" if failed else "kept", severity=key.severity,
        expected=f"every ({', '.join(key.columns)}) once in {place}"
        + ("" if key.nulls == "fail" else f", nulls {key.nulls}"),
        found="; ".join(parts) or f"{count.rows} rows, every key once", evidence=evidence,
        rows=count.rows, failed=min(failed, count.rows), nulls=count.null_rows,
        hint=_hint(nulls, count) if failed else None, place=", ".join(key.columns),
    )  # fmt: skip


def _hint(nulls: int, count: KeyCount) -> str:
    if count.duplicate_rows:
        return "the producer sent a key twice; if several rows per key are right, the key needs another column"
    if count.in_target:
        return "an earlier batch holds these keys; use mode merge if later rows should replace them"
    return "declare `nulls: distinct` on the key if rows without a key are right" if nulls else ""


