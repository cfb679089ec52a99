"""Counts over many attempts, made by the database."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, exists, false, func, select

from invaract_orchestration.audit.log import RuleCount
from invaract_orchestration.stores import models
from invaract_orchestration.stores.models import zoned

_state = models.attempt_state.c
_result = models.check_result.c


def period(contract: str | None, since: datetime | None) -> list[ColumnElement[bool]]:
    """Conditions on attempts of `run`; what is null does not restrict."""
    conditions: list[ColumnElement[bool]] = [_state.kind == "run"]
    if contract is not None:
        conditions.append(_state.contract == contract)
    if since is not None:
        conditions.append(_state.started_at >= zoned(since))
    return conditions


def days_from(contract: str | None, since: datetime) -> list[ColumnElement[bool]]:
    """Conditions on attempts of `run` that started then or later; by the index of days alone when that is a midnight in UTC."""
    first = since.astimezone(UTC)
    is_midnight = first.time() == datetime.min.time()
    return [*period(contract, None if is_midnight else since), _state.day >= first.date().isoformat()]


def rejections_by_rule(connection: Connection, conditions: list[ColumnElement[bool]]) -> list[RuleCount]:
    """Blocking checks of the last verdict of rejected attempts, the most frequent first."""
    later = models.verdict.alias().c
    is_last = ~exists().where(later.attempt_id == _result.attempt_id, later.ordinal > _result.verdict)
    attempts = func.count().label("attempts")
    query = (
        select(_state.contract, _result.check_id, attempts, func.coalesce(func.sum(_result.failed), 0).label("failed"))
        .join_from(models.check_result, models.attempt_state, _state.attempt_id == _result.attempt_id)
        .where(_result.outcome != "kept", _result.severity == "error", _result.is_set_aside == false(), _result.waiver.is_(None))
        .where(_state.state == "rejected", is_last, *conditions)
        .group_by(_state.contract, _result.check_id)
        .order_by(attempts.desc(), _state.contract, _result.check_id)
    )
    return [
        RuleCount(contract=row.contract, check=row.check_id, attempts=row.attempts, failed=int(row.failed))
        for row in connection.execute(query)
    ]
