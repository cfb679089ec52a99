"""Reads the audit for people: history, one attempt, where contracts stand, and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, select

from invaract_orchestration.audit.log import AttemptView, ContractStatus
from invaract_orchestration.audit.records import ContractVersion
from invaract_orchestration.stores import models, rows
from invaract_orchestration.stores.conditions import found, in_context, position_of, starts
from invaract_orchestration.stores.database import Database
from invaract_orchestration.stores.queries import fetch
from invaract_orchestration.stores.statuses import contract_statuses
from invaract_orchestration.stores.views import load_views

_state = models.attempt_state.c


class SqlAuditReader:
    """Every method reads one snapshot, in a fixed number of queries."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def attempts(
        self,
        *,
        contract: str | None = None,
        submission_id: str | None = None,
        states: Sequence[str] = (),
        limit: int = 50,
        before: str | None = None,
        target: str | None = None,
        kind: str | None = None,
        search: str | None = None,
        context: Mapping[str, str] | None = None,
    ) -> Sequence[AttemptView]:
        """Attempts, the last recorded first; results are left out of the verdicts. See `AuditReader`."""
        query = select(_state.attempt_id).order_by(_state.position.desc()).limit(limit)
        equal = {"contract": contract, "submission_id": submission_id, "target": target, "kind": kind}
        query = query.where(*(_state[name] == value for name, value in equal.items() if value is not None))
        if states:
            query = query.where(_state.state.in_(states))
        if before is not None:
            query = query.where(_state.position < position_of(before))
        if search:
            query = query.where(found(search))
        query = query.where(*(in_context(name, value) for name, value in (context or {}).items()))
        return self._database.read(
            lambda connection: load_views(connection, connection.scalars(query).all(), with_results=False)
        )  # fmt: skip

    def attempt(self, attempt_id: str) -> AttemptView | None:
        """One attempt whole; a prefix that fits one attempt alone is enough."""
        return self._database.read(lambda connection: _attempt(connection, attempt_id))

    def statuses(self) -> Sequence[ContractStatus]:
        """Every contract known, by name and target."""
        return self._database.read(contract_statuses)

    def contract_versions(self, contract: str) -> Sequence[ContractVersion]:
        """Versions of a contract, the last recorded first."""
        table = models.contract_version
        query = select(table).where(table.c.contract == contract).order_by(table.c.position.desc())
        return self._database.read(lambda connection: [rows.contract_of(row) for row in fetch(connection, query)])


def _attempt(connection: Connection, attempt_id: str) -> AttemptView | None:
    column = models.attempt.c.attempt_id
    fitting = connection.scalars(select(column).where(starts(column, attempt_id)).order_by(column).limit(2)).all()
    if not fitting or (len(fitting) > 1 and fitting[0] != attempt_id):
        return None
    return load_views(connection, fitting[:1], with_results=True)[0]
