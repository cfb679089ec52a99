"""Attempts and publications with all that belongs to them, in a fixed number of queries however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, select

from invaract_orchestration.audit.log import AttemptView, PublishedView
from invaract_orchestration.audit.records import ContractVersion
from invaract_orchestration.errors import AuditError
from invaract_orchestration.stores import models, rows
from invaract_orchestration.stores.queries import Stored, fetch
from invaract_orchestration.stores.rows import no_record

_NO_RECORD = (ValueError, TypeError, KeyError)
"""What reading a row raises that someone changed or removed by hand."""
_CHUNK = 500  # SQLite allows a limited number of parameters in a statement


def load_views(connection: Connection, attempt_ids: Sequence[str], *, with_results: bool) -> list[AttemptView]:
    """The attempts in the order of their ids; the last verdict and outcome of each, results only when asked for.

    Raises:
        AuditError: a row of theirs is no record any more.
    """
    views: list[AttemptView] = []
    with suppress(*_NO_RECORD):
        for start in range(0, len(attempt_ids), _CHUNK):
            page = attempt_ids[start : start + _CHUNK]
            loaded = _Page(connection, page, with_results=with_results)
            views.extend(loaded.view(attempt_id) for attempt_id in page)
        return views
    raise no_record()


def load_readable(
    connection: Connection, attempt_ids: Sequence[str], *, with_results: bool
) -> tuple[list[AttemptView], list[str]]:
    """The attempts whose rows are still records, and the ids of the others."""
    try:
        return load_views(connection, attempt_ids, with_results=with_results), []
    except AuditError:
        if len(attempt_ids) == 1:
            return [], list(attempt_ids)
    views: list[AttemptView] = []
    unreadable: list[str] = []
    for attempt_id in attempt_ids:
        found, broken = load_readable(connection, [attempt_id], with_results=with_results)
        views += found
        unreadable += broken
    return views, unreadable


def published_views(
    connection: Connection, condition: ColumnElement[bool], limit: int | None = None
) -> list[PublishedView]:
    """Publications that meet a condition on publication and submission, the last recorded first."""
    query = (
        select(models.publication)
        .join(models.submission, models.submission.c.submission_id == models.publication.c.submission_id)
        .where(condition)
        .order_by(models.publication.c.position.desc())
        .limit(limit)
    )
    with suppress(*_NO_RECORD):
        found = fetch(connection, query)
        submissions: dict[str, Stored] = {}
        for start in range(0, len(found), _CHUNK):
            ids = [row["submission_id"] for row in found[start : start + _CHUNK]]
            submissions |= _by(connection, models.submission, "submission_id", ids)
        return [
            PublishedView(
                submission=rows.submission_of(submissions[row["submission_id"]]), publication=rows.publication_of(row)
            )
            for row in found
        ]
    raise no_record()


class _Page:
    """The rows of some attempts, by attempt."""

    def __init__(self, connection: Connection, ids: Sequence[str], *, with_results: bool) -> None:
        self._attempts = _by(connection, models.attempt, "attempt_id", ids)
        self._states = _by(connection, models.attempt_state, "attempt_id", ids)
        self._contexts = _grouped(connection, _of(models.attempt_context, ids))
        self._events = _grouped(connection, _events(ids))
        # numbered upwards: the last one wins
        self._verdicts = {row["attempt_id"]: row for row in _ordered(connection, models.verdict, ids)}
        self._outcomes = {row["attempt_id"]: row for row in _ordered(connection, models.outcome, ids)}
        self._results = _grouped(connection, _results(ids)) if with_results else {}
        submission_ids = list({row["submission_id"] for row in self._attempts.values()})
        self._submissions = {
            key: rows.submission_of(row)
            for key, row in _by(connection, models.submission, "submission_id", submission_ids).items()
        }
        self._publications = {
            key: rows.publication_of(row)
            for key, row in _by(connection, models.publication, "submission_id", submission_ids).items()
        }
        self._versions = _versions(connection, {(row["contract"], row["version"]) for row in self._attempts.values()})

    def view(self, attempt_id: str) -> AttemptView:
        row = self._attempts[attempt_id]
        context = {each["name"]: each["value"] for each in self._contexts.get(attempt_id, ())}
        verdict, outcome = self._verdicts.get(attempt_id), self._outcomes.get(attempt_id)
        published = self._publications.get(row["submission_id"])
        return AttemptView(
            submission=self._submissions[row["submission_id"]],
            attempt=rows.attempt_of(row, self._versions[row["contract"], row["version"]], context),
            state=self._states[attempt_id]["state"],
            events=tuple(rows.event_of(each) for each in self._events.get(attempt_id, ())),
            verdict=None if verdict is None else rows.verdict_of(verdict, self._results_of(verdict)),
            outcome=None if outcome is None else rows.outcome_of(outcome, published),
        )

    def _results_of(self, verdict: Stored) -> list[Stored]:
        return [row for row in self._results.get(verdict["attempt_id"], ()) if row["verdict"] == verdict["ordinal"]]


def _of(table: Table, ids: Sequence[str]) -> Select[Any]:
    return select(table).where(table.c.attempt_id.in_(ids))


def _events(ids: Sequence[str]) -> Select[Any]:
    table = models.event
    columns = (table.c.attempt_id, table.c.state, table.c.at, table.c.message, table.c.detail)
    return select(*columns).where(table.c.attempt_id.in_(ids)).order_by(table.c.position)


def _results(ids: Sequence[str]) -> Select[Any]:
    return _of(models.check_result, ids).order_by(models.check_result.c.ordinal)


def _ordered(connection: Connection, table: Table, ids: Sequence[str]) -> list[Stored]:
    return fetch(connection, _of(table, ids).order_by(table.c.ordinal))


def _by(connection: Connection, table: Table, key: str, ids: Sequence[str]) -> dict[str, Stored]:
    return {row[key]: row for row in fetch(connection, select(table).where(table.c[key].in_(ids)))}


def _grouped(connection: Connection, query: Select[Any]) -> dict[str, list[Stored]]:
    groups: dict[str, list[Stored]] = {}
    for row in fetch(connection, query):
        groups.setdefault(row["attempt_id"], []).append(row)
    return groups


def _versions(connection: Connection, keys: set[tuple[str, str]]) -> dict[tuple[str, str], ContractVersion]:
    table = models.contract_version
    # more than the pairs asked for, but by the index: SQLite scans the table for a list of pairs
    names, versions = {contract for contract, _ in keys}, {version for _, version in keys}
    query = select(table).where(table.c.contract.in_(names), table.c.version.in_(versions))
    return {(row["contract"], row["version"]): rows.contract_of(row) for row in fetch(connection, query)}
