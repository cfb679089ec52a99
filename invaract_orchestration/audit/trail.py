"""The trail of one attempt: each step is recorded before the next begins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from invaract_orchestration.audit.log import AuditLog
from invaract_orchestration.audit.records import (
    Attempt,
    Counts,
    Event,
    OutcomeRecord,
    PublicationRecord,
    State,
    Submission,
    VerdictRecord,
)  # fmt: skip
from invaract_orchestration.verdict.verdict import Verdict

Detail = dict[str, str | int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """Writes one attempt's records. Every method raises AuditUnavailable when the record could not be written."""

    log: AuditLog
    attempt: Attempt
    clock: Callable[[], datetime]
    tell: Callable[[str], None]

    def open(self, submission: Submission) -> None:
        """The batch was received."""
        count = len(submission.files)
        message = f"received {count} file{'' if count == 1 else 's'}" if count else "received"
        self.tell(message)
        self.log.open_attempt(submission, self.attempt, self._event("received", message, {}))

    def step(self, state: State, message: str, detail: Detail | None = None) -> None:
        """One step is about to begin or has been done."""
        self.tell(message)
        self.log.append(self._event(state, message, detail or {}))

    def verdict(self, verdict: Verdict, counts: Counts) -> None:
        """The decision with all of its results."""
        bound = verdict.bound
        message = "passed" if verdict.passed else "rejected: " + ", ".join(verdict.reasons[:20])
        self.tell(f"verdict: {message}")
        record = VerdictRecord(
            attempt_id=self.attempt.attempt_id, passed=verdict.passed,
            contract_digest=bound.contract_digest if bound else self.attempt.contract_version.digest,
            candidate_digest=bound.candidate_digest if bound else None,
            schema_digest=bound.schema_digest if bound else None,
            target_version=bound.target_version if bound else None,
            engine=bound.engine if bound else self.attempt.engine, reasons=verdict.reasons, counts=counts,
            results=verdict.results, at=self.clock(),
        )  # fmt: skip
        self.log.record_verdict(record, self._event("judged", message, {"checks": len(verdict.results)}))

    def outcome(
        self, state: State, message: str, *, code: str | None, counts: Counts, publication: PublicationRecord | None
    ) -> None:
        """How it ended."""
        record = OutcomeRecord(
            attempt_id=self.attempt.attempt_id, state=state, code=code, message=message, counts=counts,
            publication=publication, at=self.clock(),
        )  # fmt: skip
        detail: Detail = {"code": code}
        if publication is not None:
            detail |= {"table_version": publication.table_version, "method": publication.method}
        self.log.record_outcome(record, self._event(state, message, detail))

    def _event(self, state: State, message: str, detail: Detail) -> Event:
        return Event(
            attempt_id=self.attempt.attempt_id, state=state, at=self.clock(), message=message, detail=detail
        )
