"""Brings a store's schema to this version's, once, however many processes open it at the same time."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from sqlalchemy import Connection, String, column, func, inspect, select, table

from invaract_orchestration.errors import AuditUnavailable
from invaract_orchestration.stores.database import Database

if TYPE_CHECKING:
    from alembic.config import Config

REVISIONS = ("0001", "0002", "0003")
"""All revisions in order: an up-to-date store is known by the last one, without loading Alembic."""

VERSION_TABLE = "invaract_revision"
"""Not Alembic's own name, so that a store may share a database with a program that uses Alembic as well."""

_LOCK_KEY = 0x696E766172616374  # "invaract" in ASCII: PostgreSQL names advisory locks by number
_IN_PROCESS = threading.Lock()  # Alembic keeps its context in globals


def migrate(database: Database) -> None:
    """Create the schema or bring it up to date. Raises `AuditUnavailable` for one that only a newer version knows."""
    if _state(database) != "current":
        with _IN_PROCESS:
            database.write(_upgrade, is_bounded=False)


def require_current(database: Database) -> None:
    """Raises `AuditUnavailable` unless the schema is this version's; changes nothing."""
    state = _state(database)
    if state == "missing":
        raise AuditUnavailable(
            f"The audit store {database.place} has no audit tables", hint="open it once for writing; that creates them"
        )
    if state == "older":
        raise AuditUnavailable(
            f"The schema of the audit store {database.place} is older than this version of invaract-orchestration",
            hint="open it once for writing; that brings it up to date",
        )


def _state(database: Database) -> str:
    """`missing`, `older` or `current`; a newer one is refused here."""
    revision = database.read(_revision)
    if revision is None:
        return "missing"
    if revision in REVISIONS:
        return "current" if revision == REVISIONS[-1] else "older"
    raise AuditUnavailable(
        f"The audit store {database.place} has schema revision {revision!r}, which this version of "
        f"invaract-orchestration does not know (its own is {REVISIONS[-1]!r})",
        hint="a newer version has opened it: upgrade invaract-orchestration here too",
    )


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found = connection.scalar(select(column("version_num", String)).select_from(table(VERSION_TABLE)))
    return None if found is None else str(found)


def _upgrade(connection: Connection) -> None:
    from alembic import command

    if connection.dialect.name == "postgresql":  # on SQLite the transaction itself is the lock
        connection.execute(select(func.pg_advisory_xact_lock(_LOCK_KEY)))
        connection.execute(select(func.set_config("statement_timeout", "0", True)))  # a store of many rows takes its time
    config = script_config()
    config.attributes["connection"] = connection
    command.upgrade(config, REVISIONS[-1])


def script_config() -> Config:
    """Where Alembic finds the migrations; there is no file of settings."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "invaract_orchestration.stores:migrations")
    config.set_main_option("path_separator", "os")
    config.attributes["version_table"] = VERSION_TABLE
    return config
