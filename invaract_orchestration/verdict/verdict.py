"""The verdict: one decision over all results, bound to exactly what was judged."""

from __future__ import annotations

from dataclasses import dataclass

from invaract_orchestration.checks.result import CheckResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What a verdict holds for: nothing else can be published with it. A target that did not exist has version null."""

    contract_digest: str
    candidate_digest: str
    schema_digest: str
    target_version: int | None
    engine: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Passed only when every blocking check is kept. `bound` is null when the batch was rejected before a candidate was there."""

    passed: bool
    results: tuple[CheckResult, ...]
    reasons: tuple[str, ...]
    bound: Bound | None

    def __post_init__(self) -> None:
        if self.passed and (self.bound is None or self.reasons or not self.results):
            raise ValueError("a passing verdict has results, no reasons against it, and is bound to what was judged")


def decide(results: tuple[CheckResult, ...], bound: Bound | None) -> Verdict:
    """Pass when there are results, none of them blocks, and there is a candidate to bind to.

    `broken` and `unverifiable` block alike; a warn never does. Reasons are the blocking checks' ids in their order.
    """
    reasons = tuple(r.check for r in results if r.is_blocking)
    passed = bool(results) and not reasons and bound is not None
    return Verdict(passed=passed, results=results, reasons=reasons, bound=bound)
