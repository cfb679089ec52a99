"""What a database says when it fails, in the gate's own words: its message may hold values, addresses and passwords."""

from __future__ import annotations

import sqlite3
from typing import Any

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from invaract_orchestration.errors import AuditUnavailable

DRIVER_FAILURES = (SQLAlchemyError, sqlite3.Error, OSError, UnicodeError)

OPENING = "SELECT /* opening */"
"""How the statement starts that opens a transaction; what fails with it has done nothing yet."""

Reason = tuple[str, str | None]

_FREE_SPACE = "free some space, then run the same submission again"
_GRANT = "the store's user needs to read and write its tables"
_START = "start the server or correct the address, then run the same submission again"

# By the start of SQLSTATE, the longest first.
_BY_STATE: tuple[tuple[str, Reason], ...] = (
    ("25006", ("is read-only", "open it where it may be written")),
    ("28", ("refuses the login", "check user and password")),
    ("3D000", ("does not exist", "create the database, then open the store again")),
    ("42501", ("refuses its user a permission", _GRANT)),
    ("42P01", ("has no audit tables", "open it once for writing; that creates them")),
    ("53100", ("is out of disk space", _FREE_SPACE)),
    ("53", ("is out of resources", "wait, or give the server more connections or memory")),
    ("23", ("refuses a row", "`invaract audit verify` shows whether rows were changed by hand")),
    ("08", ("cannot be reached", _START)),
    ("57P", ("is shutting down or has cut the connection", _START)),
)

# By the primary result code of SQLite.
_BY_CODE: dict[int, Reason] = {
    sqlite3.SQLITE_READONLY: ("is read-only", "make the file and its folder writable"),
    sqlite3.SQLITE_PERM: ("refuses a permission", "make the file and its folder writable"),
    sqlite3.SQLITE_FULL: ("is out of disk space", _FREE_SPACE),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", "check that its folder exists and may be used"),
    sqlite3.SQLITE_NOTADB: ("is not a SQLite database", "name another file, or restore it from a backup"),
    sqlite3.SQLITE_CORRUPT: ("is damaged", "restore it from a backup, then run `invaract reconcile`"),
    sqlite3.SQLITE_IOERR: ("cannot be read or written by the disk", "check the disk"),
    sqlite3.SQLITE_CONSTRAINT: ("refuses a row", "`invaract audit verify` shows whether rows were changed by hand"),
}

# libpq gives no state for a connection that never was; only these words say why.
_BY_WORDS: tuple[tuple[str, Reason], ...] = (
    ("authentication failed", ("refuses the login", "check user and password")),
    ("no password supplied", ("refuses the login", "give a password, in the address or by PGPASSFILE")),
    ("too many clients", ("has no connection left", "wait, or give the server more connections")),
    ("does not exist", ("does not know the database or the user", "create it, then open the store again")),
)


def unavailable(error: BaseException, place: str, timeout: float, *, was_cut: bool = False) -> AuditUnavailable:
    """The error to raise for a driver's, quoting nothing of it. Raise it after the `except`: it must chain nothing."""
    reason, hint = _reason(error, timeout, was_cut=was_cut)
    return AuditUnavailable(f"The audit store {place} {reason}", hint=hint)


def was_stale(error: BaseException) -> bool:
    """Whether a pooled connection turned out to be dead before anything was done with it."""
    if not isinstance(error, DBAPIError) or not error.connection_invalidated:
        return False
    return (error.statement or "").startswith(OPENING)


def _reason(error: BaseException, timeout: float, *, was_cut: bool) -> Reason:
    original: Any = error.orig if isinstance(error, DBAPIError) else error
    state = getattr(original, "sqlstate", None) or ""
    code = getattr(original, "sqlite_errorcode", None)
    if was_cut or state == "57014":
        return f"did not answer within {timeout:g} s", "check the server's load, then run the same submission again"
    if state == "55P03" or (code is not None and code & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}):
        return f"was locked by another process for more than {timeout:g} s", "end that process, then run again"
    if code is not None:
        return _BY_CODE.get(code & 0xFF, (f"failed ({getattr(original, 'sqlite_errorname', code)})", None))
    return _by_state(state) if state else _by_kind(original)


def _by_state(state: str) -> Reason:
    known = next((reason for start, reason in _BY_STATE if state.startswith(start)), None)
    return known or (f"failed (SQLSTATE {state})", None)


def _by_kind(original: Any) -> Reason:
    if isinstance(original, UnicodeError):
        return "cannot hold a character of the record", "the record's texts must be Unicode"
    if isinstance(original, OSError):
        return f"cannot be reached (errno {original.errno})", "check that its folder exists and may be used"
    words = str(original)
    found = next((reason for part, reason in _BY_WORDS if part in words), None)
    return found or ("cannot be reached or failed", _START)
