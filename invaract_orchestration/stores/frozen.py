"""A SQLite file in a folder that this process may not write to, such as a mount that is read-only.

SQLite reads a file with a write-ahead log with the help of files beside it, which it makes where they are not there. Where it may
not, and no writer has left some, the file alone is the whole store, and is read as one that does not change: each transaction
opens it anew, and one during which it did change is an error.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, NullPool, create_engine, event

from invaract_orchestration.errors import AuditUnavailable

_Stamp = tuple[int, int, bool]


class _Frozen(sqlite3.Connection):
    """A connection that takes the file for one that does not change."""

    stamp: _Stamp | None = None


def frozen_sqlite(path: Path, timeout: float) -> Engine:
    """An engine that reads, with a connection of its own for each transaction."""
    engine = create_engine("sqlite://", creator=lambda: _connect(path, timeout), poolclass=NullPool)

    def commit(connection: Connection) -> None:
        own = connection.connection.driver_connection
        if isinstance(own, _Frozen) and own.stamp != _stamp(path):
            raise AuditUnavailable(f"The audit store {path} was written to while it was read", hint="read it again")

    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    event.listen(engine, "commit", commit)
    return engine


def _connect(path: Path, timeout: float) -> sqlite3.Connection:
    connection: sqlite3.Connection = _opened(path, "ro", timeout, sqlite3.Connection)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.Error as error:
        connection.close()
        stamp = _stamp(path)
        is_for_want_of_files = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
        if not is_for_want_of_files or stamp[2]:
            raise
        frozen: _Frozen = _opened(path, "ro&immutable=1", timeout, _Frozen)
        frozen.stamp = stamp
        return frozen
    return connection


def _opened(path: Path, mode: str, timeout: float, kind: type[sqlite3.Connection]) -> Any:
    return sqlite3.connect(
        f"{path.as_uri()}?mode={mode}", uri=True, timeout=timeout, check_same_thread=False, isolation_level=None, factory=kind
    )


def _stamp(path: Path) -> _Stamp:
    """Size and time of change of the file, and whether a write-ahead log holds more than it does."""
    log, status = path.with_name(f"{path.name}-wal"), path.stat()
    return status.st_size, status.st_mtime_ns, log.exists() and log.stat().st_size > 0
