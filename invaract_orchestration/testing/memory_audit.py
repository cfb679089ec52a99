"""An audit in memory, for tests: it keeps and refuses what a store does, and forgets everything with the process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from invaract_orchestration.audit.chain import utc_text
from invaract_orchestration.audit.log import AttemptView, ContractStatus, PublishedView
from invaract_orchestration.audit.records import (
    SETTLED,
    Attempt,
    ContractVersion,
    Event,
    OutcomeRecord,
    PublicationRecord,
    Submission,
    VerdictRecord,
    Waiver,
)
from invaract_orchestration.errors import AuditError, ContractVersionReused

T = TypeVar("T")


@dataclass(slots=True)
class _Trail:
    """What is recorded of one attempt."""

    attempt: Attempt
    events: list[Event] = field(default_factory=list)
    verdicts: list[VerdictRecord] = field(default_factory=list)
    outcomes: list[OutcomeRecord] = field(default_factory=list)

    @property
    def state(self) -> str:
        return self.events[-1].state


class MemoryAudit:
    """`AuditLog`, `AuditReader` and `WaiverLog` without a database. Not for several threads."""

    def __init__(self) -> None:
        self._versions: dict[tuple[str, str], ContractVersion] = {}
        self._submissions: dict[str, Submission] = {}
        self._trails: dict[str, _Trail] = {}
        self._publications: dict[str, PublicationRecord] = {}
        self._waivers: dict[str, Waiver] = {}

    def open_attempt(self, submission: Submission, attempt: Attempt, first: Event) -> None:
        """Record contract version, submission and attempt with its first event."""
        if attempt.submission_id != submission.submission_id or first.attempt_id != attempt.attempt_id:
            raise AuditError(f"Attempt {attempt.attempt_id!r} and what is recorded with it name different ids")
        version = attempt.contract_version
        known_version = self._versions.get((version.contract, version.version), version)
        if known_version.digest != version.digest:
            raise ContractVersionReused(
                f"Version {version.version!r} of contract {version.contract!r} was recorded with another content"
            )
        known = self._submissions.get(submission.submission_id, submission)
        _require_same("submission", _identity(known), _identity(submission))
        trail = self._trails.get(attempt.attempt_id)
        if trail is not None:
            _require_same("attempt", trail.attempt, attempt)
            return
        self._versions[version.contract, version.version] = known_version
        self._submissions[submission.submission_id] = known
        self._trails[attempt.attempt_id] = _Trail(attempt, [first])

    def append(self, event: Event) -> None:
        """Record one step."""
        trail = self._trail(event.attempt_id)
        if event not in trail.events:
            _follow(trail, event)

    def record_verdict(self, verdict: VerdictRecord, event: Event) -> None:
        """Record the verdict with all of its results; an attempt has a further one for each other target version."""
        trail = self._trail(verdict.attempt_id)
        for known in trail.verdicts:
            if known.target_version == verdict.target_version:
                _require_same("verdict", replace(known, at=verdict.at), verdict)
                return
        _follow(trail, event)
        trail.verdicts.append(verdict)

    def record_outcome(self, outcome: OutcomeRecord, event: Event) -> None:
        """Record how the attempt ended; only an outcome that is not settled may be followed by another."""
        trail = self._trail(outcome.attempt_id)
        publication = self._checked(outcome.publication, trail.attempt.submission_id)
        if trail.outcomes and _is_same_outcome(trail.outcomes[-1], outcome):
            return
        if trail.outcomes and trail.outcomes[-1].state in SETTLED:
            raise AuditError(f"The outcome of attempt {outcome.attempt_id!r} was recorded with another content")
        _follow(trail, event)
        trail.outcomes.append(replace(outcome, publication=publication))
        if publication is not None:
            self._publications[publication.submission_id] = publication

    def unsettled(self, contract: str, target: str) -> Sequence[AttemptView]:
        """Attempts of `run` whose last state is not settled, oldest first."""
        views = (self._view(trail) for trail in self._trails.values() if trail.attempt.kind == "run")
        return [view for view in views if _pair(view.submission) == (contract, target) and view.state not in SETTLED]

    def publications(self, contract: str, target: str, slice_digest: str | None = None) -> Sequence[PublishedView]:
        """What was published for the contract's target, the last recorded first."""
        views = (
            PublishedView(submission=self._submissions[key], publication=each)
            for key, each in reversed(self._publications.items())
        )
        return [
            view
            for view in views
            if _pair(view.submission) == (contract, target) and slice_digest in {None, view.submission.slice_digest}
        ]

    def grant(self, waiver: Waiver) -> None:
        """Record a waiver."""
        _require_same("waiver", self._waivers.setdefault(waiver.waiver_id, waiver), waiver)

    def waivers(self, candidate_digest: str) -> Sequence[Waiver]:
        """Every waiver for one candidate, expired ones too, the first granted first."""
        return [waiver for waiver in self._waivers.values() if waiver.candidate_digest == candidate_digest]

    def attempts(
        self,
        *,
        contract: str | None = None,
        submission_id: str | None = None,
        states: Sequence[str] = (),
        limit: int = 50,
        before: str | None = None,
        target: str | None = None,
        kind: str | None = None,
        search: str | None = None,
        context: Mapping[str, str] | None = None,
    ) -> Sequence[AttemptView]:
        """Attempts, the last recorded first; results are left out of the verdicts. See `AuditReader`."""
        ids = list(self._trails)
        older = ids if before is None else ids[: ids.index(before)] if before in ids else []
        views = [self._view(self._trails[key], with_results=False) for key in reversed(older)]
        tests: list[Callable[[AttemptView], bool]] = [
            lambda view: contract in {None, view.submission.contract},
            lambda view: target in {None, view.submission.target},
            lambda view: submission_id in {None, view.submission.submission_id},
            lambda view: kind in {None, view.attempt.kind},
            lambda view: not states or view.state in states,
            lambda view: not search or any(name.startswith(search) for name in _names(view)),
            lambda view: (context or {}).items() <= view.attempt.context.items(),
        ]
        return [view for view in views if all(test(view) for test in tests)][:limit]  # fmt: skip

    def attempt(self, attempt_id: str) -> AttemptView | None:
        """One attempt whole; a prefix that fits one attempt alone is enough."""
        fitting = [key for key in self._trails if key == attempt_id] or [
            key for key in self._trails if key.startswith(attempt_id)
        ]
        return self._view(self._trails[fitting[0]]) if len(fitting) == 1 else None

    def statuses(self) -> Sequence[ContractStatus]:
        """Every contract known, by name and target."""
        pairs = sorted({_pair(self._submissions[trail.attempt.submission_id]) for trail in self._trails.values()})
        return [self._status(*pair) for pair in pairs]

    def contract_versions(self, contract: str) -> Sequence[ContractVersion]:
        """Versions of a contract, the last recorded first."""
        return [version for version in reversed(self._versions.values()) if version.contract == contract]

    def _status(self, contract: str, target: str) -> ContractStatus:
        runs = self.attempts(contract=contract, target=target, kind="run", limit=len(self._trails))
        since = [view.state in {"published", "no_op"} for view in runs]
        recent = runs[: since.index(True)] if True in since else runs
        blocked = [view for view in recent if view.state in {"rejected", "conflict", "failed", "unknown"}]
        published = self.publications(contract, target)
        versions = self.contract_versions(contract)
        return ContractStatus(
            contract=contract,
            target=target,
            version=runs[0].attempt.contract_version.version if runs else versions[0].version,
            last_attempt=runs[0] if runs else None,
            last_published=published[0] if published else None,
            blocked_since=utc_text(blocked[-1].attempt.started_at) if blocked else None,
            reasons=_reasons(blocked[0]) if blocked else (),
        )

    def _view(self, trail: _Trail, *, with_results: bool = True) -> AttemptView:
        verdict = trail.verdicts[-1] if trail.verdicts else None
        return AttemptView(
            submission=self._submissions[trail.attempt.submission_id],
            attempt=trail.attempt,
            state=trail.state,
            events=tuple(trail.events),
            verdict=verdict if verdict is None or with_results else replace(verdict, results=()),
            outcome=trail.outcomes[-1] if trail.outcomes else None,
        )

    def _trail(self, attempt_id: str) -> _Trail:
        if attempt_id not in self._trails:
            raise AuditError(f"Attempt {attempt_id!r} is not recorded")
        return self._trails[attempt_id]

    def _checked(self, publication: PublicationRecord | None, submission_id: str) -> PublicationRecord | None:
        """The publication as it is known, when it is."""
        if publication is None:
            return None
        if publication.submission_id != submission_id:
            raise AuditError(f"A publication of {publication.submission_id!r} is none of submission {submission_id!r}")
        known = self._publications.get(submission_id, publication)
        _require_same("publication", replace(known, committed_at=publication.committed_at), publication)
        return known


