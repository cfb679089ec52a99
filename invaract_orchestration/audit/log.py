"""The port of the audit: what the gate needs to write, and what people need to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from invaract_orchestration.audit.records import (
    Attempt,
    ContractVersion,
    Event,
    OutcomeRecord,
    PublicationRecord,
    Submission,
    VerdictRecord,
)


class AuditLog(Protocol):
    """Append-only. Every method is one transaction, and raises `AuditUnavailable` when it could not be written.

    Writing the same record again (same ids, same content) is a no-op, so that a repair may be repeated.
    """

    def open_attempt(self, submission: Submission, attempt: Attempt, first: Event) -> None:
        """Record contract version, submission and attempt with its first event.

        Raises `ContractVersionReused` when the version was recorded with another digest.
        """

    def append(self, event: Event) -> None:
        """Record one step."""

    def record_verdict(self, verdict: VerdictRecord, event: Event) -> None:
        """Record the verdict with all of its results."""

    def record_outcome(self, outcome: OutcomeRecord, event: Event) -> None:
        """Record how the attempt ended, and the publication when there is one and it is not recorded yet."""

    def unsettled(self, contract: str, target: str) -> Sequence[AttemptView]:
        """Attempts of `run` whose last state is not settled, oldest first."""

    def publications(self, contract: str, target: str, slice_digest: str | None = None) -> Sequence[PublishedView]:
        """What was published for the contract's target, newest first; of one slice when its digest is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptView:
    """An attempt with everything recorded of it; verdict and outcome are null while it has none."""

    submission: Submission
    attempt: Attempt
    state: str
    events: tuple[Event, ...]
    verdict: VerdictRecord | None
    outcome: OutcomeRecord | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedView:
    """A publication with the submission it belongs to."""

    submission: Submission
    publication: PublicationRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractStatus:
    """Where a contract stands: last accepted data, last attempt, and since when and why it is blocked."""

    contract: str
    target: str
    version: str
    last_attempt: AttemptView | None
    last_published: PublishedView | None
    blocked_since: str | None
    """ISO time of the first attempt that did not publish after the last that did; null when the last one published."""
    reasons: tuple[str, ...]


class AuditReader(Protocol):
    """What history, show, status and the audit pages read."""

    def attempts(
        self, *, contract: str | None = None, submission_id: str | None = None, states: Sequence[str] = (),
        limit: int = 50, before: str | None = None,
    ) -> Sequence[AttemptView]:
        """Attempts newest first; `before` is an attempt id to page on from. Results are left out of the verdicts."""

    def attempt(self, attempt_id: str) -> AttemptView | None:
        """One attempt whole; null when there is none of that id. A prefix that fits one attempt alone is enough."""

    def statuses(self) -> Sequence[ContractStatus]:
        """Every contract known, by name."""

    def contract_versions(self, contract: str) -> Sequence[ContractVersion]:
        """Versions of a contract, newest first."""
