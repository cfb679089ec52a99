"""The chain as it is stored now, read raw: digests are made over what a table holds, not over a record made of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, select, type_coerce
from sqlalchemy.types import NullType

from invaract_orchestration.audit.browse import DAG
from invaract_orchestration.audit.chain import Head, Link, row_digest
from invaract_orchestration.stores import models
from invaract_orchestration.stores.places import attempt_digest, place_of
from invaract_orchestration.stores.queries import Stored, fetch

_PAGE = 400
_CONTENT = ("attempt_id", "state", "at", "message", "detail", "kind", "covers")
_SEARCHED_FOR_STRAYS = tuple(
    table for table in models.APPEND_ONLY if table not in {models.event, models.attempt_context, models.check_result}
)


class SqlChain:
    """A `ChainSource` over one connection, whose transaction is the snapshot."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._hashes: dict[str, int] | None = None

    def head(self) -> Head | None:
        """The recorded head."""
        heads = fetch(self._connection, _raw(models.chain_head).order_by(models.chain_head.c.position.desc()))
        return Head(**heads[0]) if heads else None

    def links(self) -> Iterator[Link]:
        """Every event by position, page by page."""
        table = models.event
        position: int | None = None
        while True:
            query = _raw(table).order_by(table.c.position).limit(_PAGE)
            page = fetch(self._connection, query if position is None else query.where(table.c.position > position))
            if not page:
                return
            digests = self._digests(page)
            yield from (_link(row, digests) for row in page)
            position = page[-1]["position"]

    def position_of(self, link: str) -> int | None:
        """The position of the event with this hash."""
        if self._hashes is None:
            query = select(models.event.c.hash, models.event.c.position)
            self._hashes = {row.hash: row.position for row in self._connection.execute(query)}
        return self._hashes.get(link)

    def strays(self, covered: frozenset[str]) -> Iterator[str]:
        """Places of rows that no event covers."""
        for table in _SEARCHED_FOR_STRAYS:
            for row in fetch(self._connection, select(*table.primary_key.columns)):
                if place_of(table, row) not in covered:
                    yield place_of(table, row)
        verdict, result = models.verdict.c, models.check_result.c
        yield from self._orphans(
            models.check_result, models.verdict, (verdict.attempt_id == result.attempt_id) & (verdict.ordinal == result.verdict)
        )
        for table in (models.attempt_context, models.attempt_state):
            yield from self._orphans(table, models.attempt, models.attempt.c.attempt_id == table.c.attempt_id)
        heads = fetch(self._connection, select(models.chain_head).order_by(models.chain_head.c.position.desc()))
        yield from (place_of(models.chain_head, head) for head in heads[1:])

    def stale_states(self) -> Iterator[str]:
        """Attempts whose listed state is not that of their last event, or that are not listed as they are."""
        event, state, attempt, submission = models.event, models.attempt_state, models.attempt, models.submission
        last = (
            select(event.c.state).where(event.c.attempt_id == attempt.c.attempt_id)
            .order_by(event.c.position.desc()).limit(1).scalar_subquery()
        )  # fmt: skip
        copied = ("position", "submission_id", "contract", "kind", "started_at")
        day = models.day_in_utc(attempt.c.started_at, self._connection.dialect.name)
        differs = state.c.state.is_distinct_from(last) | state.c.target.is_distinct_from(submission.c.target)
        context = models.attempt_context.c
        dag = select(context.value).where(context.attempt_id == attempt.c.attempt_id, context.name == DAG).scalar_subquery()
        made = models.publication.c
        of_attempt = (made.submission_id == attempt.c.submission_id) & (made.attempt_id == attempt.c.attempt_id)
        published = select(made.position).where(of_attempt).scalar_subquery()
        differs |= state.c.day.is_distinct_from(day) | state.c.dag_id.is_distinct_from(dag)
        differs |= state.c.published.is_distinct_from(published)
        for name in copied:
            differs |= state.c[name].is_distinct_from(attempt.c[name])
        joined = attempt.outerjoin(state, state.c.attempt_id == attempt.c.attempt_id).outerjoin(
            submission, submission.c.submission_id == attempt.c.submission_id
        )
        query = select(attempt.c.attempt_id).select_from(joined).where(differs).order_by(attempt.c.attempt_id)
        yield from (f"attempt_state {attempt_id}" for attempt_id in self._connection.scalars(query))

    def _orphans(self, table: Table, owner: Table, belongs: ColumnElement[bool]) -> Iterator[str]:
        joined = table.outerjoin(owner, belongs)
        query = select(*table.primary_key.columns).select_from(joined).where(owner.c.attempt_id.is_(None))
        for row in fetch(self._connection, query):
            yield place_of(table, row)

    def _digests(self, events: Sequence[Stored]) -> _Digests:
        """Digests of all rows that these events may cover."""
        ids = {row["attempt_id"] for row in events if row["attempt_id"] is not None}
        attempts = self._rows(models.attempt, "attempt_id", ids)
        digests = _Digests()
        digests.by_place |= self._attempt_digests(attempts, ids)
        submissions = {row["submission_id"] for row in attempts}
        for table, key, values in (
            (models.contract_version, "contract", {row["contract"] for row in attempts}),
            (models.submission, "submission_id", submissions),
            (models.publication, "submission_id", submissions),
            (models.verdict, "attempt_id", ids),
            (models.outcome, "attempt_id", ids),
            (models.waiver, "position", {row["position"] for row in events if row["kind"] == "waiver"}),
        ):
            for row in self._rows(table, key, values):
                digests.by_place[place_of(table, row)] = row_digest(row)
        for row in self._rows(models.check_result, "attempt_id", ids):
            digests.add_result(row)
        return digests

    def _attempt_digests(self, attempts: Sequence[Stored], ids: set[str]) -> dict[str, str]:
        contexts: dict[str, dict[str, str]] = {}
        for row in self._rows(models.attempt_context, "attempt_id", ids):
            contexts.setdefault(row["attempt_id"], {})[row["name"]] = row["value"]
        return {
            place_of(models.attempt, row): attempt_digest(row, contexts.get(row["attempt_id"], {})) for row in attempts
        }

    def _rows(self, table: Table, key: str, values: set[Any]) -> Sequence[Stored]:
        if not values:
            return ()
        return fetch(self._connection, _raw(table).where(table.c[key].in_(values)))


