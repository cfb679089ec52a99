"""A gate's result as Dagster's events. Nothing is decided here: what blocks was decided by the gate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import dagster as dg

from dagster_defs.metadata import (
    attempt_metadata,
    candidate_metadata,
    check_metadata,
    found_text,
    outcome_of,
    published_metadata,
    short,
)  # fmt: skip
from dagster_defs.names import VERDICT, check_name
from invaract_orchestration.audit.log import AttemptView
from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.checks.catalogue import DeclaredCheck, declared_checks, results_by_check
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.errors import ContractError, InvaractError, MissingExtra, UsageError
from invaract_orchestration.verdict.verdict import Bound, Verdict

BLOCKED = "invaract/blocked"
"""Under this name a failed step says which batches were rejected."""

_DATA_VERSION = "dagster/data_version"
_MOST_REASONS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What there is to tell of one attempt: the contract, the keys it shows under, the result and the audit page."""

    contract: Contract
    candidate: dg.AssetKey
    published: dg.AssetKey
    result: GateResult
    partition: str | None
    page: str | None

    @property
    def is_judged(self) -> bool:
        """Whether the gate came to a verdict or a refusal; what could not be judged may be tried again."""
        return self.result.state in ("published", "no_op", "rejected")

    @property
    def digest(self) -> str | None:
        """The candidate's digest, null when none was judged."""
        verdict = self.result.verdict
        return verdict.bound.candidate_digest if verdict and verdict.bound else None

    @property
    def answers(self) -> dict[str, tuple[CheckResult, ...]]:
        """The results under the contract's checks."""
        return results_by_check(self.contract, self.result.checks)

    def candidate_event(self) -> dg.MaterializeResult[None] | None:
        """That rows were offered; nothing when none came to a verdict."""
        if self.digest is None:
            return None
        return dg.MaterializeResult(
            asset_key=self.candidate, data_version=dg.DataVersion(self.digest),
            metadata=candidate_metadata(self.contract, self.result, self.answers, self.page),
        )  # fmt: skip

    def check_events(self) -> Iterator[dg.AssetCheckResult]:
        """The verdict, then every check, also the ones that were not judged: those never count as passed."""
        yield self._verdict_event()
        yield from self.rule_events()

    def rule_events(self) -> Iterator[dg.AssetCheckResult]:
        """Every check of the contract."""
        answers = self.answers
        for rule in declared_checks(self.contract):
            results = answers[rule.check]
            yield dg.AssetCheckResult(
                asset_key=self.candidate, check_name=check_name(rule.check), passed=_is_kept(results),
                severity=_severity_of(rule, results), description=_describe(rule, results),
                metadata=check_metadata(rule, results, self.page),
            )  # fmt: skip

    def published_event(self) -> dg.MaterializeResult[None] | None:
        """That rows were made visible; nothing unless they were."""
        if self.result.publication is None:
            return None
        return dg.MaterializeResult(
            asset_key=self.published, data_version=dg.DataVersion(self.digest) if self.digest else None,
            metadata=published_metadata(self.contract, self.result, self.page, self.candidate),
        )  # fmt: skip

    def logged_events(self, *, is_known: bool) -> Iterator[dg.AssetMaterialization | dg.AssetCheckEvaluation]:
        """The same events for one partition of a run over several."""
        if not self.is_judged:
            return
        offered, visible = self.candidate_event(), self.published_event()
        if offered is not None and not is_known:
            yield self._logged(offered)
        for check in self.check_events():
            yield dg.AssetCheckEvaluation(
                asset_key=self.candidate, check_name=check.check_name or "", passed=check.passed, metadata=check.metadata,
                severity=check.severity, description=check.description, partition=self.partition,
            )  # fmt: skip
        if visible is not None and not is_known:
            yield self._logged(visible)

    def failure(self) -> dg.Failure | None:
        """Why the step fails: a rejected batch is not tried again, an attempt that could not judge or record may be."""
        result = self.result
        if result.state in ("published", "no_op") and result.is_recorded:
            return None
        where = f"{result.contract} ({self.partition})" if self.partition is not None else result.contract
        text = f"{where}: {result.state}: {result.message}" + (f"\nHint: {result.hint}" if result.hint else "")
        metadata = {
            **attempt_metadata(result, self.page), "invaract/code": result.code or "none",
            BLOCKED: dg.MetadataValue.json([self._blocked()] if result.state == "rejected" else []),
        }  # fmt: skip
        return dg.Failure(description=text, metadata=metadata, allow_retries=result.state != "rejected")

    def _verdict_event(self) -> dg.AssetCheckResult:
        return dg.AssetCheckResult(
            asset_key=self.candidate, check_name=check_name(VERDICT), passed=self.result.state != "rejected",
            description=f"{self.result.state}: {self.result.message}",
            metadata={**attempt_metadata(self.result, self.page), "invaract/check": VERDICT},
        )  # fmt: skip

    def _blocked(self) -> dict[str, Any]:
        result = self.result
        return {
            "asset": self.published.to_user_string(), "partition": self.partition, "contract": result.contract,
            "message": result.message, "reasons": list(result.verdict.reasons[:_MOST_REASONS]) if result.verdict else [],
            "submission_id": result.submission_id, "attempt_id": result.attempt_id, "page": self.page,
        }  # fmt: skip

    def _logged(self, event: dg.MaterializeResult[None]) -> dg.AssetMaterialization:
        assert event.asset_key is not None  # both events name theirs
        tags = {_DATA_VERSION: event.data_version.value} if event.data_version else None
        return dg.AssetMaterialization(
            asset_key=event.asset_key, partition=self.partition, metadata=event.metadata, tags=tags
        )


