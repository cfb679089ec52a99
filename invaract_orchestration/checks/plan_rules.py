"""Plan-shape rules in the verdict: judged on the transformation's plan, before any row is read."""

from __future__ import annotations

from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.contract.model import Contract


def judge_plan_rules(contract: Contract) -> tuple[CheckResult, ...]:
    """One result per rule. While no plan is at hand every rule is unverifiable, which blocks; none is ever skipped."""
    return tuple(
        CheckResult(
            check=rule.name or f"plan|{rule.type}", stage="plan", outcome="unverifiable", severity=rule.severity,
            expected=f"the transformation keeps {rule.type}", found="there is no plan to judge", evidence="none",
            hint="plan-shape rules need a transformation; take the rule out if the source is published as it is",
        )
        for rule in contract.rules
    )  # fmt: skip
