"""The last publications of each contract and target that a viewer may see.

For a viewer of some DAGs they are looked for among the attempts, which know the DAG; who sees everything sees publications of
attempts too that are not recorded here.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import CTE, ColumnElement, Select, func, select

from invaract_orchestration.audit.browse import Scope
from invaract_orchestration.stores import models
from invaract_orchestration.stores.conditions import visible
from invaract_orchestration.stores.pairs import contract_targets


def newest_publications(scope: Scope) -> Select[Any]:
    """The submission of the last one, by contract and target; null where the scope holds none."""
    places = _places()
    found = select(models.publication.c.submission_id).where(
        *_of(places, models.publication.c), models.publication.c.position == _position(places, scope, 1)
    )
    newest = select(found.correlate(places).scalar_subquery().label("submission_id")).select_from(places).cte("newest")
    return select(newest.prefix_with("MATERIALIZED").c.submission_id)  # else PostgreSQL looks for it more than once


def last_publications(scope: Scope, count: int) -> Select[Any]:
    """Contract, target, submission and time of commit of the last `count` of each contract and target."""
    places = _places()
    known = select(places, func.coalesce(_position(places, scope, count), 0).label("first")).cte("known")
    known = known.prefix_with("MATERIALIZED")  # else the first is looked for again for every publication
    made, state = models.publication.c, models.attempt_state.c
    query = select(made.contract, made.target, made.submission_id, made.committed_at).select_from(known)
    seen = visible(scope)
    if not seen:
        return query.where(*_of(known, made), made.position >= known.c.first)
    of_attempt = (made.submission_id == state.submission_id) & (made.position == state.published)
    return query.where(*_of(known, state), state.published >= known.c.first, *seen, of_attempt)


def _position(places: CTE, scope: Scope, count: int) -> Any:
    """The position of a place's last publication but so many; null where it has fewer."""
    state, made = models.attempt_state.alias(), models.publication.alias()
    seen = visible(scope, state.c.dag_id)
    table, position = (state, state.c.published) if seen else (made, made.c.position)
    query = select(position).where(*_of(places, table.c), position.is_not(None), *seen)
    return query.order_by(position.desc()).limit(1).offset(count - 1).correlate(places).scalar_subquery()


def _of(places: CTE, columns: Any) -> list[ColumnElement[bool]]:
    return [columns.contract == places.c.contract, columns.target == places.c.target]


def _places() -> CTE:
    return contract_targets(models.publication, "places")
