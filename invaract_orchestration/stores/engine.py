"""Engines for the two databases, with what each needs to be durable, bounded and safe after a fork."""

from __future__ import annotations

import math
import os
import sqlite3
import time
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Connection, Engine, NullPool, QueuePool, create_engine, event
from sqlalchemy.exc import DisconnectionError

from invaract_orchestration.stores.address import Address

Access = Literal["create", "write", "read"]


def build_engine(address: Address, *, access: Access, timeout: float) -> Engine:
    """An engine that has not connected yet."""
    if address.file is not None:
        return _sqlite(address.file, access, timeout)
    return _postgresql(address, timeout)


def _sqlite(path: Path, access: Access, timeout: float) -> Engine:
    mode = {"create": "rwc", "write": "rw", "read": "ro"}[access]

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{path.as_uri()}?mode={mode}", uri=True, timeout=timeout, check_same_thread=False, isolation_level=None
        )
        connection.execute("PRAGMA foreign_keys = ON")
        if access != "read":
            connection.execute("PRAGMA synchronous = FULL")
            _use_wal(connection, timeout)
        return connection

    engine = create_engine(
        "sqlite://", creator=connect, poolclass=QueuePool, pool_size=2, max_overflow=30, pool_timeout=timeout
    )
    event.listen(engine, "begin", _begin_sqlite)
    _renew_after_fork(engine)
    return engine


def _use_wal(connection: sqlite3.Connection, timeout: float) -> None:
    """Switch once to WAL. SQLite does not wait for other openers here, so this does."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    # A writer takes its lock at once: a transaction that reads first and writes later may fail instead of waiting.
    is_writing = connection.get_execution_options().get("invaract_writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing else "BEGIN")


def _renew_after_fork(engine: Engine) -> None:
    """A connection that was opened before a fork is not used after it."""

    def remember(_: Any, record: Any) -> None:
        record.info["pid"] = os.getpid()

    def refuse(_: Any, record: Any, proxy: Any) -> None:
        if record.info["pid"] != os.getpid():
            record.dbapi_connection = proxy.dbapi_connection = None
            raise DisconnectionError

    event.listen(engine, "connect", remember)
    event.listen(engine, "checkout", refuse)


def _postgresql(address: Address, timeout: float) -> Engine:
    # No pool: nothing goes stale, nothing is shared by a fork. No prepared statements: a pooler in between may be used.
    engine = create_engine(
        address.url,
        poolclass=NullPool,
        connect_args={"connect_timeout": max(2, math.ceil(timeout)), "prepare_threshold": None},
    )
    # The lock's wait ends first, so that the message can tell "locked" from "slow".
    longest = timeout + 0.5
    waits = {"lock_timeout": timeout, "statement_timeout": longest, "idle_in_transaction_session_timeout": longest}
    settings = {"synchronous_commit": "on"} | {name: f"{seconds * 1000:.0f}" for name, seconds in waits.items()}
    statement = "SELECT " + ", ".join(f"set_config('{name}', '{value}', true)" for name, value in settings.items())

    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(statement)

    event.listen(engine, "begin", begin)
    return engine
