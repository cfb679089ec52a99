"""The last publications of each contract and target that a viewer may see.

For a viewer of some DAGs they are looked for among the attempts, whose index holds the DAG: one of few DAGs is not answered by
looking at every publication there is.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import CTE, ColumnElement, FromClause, Select, func, select

from invaract_orchestration.audit.browse import Scope
from invaract_orchestration.stores import models
from invaract_orchestration.stores.conditions import visible

_AT_ONCE = 20
"""So many attempts may overlap: the last publication is made by one of the last so many that published."""


def newest_publications(scope: Scope) -> Select[Any]:
    """The submission of the last one, by contract and target; null where the scope holds none."""
    places, newest = _places(), models.publication.alias()
    made, order, of_place = _made_in(places, scope)
    last = select(made.c.position).where(*of_place).order_by(order.desc()).limit(_AT_ONCE).correlate(places).subquery("last")
    position = select(func.max(last.c.position)).correlate(places).scalar_subquery()
    here = (newest.c.contract == places.c.contract) & (newest.c.target == places.c.target)
    found = select(newest.c.submission_id).where(here, newest.c.position == position)
    return select(found.correlate(places).scalar_subquery()).select_from(places)


def last_publications(scope: Scope, count: int) -> Select[Any]:
    """Contract, target, submission and time of commit of the last `count` of each contract and target."""
    places = _places()
    _, order, of_place = _made_in(places, scope)
    first = select(order).where(*of_place).order_by(order.desc()).limit(1).offset(count - 1).correlate(places)
    known = select(places, func.coalesce(first.scalar_subquery(), 0).label("first")).cte("known")
    known = known.prefix_with("MATERIALIZED")  # else the first is looked for again for every publication
    made, order, of_place = _made_in(known, scope)
    query = select(made.c.contract, made.c.target, made.c.submission_id, made.c.committed_at).select_from(known)
    return query.where(*of_place, order >= known.c.first)


def _places() -> CTE:
    made = models.publication.c
    return select(made.contract, made.target).distinct().cte("places")


def _made_in(places: CTE, scope: Scope) -> tuple[FromClause, ColumnElement[int], list[ColumnElement[bool]]]:
    """Publications, what they are ordered by, and the conditions for those of a place that the scope holds."""
    made, state = models.publication.alias(), models.attempt_state.alias()
    seen = visible(scope, state.c.dag_id)
    if not seen:
        return made, made.c.position, [made.c.contract == places.c.contract, made.c.target == places.c.target]
    is_published = func.coalesce(state.c.state, "") == "published"  # SQLite would take the index of states: most are published
    return made, state.c.position, [
        state.c.contract == places.c.contract, state.c.target == places.c.target, state.c.kind == "run", is_published, *seen,
        made.c.submission_id == state.c.submission_id, made.c.attempt_id == state.c.attempt_id,
    ]  # fmt: skip
