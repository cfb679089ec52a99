"""What the pages show and the API answers: one set of models for both. Times are in UTC, null is not known."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Answer(BaseModel):
    """Frozen and closed."""

    model_config = ConfigDict(frozen=True, extra="forbid", from_attributes=True)


class Problem(Answer):
    """Why there is no answer."""

    detail: str
    hint: str | None = None


class RowCounts(Answer):
    """Where the rows went."""

    read: int | None = None
    good: int | None = None
    quarantined: int | None = None
    failing: int | None = None
    candidate: int | None = None
    inserted: int | None = None
    updated: int | None = None
    unchanged: int | None = None
    deleted: int | None = None


class RunSummary(Answer):
    """One attempt in a list."""

    attempt_id: str
    submission_id: str
    contract: str
    version: str
    target: str
    kind: str
    state: str
    state_label: str
    tone: str = Field(description="How the state is shown: good, aside, bad, unsure, busy or idle.")
    environment: str | None
    engine: str
    parameters: dict[str, str]
    context: dict[str, str] = Field(description="By whom and where it ran: dag_id, run_id, task_id, asset, partition.")
    started_at: datetime
    ended_at: datetime | None
    seconds: float | None = Field(description="From its start to its end.")
    code: str | None
    message: str
    reasons: list[str] = Field(description="The checks that blocked it.")
    counts: RowCounts
    table_version: int | None


class Runs(Answer):
    """A page of attempts, the last recorded first."""

    runs: list[RunSummary]
    total: int = Field(description="How many there are in all, counted up to 10,000.")
    newer: str | None = Field(description="Give it as `after` for the page of newer ones.")
    older: str | None = Field(description="Give it as `before` for the page of older ones.")
    unreadable: list[str] = Field(description="Attempts on this page whose records cannot be read any more.")


class Check(Answer):
    """What one check said."""

    check: str
    stage: str
    outcome: Literal["kept", "broken", "unverifiable"]
    severity: Literal["error", "warn"]
    origin: str
    is_blocking: bool
    is_set_aside: bool
    waiver: str | None = Field(description="The waiver that let these rows through although the check is not kept.")
    expected: str
    found: str
    evidence: str
    hint: str | None
    place: str | None
    rows: int | None
    passed: int | None
    failed: int | None
    undecided: int
    nulls: int | None


class Step(Answer):
    """A recorded step; `seconds` is the time until the next one."""

    state: str
    at: datetime
    message: str
    detail: dict[str, str | int | None]
    seconds: float | None


class File(Answer):
    """A file of the batch."""

    name: str
    size: int
    modified: datetime | None
    digest: str


class Publication(Answer):
    """The commit that made the submission visible."""

    attempt_id: str
    target: str
    table_version: int
    mode: str
    method: str
    committed_at: datetime


class VerdictAnswer(Answer):
    """The decision, and what it is bound to."""

    passed: bool
    reasons: list[str]
    at: datetime
    contract_digest: str
    candidate_digest: str | None
    schema_digest: str | None
    target_version: int | None
    engine: str


class PlanStep(Answer):
    """A node of the plan that made the rows; `inputs` are the numbers of the nodes that it reads."""

    number: int
    title: str
    details: list[str]
    inputs: list[int]


class LineageEdge(Answer):
    """A column of the result, and one that it is made of."""

    column: str
    source: str | None = Field(description="Null for a column that is made of none, such as a constant.")
    kind: str = Field(description="direct, computed, constant or opaque.")
    through: list[str] = Field(description="Aggregate functions on the way.")


class PlanAnswer(Answer):
    """What the code does, as it was judged before any row was read. Literals are left out."""

    text: str
    digest: str | None
    steps: list[PlanStep]
    lineage: list[LineageEdge]
    tags: dict[str, list[str]] = Field(description="Sensitivity tags that a column of the result carries.")


class Run(RunSummary):
    """One attempt whole."""

    host: str
    contract_digest: str
    intake_digest: str
    slice_digest: str
    verdict: VerdictAnswer | None
    checks: list[Check]
    steps: list[Step]
    files: list[File]
    publication: Publication | None
    other_attempts: list[RunSummary] = Field(description="Other attempts at the same submission.")
    plan: PlanAnswer | None


class Day(Answer):
    """Attempts that started on one day (in UTC), by how they ended."""

    day: date
    published: int = 0
    rejected: int = 0
    failed: int = 0
    running: int = 0


class RuleRejections(Answer):
    """How many attempts a check had rejected, and how many rows failed it in them."""

    contract: str
    check: str
    attempts: int
    failed: int


class ContractOverview(Answer):
    """Where one contract stands with one target, and how it did over the period."""

    contract: str
    target: str
    version: str
    state: str | None
    state_label: str
    tone: str
    last_attempt: str | None
    last_attempt_at: datetime | None
    accepted_at: datetime | None = Field(description="When data was last accepted.")
    accepted_seconds_ago: float | None
    accepted_version: int | None = Field(description="The version of the table that holds it.")
    accepted_by: str | None = Field(description="The attempt that published it.")
    blocked_since: datetime | None
    reasons: list[str]
    pass_rate: float | None = Field(description="The share of ended runs that were accepted.")
    ended: int
    days: list[Day]
    rejections: list[RuleRejections]
    delay_seconds: float | None = Field(description="The median time from receipt to publication.")


class Overview(Answer):
    """Every contract, and all of them together."""

    days_shown: int
    contracts: list[ContractOverview]
    days: list[Day]
    rejections: list[RuleRejections]
    runs: int
    pass_rate: float | None
    unreadable: list[str]


class FieldAnswer(Answer):
    """A field of a contract; `rules` says all that it promises besides its type."""

    path: str
    type: str
    description: str | None
    required: bool
    unique: bool
    rules: list[str]
    tags: list[str]


class RuleAnswer(Answer):
    """A rule beyond those of single fields."""

    name: str
    kind: str
    severity: str
    text: str


class Change(Answer):
    """One difference between two versions."""

    kind: Literal["added", "removed", "changed"]
    path: str
    before: str | None
    after: str | None


class VersionChanges(Answer):
    """What a version changed against the one before; null without one."""

    version: str
    digest: str
    before: str | None
    changes: list[Change]
    is_readable: bool = True


class ContractAnswer(Answer):
    """A contract as its newest recorded version says it, and its history."""

    contract: str
    version: str
    digest: str
    status: str
    description: str | None
    owner: str | None
    consumers: list[str]
    settings: list[tuple[str, str]]
    fields: list[FieldAnswer]
    rules: list[RuleAnswer]
    versions: list[VersionChanges]
    standing: list[ContractOverview]
    is_readable: bool


class ContractDocument(Answer):
    """One version of a contract in its canonical form."""

    contract: str
    version: str
    digest: str
    document: dict[str, Any]


class Reason(Answer):
    """A check that rows of a submission failed; a row may fail several."""

    check: str
    failed: int
    undecided: int
    rows: int | None
    is_set_aside: bool


class QuarantineEntry(Answer):
    """The failing rows of one attempt: how many and why, never what stood in them."""

    run: RunSummary
    kind: Literal["quarantined", "rejected"]
    rows: int
    reasons: list[Reason]


class Quarantine(Answer):
    """Attempts with failing rows, the last recorded first."""

    entries: list[QuarantineEntry]
    total: int
    newer: str | None
    older: str | None
    unreadable: list[str]


class StatusAnswer(Answer):
    """What a reader of a table needs to know."""

    contract: str
    target: str
    version: str
    is_current: bool = Field(description="The last run that ended was accepted.")
    state: str | None
    state_label: str
    tone: str
    accepted_at: datetime | None
    accepted_seconds_ago: float | None
    accepted_version: int | None
    blocked_since: datetime | None
    reasons: list[str]


class Statuses(Answer):
    """Every contract."""

    statuses: list[StatusAnswer]
    unreadable: list[str]
