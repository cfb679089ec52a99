"""Freshness: is the table's data on time, and if not, was nothing delivered or was it delivered and rejected?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from invaract_orchestration.audit.log import AttemptView
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.contract.scalars import duration_seconds

Freshness = Literal["on time", "late", "unknown"]
Reason = Literal["published", "nothing delivered", "delivered and rejected", "delivered and not published", "no expectation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshnessReport:
    """`unknown` is a contract that expects nothing. `age` is since the last publication, null when there was none."""

    state: Freshness
    reason: Reason
    due: datetime | None
    age: timedelta | None
    last_attempt: str | None


def judge_freshness(
    contract: Contract, attempts: Sequence[AttemptView], now: datetime, newest: datetime | None = None
) -> FreshnessReport:
    """Judge by publications of runs, newest attempt first, and by `newest`, when the newest row of the table happened.

    `max_age` bounds the age of that row (null: there is none, which is too old). With `every` (a day by default) and
    `expected_by`, a publication is due by that time of each period, in the contract's zone.
    """
    expected = contract.freshness
    runs = [a for a in attempts if a.attempt.kind == "run"]
    last = max((at for a in runs if a.state in ("published", "no_op") and (at := _delivered_at(a)) is not None), default=None)
    age = None if last is None else now - last
    last_id = runs[0].attempt.attempt_id if runs else None
    if expected is None or not (expected.expected_by or expected.every or expected.max_age):
        return FreshnessReport(state="unknown", reason="no expectation", due=None, age=age, last_attempt=last_id)
    since, due = _period(contract, now)
    too_old = expected.max_age is not None and (
        newest is None or now - newest > timedelta(seconds=duration_seconds(expected.max_age))
    )
    missed = since is not None and (last is None or last < since)
    if not too_old and not missed:
        return FreshnessReport(state="on time", reason="published", due=due, age=age, last_attempt=last_id)
    begin = last or since or datetime.min.replace(tzinfo=now.tzinfo)
    return FreshnessReport(state="late", reason=_why(runs, begin), due=due, age=age, last_attempt=last_id)


def _delivered_at(view: AttemptView) -> datetime | None:
    """When the data came: a retry of what is published already brings none, so the commit's own time counts."""
    if view.outcome is None:
        return None
    return view.outcome.publication.committed_at if view.outcome.publication else view.outcome.at


def _period(contract: Contract, now: datetime) -> tuple[datetime | None, datetime | None]:
    """(start, due time) of the latest period that is due already, or (none, none) without a schedule."""
    expected = contract.freshness
    assert expected is not None  # asked by the caller
    if expected.expected_by is None and expected.every is None:
        return None, None
    length = timedelta(seconds=duration_seconds(expected.every or "1d"))
    hour, _, minute = (expected.expected_by or "00:00").partition(":")
    zone = ZoneInfo(contract.timezone)
    local = now.astimezone(zone)
    due = datetime.combine(local.date(), time(int(hour), int(minute or 0)), zone)
    while due > local:
        due -= length
    while due + length <= local:
        due += length
    return due - length, due


def _why(runs: Sequence[AttemptView], since: datetime) -> Reason:
    tried = [r for r in runs if r.attempt.started_at >= since and r.submission.intake_digest != "unreadable"]
    if not tried:
        return "nothing delivered"
    return "delivered and rejected" if any(r.state == "rejected" for r in tried) else "delivered and not published"