def check_outputs(contract: Contract, candidate: dg.AssetKey) -> Iterator[dg.Output[None]]:
    """What the op of a run over several partitions owes Dagster for checks that were logged by partition."""
    for check in (VERDICT, *(rule.check for rule in declared_checks(contract))):
        spec = dg.AssetCheckSpec(check_name(check), asset=candidate)
        yield dg.Output(None, output_name=spec.get_python_identifier())


def failure_from(error: InvaractError) -> dg.Failure:
    """An error of the gate's own tree; a call or contract that makes no sense is not tried again."""
    is_misuse = isinstance(error, UsageError | ContractError | MissingExtra)
    return dg.Failure(description=str(error), metadata={"invaract/code": error.code}, allow_retries=not is_misuse)


def of_partition(failure: dg.Failure, partition: str) -> dg.Failure:
    """The failure with the partition that it is about."""
    return dg.Failure(
        description=f"{partition}: {failure.description}", metadata=failure.metadata, allow_retries=failure.allow_retries
    )


def failure_of(failures: Sequence[dg.Failure]) -> dg.Failure:
    """One failure for several partitions; tried again when any of them may be, as published ones are not published twice."""
    told = [f.metadata[BLOCKED].value for f in failures if BLOCKED in f.metadata]
    return dg.Failure(
        description="\n".join(str(f.description) for f in failures),
        metadata={**failures[0].metadata, BLOCKED: dg.MetadataValue.json([entry for each in told for entry in each])},  # type: ignore[union-attr]
        allow_retries=any(f.allow_retries for f in failures),
    )  # fmt: skip


def as_published_before(result: GateResult, view: AttemptView | None) -> GateResult:
    """The result of a retry with what the audit holds of the attempt that published; unchanged when that is lost."""
    record = view.verdict if view else None
    if record is None:
        return result
    bound = None if record.candidate_digest is None else Bound(
        contract_digest=record.contract_digest, candidate_digest=record.candidate_digest,
        schema_digest=record.schema_digest or "", target_version=record.target_version, engine=record.engine,
    )  # fmt: skip
    verdict = Verdict(passed=record.passed, results=record.results, reasons=record.reasons, bound=bound)
    counts = view.outcome.counts if view and view.outcome else record.counts
    return replace(result, checks=record.results, verdict=verdict, counts=counts)


def _is_kept(results: Sequence[CheckResult]) -> bool:
    """Whether a check holds; one that was not judged does not."""
    return bool(results) and all(r.outcome == "kept" for r in results)


def _severity_of(rule: DeclaredCheck, results: Sequence[CheckResult]) -> dg.AssetCheckSeverity:
    """ERROR where the gate says that a result blocks, WARN for what else is not kept.

    What is kept has the severity that its breach would have, as Dagster shows a check of many partitions by its latest one.
    """
    is_error = rule.can_block if _is_kept(results) else any(r.is_blocking for r in results)
    return dg.AssetCheckSeverity.ERROR if is_error else dg.AssetCheckSeverity.WARN


def _describe(rule: DeclaredCheck, results: Sequence[CheckResult]) -> str:
    """`broken: 3 rows of 100 failed`."""
    return short(f"{outcome_of(rule, results)}: {found_text(results)}") if results else outcome_of(rule, results)
