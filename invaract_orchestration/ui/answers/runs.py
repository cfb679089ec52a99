"""Attempts: in lists, and one whole."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from invaract_orchestration.ui.answers.answer import Answer


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
