"""Where contracts stand, and how they did over a period."""

from __future__ import annotations

from datetime import date, datetime

from pydantic import Field

from invaract_orchestration.ui.answers.answer import Answer


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
