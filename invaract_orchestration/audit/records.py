"""What the audit holds: submissions, attempts, events, results and publications. Never a cell value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from invaract_orchestration.checks.result import CheckResult

State = Literal[
    "received", "materialised", "judged", "publishing",
    "published", "no_op", "rejected", "conflict", "failed", "unknown",
]  # fmt: skip
SETTLED: tuple[State, ...] = ("published", "no_op", "rejected", "conflict", "failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractVersion:
    """One version of a contract, as it was used; the same version never has two digests."""

    contract: str
    version: str
    digest: str
    document: str
    """The contract's canonical JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile:
    """A file of the batch: name relative to the source's root, size in bytes, time of last change, digest of its content."""

    name: str
    size: int
    modified: datetime | None
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One closed batch offered under a contract for one slice (contract, target and parameters)."""

    submission_id: str
    contract: str
    target: str
    parameters: Mapping[str, str]
    slice_digest: str
    intake_digest: str
    files: tuple[InputFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try at a submission; `context` says by whom and where it ran (dag, task, asset, run id, try number)."""

    attempt_id: str
    submission_id: str
    kind: Literal["run", "check", "adopt"]
    contract_version: ContractVersion
    environment: str | None
    engine: str
    host: str
    started_at: datetime
    context: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Where the rows of a batch went; null is not known. Without transformations, read = good + failing."""

    read: int | None = None
    good: int | None = None
    quarantined: int | None = None
    failing: int | None = None
    """Rows that broke a rule, whether they were set aside or the whole batch was rejected."""
    candidate: int | None = None
    inserted: int | None = None
    updated: int | None = None
    unchanged: int | None = None
    deleted: int | None = None
    """Rows of the target that the publication replaced or removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A step of an attempt, appended before the next step begins. `detail` holds names, counts and digests alone."""

    attempt_id: str
    state: State
    at: datetime
    message: str
    detail: Mapping[str, str | int | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRecord:
    """The decision over all results and the tuple it is bound to."""

    attempt_id: str
    passed: bool
    contract_digest: str
    candidate_digest: str | None
    schema_digest: str | None
    target_version: int | None
    engine: str
    reasons: tuple[str, ...]
    counts: Counts
    results: tuple[CheckResult, ...]
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicationRecord:
    """The commit that made a submission visible; once per submission, whatever the number of attempts."""

    submission_id: str
    attempt_id: str
    target: str
    table_version: int
    mode: str
    method: str
    """How the rows got there: `promoted` (the candidate's own files) or `rewritten`, with the reason."""
    committed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeRecord:
    """How an attempt ended. `publication` is set when the submission is in the target, also by an earlier attempt."""

    attempt_id: str
    state: State
    code: str | None
    """The rule or error that decided, such as `row_failures` or `publish.rejected_by_target`; null when all went well."""
    message: str
    counts: Counts
    publication: PublicationRecord | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """Leave to publish one candidate although one check of it is not kept: by whom, why, and until when."""

    waiver_id: str
    contract: str
    check: str
    candidate_digest: str
    approver: str
    reason: str
    granted_at: datetime
    expires_at: datetime
