"""Conditions on attempts, as SQL."""

from __future__ import annotations

from sqlalchemy import Column, ColumnElement, Select, exists, or_, select

from invaract_orchestration.audit.browse import RunFilter, Scope
from invaract_orchestration.stores import models
from invaract_orchestration.stores.models import zoned

_state = models.attempt_state.c
_SEARCHED = (_state.contract, _state.target, _state.submission_id, _state.attempt_id)


def position_of(attempt_id: str) -> ColumnElement[int]:
    """The position of an attempt; null when there is none of that id."""
    table = models.attempt_state.alias()
    query: Select[tuple[int]] = select(table.c.position).where(table.c.attempt_id == attempt_id)
    return query.scalar_subquery()


def found(search: str) -> ColumnElement[bool]:
    """Attempts whose contract, target or id starts with a text."""
    return or_(*(starts(column, search) for column in _SEARCHED))


def starts(column: Column[str], prefix: str) -> ColumnElement[bool]:
    """A range rather than LIKE: it uses the index, and `%` and `_` mean themselves."""
    return (column >= prefix) & (column < prefix + "\U0010ffff")


def in_context(name: str, value: str) -> ColumnElement[bool]:
    """Attempts whose context holds a value. A list rather than `exists`, which SQLite would ask of every attempt."""
    context = models.attempt_context.c
    return _state.attempt_id.in_(select(context.attempt_id).where(context.name == name, context.value == value))


def visible(scope: Scope, dag_id: ColumnElement[str] = _state.dag_id) -> list[ColumnElement[bool]]:
    """The attempts of a scope, by the DAG that made them; no condition when it holds all of them."""
    if scope.includes_others:
        return [] if scope.dags is None else [dag_id.is_(None) | dag_id.in_(scope.dags)]
    return [dag_id.is_not(None) if scope.dags is None else dag_id.in_(scope.dags)]


def wanted_by(wanted: RunFilter) -> list[ColumnElement[bool]]:
    """The attempts that a filter leaves."""
    equal = ("contract", "target", "submission_id", "kind")
    conditions = [_state[name] == getattr(wanted, name) for name in equal if getattr(wanted, name) is not None]
    if wanted.states:
        conditions.append(_state.state.in_(wanted.states))
    if wanted.environment is not None:
        conditions.append(_in_environment(wanted.environment))
    if wanted.search:
        conditions.append(found(wanted.search))
    if wanted.since is not None:
        conditions.append(_state.started_at >= zoned(wanted.since))
    if wanted.until is not None:
        conditions.append(_state.started_at < zoned(wanted.until))
    if wanted.has_failing_rows:
        conditions.append(_has_failing_rows())
    return [*conditions, *(in_context(name, value) for name, value in wanted.context.items())]


def _in_environment(environment: str) -> ColumnElement[bool]:
    attempt = models.attempt.c
    return exists().where(attempt.attempt_id == _state.attempt_id, attempt.environment == environment)


def _has_failing_rows() -> ColumnElement[bool]:
    return _state.attempt_id.in_(select(models.outcome.c.attempt_id).where(models.HAS_FAILING_ROWS))
