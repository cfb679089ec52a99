"""Where contracts stand and how they did over a period."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from invaract_orchestration.audit.browse import AuditPages, ContractDay, Delay, Scope
from invaract_orchestration.audit.log import ContractStatus, RuleCount
from invaract_orchestration.ui.answers import ContractOverview, Day, Overview, RuleRejections, StatusAnswer, Statuses
from invaract_orchestration.ui.wording import Word, word_of

_ACCEPTED = ("published", "no_op")
_FAILED = ("failed", "conflict", "unknown")
_ENDED = (*_ACCEPTED, *_FAILED, "rejected")
_KINDS = dict.fromkeys(_ACCEPTED, "published") | dict.fromkeys(_FAILED, "failed") | {"rejected": "rejected"}
_NOT_RUN = Word("Not run yet", "idle")

Place = tuple[str, str]


def overview(
    reader: AuditPages, scope: Scope, now: datetime, *, days: int, contract: str | None = None
) -> Overview:
    """Every contract, or one, over the last so many days; today counts as one."""
    shown = _last_days(now, days)
    since = datetime.combine(shown[0], datetime.min.time(), UTC)
    standing = reader.standing(scope)
    activity = [a for a in reader.activity(scope, since=since, contract=contract) if a.day <= shown[-1]]
    rejections = reader.rejections(scope, since=since, contract=contract)
    delays = {(d.contract, d.target): d for d in reader.delays(scope, since=since)}
    by_place = _by_place(activity)
    contracts = [
        _contract(status, by_place.get((status.contract, status.target), []), rejections, delays, shown, now)
        for status in standing.contracts
        if contract in (None, status.contract)
    ]
    return Overview(
        days_shown=days, contracts=contracts, days=_days(activity, shown), runs=sum(a.attempts for a in activity),
        rejections=[_rejection(r) for r in rejections], pass_rate=_pass_rate(activity), unreadable=list(standing.unreadable),
    )  # fmt: skip


def statuses(reader: AuditPages, scope: Scope, now: datetime) -> Statuses:
    """What readers of the tables need to know."""
    standing = reader.standing(scope)
    return Statuses(
        statuses=[StatusAnswer(is_current=s.blocked_since is None and s.last_published is not None, **_where(s, now))
                  for s in standing.contracts],
        unreadable=list(standing.unreadable),
    )  # fmt: skip


def _contract(
    status: ContractStatus, activity: Sequence[ContractDay], rejections: Sequence[RuleCount],
    delays: Mapping[Place, Delay], shown: Sequence[date], now: datetime,
) -> ContractOverview:  # fmt: skip
    last = status.last_attempt
    delay = delays.get((status.contract, status.target))
    return ContractOverview(
        **_where(status, now),
        last_attempt=last.attempt.attempt_id if last else None,
        last_attempt_at=last.attempt.started_at if last else None,
        accepted_by=status.last_published.publication.attempt_id if status.last_published else None,
        pass_rate=_pass_rate(activity),
        ended=sum(a.attempts for a in activity if a.state in _ENDED),
        days=_days(activity, shown),
        rejections=[_rejection(r) for r in rejections if r.contract == status.contract],
        delay_seconds=delay.median.total_seconds() if delay else None,
    )


def _where(status: ContractStatus, now: datetime) -> dict[str, Any]:
    last, published = status.last_attempt, status.last_published
    word = word_of(last) if last else _NOT_RUN
    at = published.publication.committed_at if published else None
    return {
        "contract": status.contract,
        "target": status.target,
        "version": status.version,
        "state": last.state if last else None,
        "state_label": word.label,
        "tone": word.tone,
        "accepted_at": at,
        "accepted_seconds_ago": max((now - at).total_seconds(), 0.0) if at else None,
        "accepted_version": published.publication.table_version if published else None,
        "blocked_since": datetime.fromisoformat(status.blocked_since) if status.blocked_since else None,
        "reasons": list(status.reasons),
    }


def _last_days(now: datetime, days: int) -> list[date]:
    today = now.astimezone(UTC).date()
    return [today - timedelta(days=back) for back in range(days - 1, -1, -1)]


def _by_place(activity: Iterable[ContractDay]) -> dict[Place, list[ContractDay]]:
    found: dict[Place, list[ContractDay]] = {}
    for one in activity:
        found.setdefault((one.contract, one.target), []).append(one)
    return found


def _days(activity: Iterable[ContractDay], shown: Sequence[date]) -> list[Day]:
    counts = {day: {"published": 0, "rejected": 0, "failed": 0, "running": 0} for day in shown}
    for one in activity:
        if (of_day := counts.get(one.day)) is not None:
            of_day[_KINDS.get(one.state, "running")] += one.attempts
    return [Day.model_construct(None, day=day, **each) for day, each in counts.items()]  # counted here, nothing to check


def _pass_rate(activity: Iterable[ContractDay]) -> float | None:
    ended = [a for a in activity if a.state in _ENDED]
    total = sum(a.attempts for a in ended)
    return sum(a.attempts for a in ended if a.state in _ACCEPTED) / total if total else None


def _rejection(count: RuleCount) -> RuleRejections:
    return RuleRejections.model_validate(count)
