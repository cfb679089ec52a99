"""The port of the audit: what the gate needs to write, and what people need to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    Waiver,
)

WAIVABLE = "waivable"
"""Key of the event that says what a waiver can be given for: a digest of the rows, the contract's content, the slice and what was
found."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCount:
    """How many rejected attempts one check was a reason for, and how many rows failed it in all of them together."""

    contract: str
    check: str
    attempts: int
    failed: int


class AuditReader(Protocol):
    """What history, show, status and the audit pages read."""

    def attempts(
        self, *, contract: str | None = None, submission_id: str | None = None, states: Sequence[str] = (),
        limit: int = 50, before: str | None = None, target: str | None = None, kind: str | None = None,
        search: str | None = None, context: Mapping[str, str] | None = None,
    ) -> Sequence[AttemptView]:
        """Attempts newest first (the last recorded); results are left out of the verdicts.

        `before` is an attempt id to page on from; `search` the start of a contract's name, a submission's or an
        attempt's id; `context` what the attempt's own context must hold, such as `{"dag_id": "load_flights"}`.
        """

    def attempt(self, attempt_id: str) -> AttemptView | None:
        """One attempt whole; null when there is none of that id. A prefix that fits one attempt alone is enough."""

    def statuses(self) -> Sequence[ContractStatus]:
        """Every contract known, by name."""

    def contract_versions(self, contract: str) -> Sequence[ContractVersion]:
        """Versions of a contract, newest first."""


class WaiverLog(Protocol):
    """Leave given to publish a candidate although a check is not kept. The digest (see `WAIVABLE`) is over the candidate's rows,
    not its files, so that it is the same when the batch is submitted again."""

    def grant(self, waiver: Waiver) -> None:
        """Record a waiver."""

    def waivers(self, candidate_digest: str) -> Sequence[Waiver]:
        """Every waiver for one candidate, expired ones too, the first granted first."""
