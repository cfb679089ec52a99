"""A gate's result as Dagster's events. Nothing is decided here: what blocks was decided by the gate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import dagster as dg

from dagster_defs.metadata import (
    attempt_metadata, candidate_metadata, check_metadata, found_text, outcome_of, published_metadata,
)  # fmt: skip
from dagster_defs.names import check_name
from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.checks.catalogue import DeclaredCheck, declared_checks, results_by_check
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.contract.model import Contract

Event = dg.MaterializeResult[None] | dg.AssetCheckResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What there is to tell of one attempt: the contract, the keys it shows under, the result and the audit page."""

    contract: Contract
    candidate: dg.AssetKey
    published: dg.AssetKey
    result: GateResult
    page: str | None

    @property
    def digest(self) -> str | None:
        """The candidate's digest, null when none was judged."""
        verdict = self.result.verdict
        return verdict.bound.candidate_digest if verdict and verdict.bound else None

    @property
    def declared(self) -> tuple[DeclaredCheck, ...]:
        """The contract's checks."""
        return declared_checks(self.contract)

    @property
    def answers(self) -> dict[str, tuple[CheckResult, ...]]:
        """The results under the contract's checks."""
        return results_by_check(self.contract, self.result.checks)

    def candidate_event(self) -> dg.MaterializeResult[None] | None:
        """That rows were offered; nothing when none were written by this attempt."""
        if self.digest is None:
            return None
        return dg.MaterializeResult(
            asset_key=self.candidate, data_version=dg.DataVersion(self.digest),
            metadata=candidate_metadata(self.contract, self.result, self.answers, self.declared, self.page),
        )  # fmt: skip

    def check_events(self) -> Iterator[dg.AssetCheckResult]:
        """Every check, also the ones that were not judged: those never count as passed."""
        for rule in self.declared:
            results = self.answers[rule.check]
            yield dg.AssetCheckResult(
                asset_key=self.candidate, check_name=check_name(rule.check), passed=self.is_passed(rule, results),
                severity=severity_of(results), description=describe(rule, results),
                metadata=check_metadata(rule, results, self.page),
            )  # fmt: skip

    def is_passed(self, rule: DeclaredCheck, results: Sequence[CheckResult]) -> bool:
        """Whether a check holds; one without a result only where the gate says that there was nothing to ask."""
        if not results:
            return rule.is_implied and self.result.verdict is not None and self.result.verdict.passed
        return all(r.outcome == "kept" for r in results)

    def published_event(self) -> dg.MaterializeResult[None] | None:
        """That rows were made visible; nothing unless they were."""
        if self.result.publication is None:
            return None
        return dg.MaterializeResult(
            asset_key=self.published, data_version=dg.DataVersion(self.digest) if self.digest else None,
            metadata=published_metadata(self.contract, self.result, self.page, self.candidate),
        )  # fmt: skip

    def failure(self) -> dg.Failure | None:
        """Why the step fails: a rejected batch is not tried again, an attempt that could not judge may be."""
        result = self.result
        if result.state in ("published", "no_op"):
            return None
        text = f"{result.contract}: {result.state}: {result.message}" + (f"\nHint: {result.hint}" if result.hint else "")
        metadata = {**attempt_metadata(result, self.page), "invaract/code": result.code or "none"}
        return dg.Failure(description=text, metadata=metadata, allow_retries=result.state != "rejected")


def severity_of(results: Sequence[CheckResult]) -> dg.AssetCheckSeverity:
    """ERROR where the gate says that a result blocks; WARN for everything else that is not kept."""
    return dg.AssetCheckSeverity.ERROR if any(r.is_blocking for r in results) else dg.AssetCheckSeverity.WARN


def describe(rule: DeclaredCheck, results: Sequence[CheckResult]) -> str:
    """`broken: 3 rows of 100 failed`."""
    return f"{outcome_of(rule, results)}: {found_text(results)}" if results else outcome_of(rule, results)
