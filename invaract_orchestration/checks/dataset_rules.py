"""Dataset rules judged: conditions on the whole candidate."""

from __future__ import annotations

from datetime import datetime

from invaract_orchestration.candidate.candidate import Candidate
from invaract_orchestration.candidate.target import TargetState
from invaract_orchestration.checks.measurements import DatasetFact, Measurer
from invaract_orchestration.checks.result import CheckResult, Evidence, Outcome
from invaract_orchestration.checks.rows import rows_text
from invaract_orchestration.contract.model import Contract, DatasetRule
from invaract_orchestration.errors import GateError


def judge_dataset_rules(
    contract: Contract, candidate: Candidate, target: TargetState | None, measurer: Measurer, now: datetime
) -> tuple[CheckResult, ...]:
    """One result per rule; what cannot be measured is unverifiable, with the reason."""
    return tuple(
        _measured(contract, candidate, target, measurer, rule, now) for rule in contract.quality.dataset_rules
    )


def _measured(
    contract: Contract, candidate: Candidate, target: TargetState | None, measurer: Measurer, rule: DatasetRule,
    now: datetime,
) -> CheckResult:  # fmt: skip
    try:
        fact = measurer.measure_dataset(contract, candidate, rule, target, now)
    except GateError as error:
        return _result(rule, "unverifiable", error.sentence, "none", error.hint)
    outcome, found = _judge(rule, fact)
    hint = "the whole batch is judged by this rule; no single row can be set aside for it"
    return _result(rule, outcome, found, _evidence(rule), hint if outcome != "kept" else None)


def _result(rule: DatasetRule, outcome: Outcome, found: str, evidence: Evidence, hint: str | None) -> CheckResult:
    return CheckResult(
        check=rule.name, stage="dataset", outcome=outcome, severity=rule.severity, expected=expected(rule),
        found=found, evidence=evidence, hint=hint,
    )  # fmt: skip


def _judge(rule: DatasetRule, fact: DatasetFact) -> tuple[Outcome, str]:
    if rule.row_count is not None:
        count = int(fact.value or 0)
        low, high = rule.row_count.min, rule.row_count.max
        is_kept = (low is None or count >= low) and (high is None or count <= high)
        return "kept" if is_kept else "broken", rows_text(count)
    if rule.null_share is not None:
        share = fact.value or 0.0
        return "kept" if share <= rule.null_share.max else "broken", f"a share of {share:.6g} is null"
    if rule.sql is not None:
        if fact.is_within is None:
            return "broken", "the query gave null, which is outside of every bound"
        return ("kept", "within the bounds") if fact.is_within else ("broken", "outside of the bounds")
    missing = int(fact.value or 0)
    what = "reference value is" if missing == 1 else "reference values are"
    if rule.covers is not None:
        return ("broken", f"{missing} {what} missing") if missing else ("kept", "every reference value is there")
    return ("broken", f"{rows_text(missing)} without a match") if missing else ("kept", "every row has its match")


def expected(rule: DatasetRule) -> str:
    """What a dataset rule asks for, as a text for people."""
    if rule.row_count is not None:
        low, high = rule.row_count.min, rule.row_count.max
        return f"{'0' if low is None else low} to {'any number of' if high is None else high} rows (inclusive)"
    if rule.null_share is not None:
        return f"at most a share of {rule.null_share.max:g} of {rule.null_share.column} is null (inclusive)"
    if rule.covers is not None:
        return f"every value of {rule.covers.reference} is in {rule.covers.column}"
    if rule.references is not None:
        key = ", ".join(rule.references.key)
        return f"every non-null ({', '.join(rule.references.columns)}) is in ({key}) of {rule.references.table}"
    bounds = rule.must_be.model_dump(exclude_none=True) if rule.must_be else {}
    return f"{rule.sql} is " + " and ".join(f"{k.replace('_', ' ')} {v}" for k, v in bounds.items())


def _evidence(rule: DatasetRule) -> Evidence:
    if rule.row_count is not None:
        return "statistics"
    if rule.null_share is not None:
        return "statistics"
    return "target" if rule.references is not None else "scan"
