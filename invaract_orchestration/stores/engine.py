"""Engines for the two databases, with what each needs to be durable, bounded and safe after a fork."""

from __future__ import annotations

import math
import os
import sqlite3
import time
from pathlib import Path
from typing import Literal

from sqlalchemy import Connection, Engine, QueuePool, create_engine, event

from invaract_orchestration.stores.address import Address
from invaract_orchestration.stores.failures import OPENING
from invaract_orchestration.stores.forks import survive_forks
from invaract_orchestration.stores.frozen import frozen_sqlite

Access = Literal["create", "write", "read"]


def build_engine(address: Address, *, access: Access, timeout: float) -> Engine:
    """An engine that has not connected yet."""
    if address.file is not None:
        return survive_forks(_sqlite(address.file, access, timeout))
    return survive_forks(_postgresql(address, timeout))


def _sqlite(path: Path, access: Access, timeout: float) -> Engine:
    if access == "read" and not os.access(path.parent, os.W_OK):
        return frozen_sqlite(path, timeout)
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


def _postgresql(address: Address, timeout: float) -> Engine:
    # A connection is given up before a firewall would forget it. A pooler in between can do without prepared statements.
    engine = create_engine(
        address.url,
        pool_size=2,
        max_overflow=30,
        pool_timeout=timeout,
        pool_recycle=30,
        connect_args={"connect_timeout": max(2, math.ceil(timeout)), "prepare_threshold": None},
    )
    # The lock's wait ends first, so that the message can tell "locked" from "slow".
    bounded, unbounded = _opening(timeout, f"{(timeout + 0.5) * 1000:.0f}"), _opening(timeout, "0")

    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(bounded if connection.get_execution_options().get("invaract_bounded", True) else unbounded)

    event.listen(engine, "begin", begin)
    return engine


def _opening(timeout: float, longest: str) -> str:
    """The first statement of a transaction on PostgreSQL: `longest` is what a statement, and a pause between two, may take in
    milliseconds, 0 without a limit.
    """
    settings = {
        "synchronous_commit": "on", "jit": "off",  # compiling a statement takes longer than any of them runs
        "lock_timeout": f"{timeout * 1000:.0f}", "statement_timeout": longest, "idle_in_transaction_session_timeout": longest,
    }  # fmt: skip
    return f"{OPENING} " + ", ".join(f"set_config('{name}', '{value}', true)" for name, value in settings.items())
