"""Where every contract stands, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Select, and_, func, select

from invaract_orchestration.audit.browse import EVERYTHING, Scope
from invaract_orchestration.audit.chain import utc_text
from invaract_orchestration.audit.log import AttemptView, ContractStatus, PublishedView
from invaract_orchestration.errors import AuditError
from invaract_orchestration.stores import models
from invaract_orchestration.stores.conditions import visible
from invaract_orchestration.stores.pairs import contract_targets
from invaract_orchestration.stores.publications import newest_publications
from invaract_orchestration.stores.queries import Stored, fetch
from invaract_orchestration.stores.views import load_readable, load_views, published_views

_DELIVERED = ("published", "no_op")
_BLOCKED = ("rejected", "conflict", "failed", "unknown")

_state = models.attempt_state.c


def contract_statuses(
    connection: Connection, scope: Scope = EVERYTHING, unreadable: list[str] | None = None
) -> list[ContractStatus]:
    """By contract and target, over the attempts of a scope. An attempt that is still running neither blocks nor delivers.

    Attempts that cannot be read are left out and added to `unreadable`; without that list they are an error.
    """
    found = fetch(connection, _landmarks(scope))
    wanted = {row[name] for row in found for name in ("last", "first_blocked", "last_blocked")} - {None}
    rows = connection.execute(select(_state.position, _state.attempt_id).where(_state.position.in_(wanted))).all()
    views = _views(connection, [row.attempt_id for row in rows], unreadable)
    by_position = {row.position: views[row.attempt_id] for row in rows if row.attempt_id in views}
    published = _last_published(connection, scope, unreadable)
    versions = _newest_versions(connection)
    return [_status(row, by_position, published, versions) for row in found]


def _views(connection: Connection, ids: list[str], unreadable: list[str] | None) -> dict[str, AttemptView]:
    if unreadable is None:
        views = load_views(connection, ids, with_results=False)
    else:
        views, broken = load_readable(connection, ids, with_results=False)
        unreadable += broken
    return {view.attempt.attempt_id: view for view in views}


def _status(
    row: Stored, attempts: Mapping[int | None, AttemptView], published: Mapping[tuple[str, str], PublishedView],
    versions: Mapping[str, str],
) -> ContractStatus:  # fmt: skip
    last, first_blocked, last_blocked = (
        attempts.get(row[name]) for name in ("last", "first_blocked", "last_blocked")
    )
    return ContractStatus(
        contract=row["contract"],
        target=row["target"],
        version=versions.get(row["contract"], "") if last is None else last.attempt.contract_version.version,
        last_attempt=last,
        last_published=published.get((row["contract"], row["target"])),
        blocked_since=None if first_blocked is None else utc_text(first_blocked.attempt.started_at),
        reasons=() if last_blocked is None else _reasons(last_blocked),
    )


def _reasons(view: AttemptView) -> tuple[str, ...]:
    if view.verdict is not None and not view.verdict.passed and view.verdict.reasons:
        return view.verdict.reasons
    if view.outcome is not None:
        return (view.outcome.code or view.outcome.message,)
    return (view.events[-1].message,) if view.events else ()


def _landmarks(scope: Scope) -> Select[Any]:
    """By contract and target, positions: of the last run, and of the first and last one blocked since one delivered."""
    delivered = models.attempt_state.alias()
    pairs = contract_targets(models.attempt_state, "pairs")
    last_delivered = (
        select(func.coalesce(func.max(delivered.c.position), 0))
        .where(delivered.c.contract == pairs.c.contract, delivered.c.target == pairs.c.target)
        .where(delivered.c.kind == "run", delivered.c.state.in_(_DELIVERED), *visible(scope, delivered.c.dag_id))
        .correlate(pairs).scalar_subquery()
    )  # fmt: skip
    known = select(pairs, last_delivered.label("delivered")).cte("known")
    of_pair = and_(
        _state.contract == known.c.contract, _state.target == known.c.target, _state.kind == "run", *visible(scope)
    )
    blocked = of_pair & (_state.position > known.c.delivered) & _state.state.in_(_BLOCKED)
    last = select(func.max(_state.position)).where(of_pair)
    first_blocked = select(func.min(_state.position)).where(blocked)
    last_blocked = select(func.max(_state.position)).where(blocked)
    seen = visible(scope)
    first = select(_state.attempt_id).where(_state.contract == known.c.contract, _state.target == known.c.target, *seen)
    of_viewer = first.limit(1).correlate(known).scalar_subquery().is_not(None)
    query = select(
        known.c.contract, known.c.target,
        last.correlate(known).scalar_subquery().label("last"),
        first_blocked.correlate(known).scalar_subquery().label("first_blocked"),
        last_blocked.correlate(known).scalar_subquery().label("last_blocked"),
    ).order_by(known.c.contract, known.c.target)  # fmt: skip
    return query.where(of_viewer) if seen else query


def _last_published(
    connection: Connection, scope: Scope, unreadable: list[str] | None
) -> dict[tuple[str, str], PublishedView]:
    submission_id = models.publication.c.submission_id
    views: list[PublishedView] = []
    try:
        views = published_views(connection, submission_id.in_(newest_publications(scope)))
    except AuditError:
        if unreadable is None:
            raise
        for newest in connection.scalars(newest_publications(scope)).all():
            try:
                views += published_views(connection, submission_id == newest)
            except AuditError:
                attempt = select(models.publication.c.attempt_id).where(submission_id == newest)
                unreadable += connection.scalars(attempt).all()
    return {(view.submission.contract, view.submission.target): view for view in views}


def _newest_versions(connection: Connection) -> dict[str, str]:
    table = models.contract_version.c
    query = select(table.contract, table.version).order_by(table.position)
    return {row.contract: row.version for row in connection.execute(query)}
