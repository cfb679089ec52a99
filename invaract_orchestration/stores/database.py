"""Transactions on the store's database: one writer at a time, one snapshot per reader, every wait bounded."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection, Engine

from invaract_orchestration.errors import AuditUnavailable
from invaract_orchestration.stores.failures import DRIVER_FAILURES, unavailable, was_stale
from invaract_orchestration.stores.watchdog import Watchdog

T = TypeVar("T")


class Database:
    """A database that is ready to use. `place` is its name in messages, `timeout` the seconds a wait may last."""

    def __init__(self, engine: Engine, place: str, timeout: float, *, is_read_only: bool = False) -> None:
        self.place = place
        self.timeout = timeout
        self._engine = engine
        self._is_read_only = is_read_only
        weakref.finalize(self, engine.dispose)

    def __repr__(self) -> str:
        return f"Database({self.place!r})"

    def read(self, work: Callable[[Connection], T], *, is_bounded: bool = True) -> T:
        """Run `work` on one snapshot; `is_bounded=False` for work that may take long, as a whole or in one
        statement; it waits for nobody's lock any longer for that."""
        return self._run(work, writing=False, is_bounded=is_bounded)

    def write(self, work: Callable[[Connection], T], *, is_bounded: bool = True) -> T:
        """Run `work` in one transaction; no other one writes meanwhile. `is_bounded=False` as for `read`.

        Raises `AuditUnavailable` when nothing was written, or when the connection was lost while committing: whether it
        landed is not known then, and the same record may be written again.
        """
        if self._is_read_only:
            raise AuditUnavailable(f"The audit store {self.place} is open read-only", hint="open it for writing")
        return self._run(work, writing=True, is_bounded=is_bounded)

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()

    def _run(self, work: Callable[[Connection], T], *, writing: bool, is_bounded: bool) -> T:
        for is_last in (False, True):
            watchdog = Watchdog(self.timeout + 1 if is_bounded else None)
            try:
                with self._engine.connect() as connection:
                    _prepare(connection, writing=writing, is_bounded=is_bounded)
                    with watchdog.over(connection), connection.begin():
                        return work(connection)
            except DRIVER_FAILURES as error:
                failure = unavailable(error, self.place, self.timeout, was_cut=watchdog.has_cut)
                if is_last or watchdog.has_cut or not was_stale(error):
                    break
        raise failure


def _prepare(connection: Connection, *, writing: bool, is_bounded: bool) -> None:
    connection.execution_options(invaract_writing=writing, invaract_bounded=is_bounded)
    if connection.dialect.name == "postgresql":
        # A reader sees one state throughout; a writer waits for the chain's head, then sees what was committed before.
        level = "READ COMMITTED" if writing else "REPEATABLE READ"
        connection.execution_options(isolation_level=level, postgresql_readonly=not writing)
