"""One entry in the chain: the rows written together, and the event that vouches for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC

from sqlalchemy import Connection, Table, insert, select, update

from invaract_orchestration.audit.browse import DAG
from invaract_orchestration.audit.chain import canonical_json, link_hash, row_digest
from invaract_orchestration.audit.records import SETTLED, Submission
from invaract_orchestration.errors import AuditError
from invaract_orchestration.stores import models
from invaract_orchestration.stores.places import attempt_digest, key_of, place_of
from invaract_orchestration.stores.queries import Stored, fetch
from invaract_orchestration.stores.rows import Values


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What an attempt is about."""

    submission_id: str
    contract: str


class Entry:
    """The next link of the chain, while its transaction runs; holding the head keeps every other writer out."""

    def __init__(self, connection: Connection, kind: str) -> None:
        heads = fetch(connection, select(models.chain_head).with_for_update())
        if len(heads) != 1:
            raise AuditError("The audit has lost the head of its chain", hint="run `invaract audit verify`")
        self.position: int = heads[0]["position"] + 1
        self._previous: str = heads[0]["hash"]
        self._connection = connection
        self._kind = kind
        self._covers: dict[str, str] = {}
        self._state: str | None = None

    def find(self, table: Table, row: Values) -> Stored | None:
        """The stored row with the same key."""
        condition = [table.c[name] == value for name, value in key_of(table, row).items()]
        return next(iter(fetch(self._connection, select(table).where(*condition))), None)

    def put(self, table: Table, row: Values, *, same: Sequence[str]) -> tuple[str, ...]:
        """Insert the row unless its key is there; returns which of the columns `same` differ from what is there."""
        known = self.find(table, row)
        if known is None:
            self.insert(table, row)
            return ()
        self._covers[place_of(table, known)] = row_digest(known)
        return differing(known, row, same)

    def insert(self, table: Table, *rows: Values) -> None:
        """Insert the rows and cover them."""
        if rows:
            self._connection.execute(insert(table), list(rows))
        self._covers |= {place_of(table, row): row_digest(row) for row in rows}

    def insert_attempt(self, row: Values, context: Sequence[Values], submission: Submission) -> None:
        """Insert an attempt with its context, and the state that listings read."""
        self._connection.execute(insert(models.attempt), row)
        if context:
            self._connection.execute(insert(models.attempt_context), context)
        named = {each["name"]: each["value"] for each in context}
        self._covers[place_of(models.attempt, row)] = attempt_digest(row, named)
        names = ("attempt_id", "position", "submission_id", "contract", "kind", "started_at")
        day = row["started_at"].astimezone(UTC).date().isoformat()
        own = {"target": submission.target, "state": "", "day": day, "dag_id": named.get(DAG)}
        state = {name: row[name] for name in names} | own
        self._connection.execute(insert(models.attempt_state), state)

    def mark_published(self, attempt_id: str, submission_id: str) -> None:
        """Note beside the attempt's state what it published; nothing when the attempt is not recorded here."""
        state, made = models.attempt_state, models.publication
        position = select(made.c.position).where(made.c.submission_id == submission_id).scalar_subquery()
        of_attempt = (state.c.attempt_id == attempt_id) & (state.c.submission_id == submission_id)
        self._connection.execute(update(state).where(of_attempt).values(published=position))

    def follow(self, attempt_id: str) -> Subject:
        """Read where the attempt stands. Raises when it is not recorded."""
        state = models.attempt_state
        query = select(state.c.submission_id, state.c.contract, state.c.state).where(state.c.attempt_id == attempt_id)
        row = self._connection.execute(query).one_or_none()
        if row is None:
            raise AuditError(f"Attempt {attempt_id!r} is not recorded", hint="open the attempt first")
        self._state = row.state
        return Subject(submission_id=row.submission_id, contract=row.contract)

    def repeats(self, row: Values) -> bool:
        """Whether this very step is recorded."""
        event = models.event
        condition = [event.c[name] == value for name, value in row.items()]
        return self._connection.scalar(select(event.c.position).where(*condition).limit(1)) is not None

    def all_of(self, table: Table, attempt_id: str) -> Sequence[Stored]:
        """The attempt's rows in a table that numbers them."""
        query = select(table).where(table.c.attempt_id == attempt_id).order_by(table.c.ordinal)
        return fetch(self._connection, query)

    def results_of(self, attempt_id: str, verdict: int) -> Sequence[Stored]:
        """The results of one verdict, in order."""
        table = models.check_result
        query = select(table).where(table.c.attempt_id == attempt_id, table.c.verdict == verdict)
        return fetch(self._connection, query.order_by(table.c.ordinal))

    def context_of(self, attempt_id: str) -> dict[str, str]:
        """The attempt's context as it is stored."""
        table = models.attempt_context
        query = select(table.c.name, table.c.value).where(table.c.attempt_id == attempt_id)
        return {row.name: row.value for row in self._connection.execute(query)}

    def commit(self, event: Values) -> None:
        """Append the event that covers what was inserted, and move the head and the attempt's state on."""
        if self._state in SETTLED and event["state"] != self._state:
            raise AuditError(
                f"Attempt {event['attempt_id']!r} is settled as {self._state} and cannot become {event['state']}",
                hint="a new try is a new attempt",
            )
        content = {**event, "kind": self._kind, "covers": canonical_json(self._covers)}
        link = link_hash(self._previous, content)
        chained = {**content, "position": self.position, "previous": self._previous, "hash": link}
        self._connection.execute(insert(models.event), chained)
        self._connection.execute(update(models.chain_head).values(position=self.position, hash=link))
        state = models.attempt_state
        if event["attempt_id"] is not None:
            moved = update(state).where(state.c.attempt_id == event["attempt_id"]).values(state=event["state"])
            self._connection.execute(moved)


def differing(known: Stored, row: Values, names: Sequence[str]) -> tuple[str, ...]:
    """The columns whose stored value is another one."""
    return tuple(name for name in names if known[name] != row[name])