class _Digests:
    """Digests by place; results by the verdict they belong to as well, so that one too many is noticed."""

    def __init__(self) -> None:
        self.by_place: dict[str, str] = {}
        self._of_verdict: dict[str, dict[str, str]] = {}

    def add_result(self, row: Stored) -> None:
        verdict = f"{models.verdict.name} {row['attempt_id']}/{row['verdict']}"
        self._of_verdict.setdefault(verdict, {})[place_of(models.check_result, row)] = row_digest(row)

    def of(self, covers: Mapping[str, str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for place in covers:
            found |= self._of_verdict.get(place, {})
            if place in self.by_place:
                found[place] = self.by_place[place]
        return found


def _link(row: Stored, digests: _Digests) -> Link:
    covers = _covers(row["covers"])
    return Link(
        position=row["position"], previous=row["previous"], hash=row["hash"],
        content={name: row[name] for name in _CONTENT}, covers=covers, found=digests.of(covers),
    )  # fmt: skip


def _covers(stored: Any) -> dict[str, str]:
    try:
        covers = json.loads(stored)
    except (TypeError, ValueError):
        return {}  # edited: the event's own hash tells
    return covers if isinstance(covers, dict) else {}


def _raw(table: Table) -> Any:  # a Select, whose type parameters differ between SQLAlchemy's versions
    """The table's columns as the driver gives them."""
    return select(*(type_coerce(column, NullType()).label(column.name) for column in table.columns))
