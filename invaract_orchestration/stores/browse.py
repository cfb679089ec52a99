"""Reads pages and figures for the audit pages, each for what one viewer may see."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from statistics import median
from typing import Any

from sqlalchemy import Connection, Select, func, select

from invaract_orchestration.audit.browse import (
    TOTAL_LIMIT,
    ContractDay,
    Delay,
    RunFilter,
    RunPage,
    Scope,
    Standing,
)
from invaract_orchestration.audit.log import RuleCount
from invaract_orchestration.stores import conditions, models, statistics
from invaract_orchestration.stores.database import Database
from invaract_orchestration.stores.statuses import contract_statuses
from invaract_orchestration.stores.views import load_readable

_DELAYS_OVER = 20
"""The delay of a contract is the median over so many of its last publications."""

_state = models.attempt_state.c


class SqlAuditBrowser:
    """An `AuditBrowser`. Every method reads one snapshot, in a fixed number of queries."""

    _database: Database

    def runs(
        self,
        wanted: RunFilter,
        scope: Scope,
        *,
        limit: int = 50,
        before: str | None = None,
        after: str | None = None,
        with_results: bool = False,
    ) -> RunPage:
        """A page of attempts, the last recorded first."""
        query = select(_state.attempt_id).where(*conditions.wanted_by(wanted), *conditions.visible(scope))
        return self._database.read(
            lambda connection: _page(connection, query, limit, before, after, with_results=with_results)
        )

    def standing(self, scope: Scope) -> Standing:
        """Where every contract stands."""
        unreadable: list[str] = []
        found = self._database.read(lambda connection: contract_statuses(connection, scope, unreadable))
        return Standing(contracts=tuple(found), unreadable=tuple(dict.fromkeys(unreadable)))

    def activity(self, scope: Scope, *, since: datetime, contract: str | None = None) -> Sequence[ContractDay]:
        """Attempts of `run` by contract, day and state, the first day first."""
        period = [*statistics.period(contract, since, None), *conditions.visible(scope)]
        return self._database.read(lambda connection: _activity(connection, period))

    def rejections(self, scope: Scope, *, since: datetime, contract: str | None = None) -> Sequence[RuleCount]:
        """Checks that had attempts of `run` rejected, the most frequent first."""
        period = [*statistics.period(contract, since, None), *conditions.visible(scope)]
        return self._database.read(lambda connection: statistics.rejections_by_rule(connection, period))

    def delays(self, scope: Scope, *, since: datetime) -> Sequence[Delay]:
        """How long submissions took, by contract and target."""
        query = _receipts(scope, since)
        return self._database.read(lambda connection: _medians(connection.execute(query)))

    def environments(self) -> Sequence[str]:
        """Every environment that an attempt named."""
        column = models.attempt.c.environment
        query = select(column).where(column.is_not(None)).distinct().order_by(column)
        return self._database.read(lambda connection: [str(name) for name in connection.scalars(query)])


def _page(
    connection: Connection, query: Select[Any], limit: int, before: str | None, after: str | None, *, with_results: bool
) -> RunPage:
    total = connection.scalar(select(func.count()).select_from(query.limit(TOTAL_LIMIT).subquery())) or 0
    if after is not None:
        newer = query.where(_state.position > conditions.position_of(after)).order_by(_state.position)
        ids = list(reversed(connection.scalars(newer.limit(limit + 1)).all()))
        has_newer, has_older = len(ids) > limit, bool(ids)
        ids = ids[-limit:]
    else:
        if before is not None:
            query = query.where(_state.position < conditions.position_of(before))
        ids = list(connection.scalars(query.order_by(_state.position.desc()).limit(limit + 1)))
        has_newer, has_older = before is not None and bool(ids), len(ids) > limit
        ids = ids[:limit]
    runs, unreadable = load_readable(connection, ids, with_results=with_results)
    return RunPage(
        runs=tuple(runs), unreadable=tuple(unreadable), total=total, newer=ids[0] if has_newer else None,
        older=ids[-1] if has_older else None,
    )  # fmt: skip


def _activity(connection: Connection, period: list[Any]) -> list[ContractDay]:
    day = statistics.day_of(connection).label("day")
    by = (_state.contract, _state.target, day, _state.state)
    query = select(*by, func.count().label("attempts")).where(*period).group_by(*by).order_by(day, _state.contract)
    return [
        ContractDay(
            contract=row.contract, target=row.target, day=date.fromisoformat(str(row.day)), state=row.state,
            attempts=row.attempts,
        )
        for row in connection.execute(query)
    ]  # fmt: skip


def _receipts(scope: Scope, since: datetime) -> Select[Any]:
    """When each of the last publications was received and committed."""
    publication, earlier = models.publication.c, models.attempt_state.alias().c
    rank = func.row_number().over(
        partition_by=(publication.contract, publication.target), order_by=publication.position.desc()
    )
    ranked = (
        select(publication.contract, publication.target, publication.submission_id, publication.committed_at)
        .add_columns(rank.label("rank"))
        .where(publication.committed_at >= since, *conditions.visible(scope, publication.attempt_id))
        .subquery()
    )
    first = select(func.min(earlier.started_at)).where(earlier.submission_id == ranked.c.submission_id)
    received = first.scalar_subquery().label("received_at")
    return select(ranked.c.contract, ranked.c.target, received, ranked.c.committed_at).where(
        ranked.c.rank <= _DELAYS_OVER
    )


def _medians(found: Any) -> list[Delay]:
    seconds: dict[tuple[str, str], list[float]] = {}
    for row in found:
        if row.received_at is not None:
            took = (row.committed_at - row.received_at).total_seconds()
            seconds.setdefault((row.contract, row.target), []).append(max(took, 0.0))
    return [
        Delay(contract=contract, target=target, median=timedelta(seconds=median(each)), publications=len(each))
        for (contract, target), each in sorted(seconds.items())
    ]