def _follow(trail: _Trail, event: Event) -> None:
    if trail.state in SETTLED and event.state != trail.state:
        raise AuditError(f"Attempt {event.attempt_id!r} is settled as {trail.state} and cannot become {event.state}")
    trail.events.append(event)


def _require_same(what: str, known: T, new: T) -> None:
    if known != new:
        raise AuditError(f"The {what} was recorded with another content")


def _is_same_outcome(known: OutcomeRecord, new: OutcomeRecord) -> bool:
    return replace(known, at=new.at, publication=new.publication) == new and (
        (known.publication is None) == (new.publication is None)
    )


def _identity(submission: Submission) -> tuple[object, ...]:
    """What makes a submission the same one; files may be listed again with other times."""
    named = (submission.contract, submission.target, submission.slice_digest, submission.intake_digest)
    return (*named, dict(submission.parameters))


def _pair(submission: Submission) -> tuple[str, str]:
    return submission.contract, submission.target


def _names(view: AttemptView) -> tuple[str, str, str]:
    return view.submission.contract, view.submission.submission_id, view.attempt.attempt_id


def _reasons(view: AttemptView) -> tuple[str, ...]:
    if view.verdict is not None and not view.verdict.passed and view.verdict.reasons:
        return view.verdict.reasons
    if view.outcome is not None:
        return (view.outcome.code or view.outcome.message,)
    return (view.events[-1].message,)
