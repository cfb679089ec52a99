"""Reads pages and figures for the audit pages, each for what one viewer may see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from functools import lru_cache
from statistics import median
from typing import Any

from sqlalchemy import Connection, Select, func, select, type_coerce
from sqlalchemy.types import NullType

from invaract_orchestration.audit.browse import (
    TOTAL_LIMIT,
    Choices,
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
from invaract_orchestration.stores.models import moment
from invaract_orchestration.stores.publications import last_publications
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
        """Attempts of `run` by contract, day and state, in no order."""
        period = [*statistics.days_from(contract, since), *conditions.visible(scope)]
        return self._database.read(lambda connection: _activity(connection, period))

    def rejections(self, scope: Scope, *, since: datetime, contract: str | None = None) -> Sequence[RuleCount]:
        """Checks that had attempts of `run` rejected, the most frequent first."""
        period = [*statistics.period(contract, since), *conditions.visible(scope)]
        return self._database.read(lambda connection: statistics.rejections_by_rule(connection, period))

    def delays(self, scope: Scope, *, since: datetime) -> Sequence[Delay]:
        """How long submissions took, by contract and target."""
        query = _receipts(scope, since)
        return self._database.read(lambda connection: _medians(connection.execute(query)))

    def choices(self, scope: Scope) -> Choices:
        """The contracts and environments that the viewer may see an attempt of."""

        def work(connection: Connection) -> Choices:
            contracts, environments = (connection.scalars(query).all() for query in (_contracts(scope), _environments(scope)))
            return Choices(contracts=tuple(contracts), environments=tuple(map(str, environments)))

        return self._database.read(work)


def _contracts(scope: Scope) -> Select[Any]:
    name, seen = models.contract_version.c.contract, conditions.visible(scope)
    first = select(_state.attempt_id).where(_state.contract == name, *seen).limit(1).correlate(models.contract_version)
    query = select(name).distinct().order_by(name)
    return query.where(first.scalar_subquery().is_not(None)) if seen else query


def _environments(scope: Scope) -> Select[Any]:
    attempt, seen = models.attempt.c, conditions.visible(scope)
    named = select(attempt.environment).where(attempt.environment.is_not(None)).distinct().cte("named")
    of_viewer = models.attempt.alias()
    first = (
        select(of_viewer.c.attempt_id).join(models.attempt_state, _state.attempt_id == of_viewer.c.attempt_id)
        .where(of_viewer.c.environment == named.c.environment, *seen).limit(1).correlate(named)
    )  # fmt: skip
    query = select(named.c.environment).order_by(named.c.environment)
    return query.where(first.scalar_subquery().is_not(None)) if seen else query


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
    by = (_state.day, _state.contract, _state.target, _state.state)  # in the order of their index
    query = select(*by, func.count()).where(*period).group_by(*by)
    return [
        ContractDay(contract=contract, target=target, state=state, attempts=attempts, day=found)
        for day, contract, target, state, attempts in connection.execute(query).all()
        if (found := _day(day)) is not None
    ]


@lru_cache(maxsize=1024)
def _day(text: str) -> date | None:
    """The day; null for a text that someone changed by hand."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _receipts(scope: Scope, since: datetime) -> Select[Any]:
    """When each of the last publications was received and committed."""
    made, earlier = last_publications(scope, _DELAYS_OVER).subquery("made").c, models.attempt_state.alias()
    received = select(func.min(earlier.c.started_at)).where(earlier.c.submission_id == made.submission_id)
    return select(
        made.contract, made.target, type_coerce(received.scalar_subquery(), NullType()),
        type_coerce(made.committed_at, NullType()),
    ).where(made.committed_at >= since)  # fmt: skip


def _medians(found: Iterable[Any]) -> list[Delay]:
    seconds: dict[tuple[str, str], list[float]] = {}
    for contract, target, received, committed in found:
        with suppress(ValueError, TypeError):  # a time that someone changed by hand
            took = (moment(committed) - moment(received)).total_seconds()
            seconds.setdefault((contract, target), []).append(max(took, 0.0))
    return [
        Delay(contract=contract, target=target, median=timedelta(seconds=median(each)), publications=len(each))
        for (contract, target), each in sorted(seconds.items())
    ]
