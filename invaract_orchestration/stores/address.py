"""Where an audit store is: a SQLite file or a PostgreSQL database. What may be secret in an address is never shown."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from invaract_orchestration.errors import MissingExtra, UsageError

_HINT = "write sqlite:///folder/audit.db or postgresql://user@host/database"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A store's place; `name` is what messages call it, without user, password and parameters."""

    name: str
    file: Path | None
    url: URL = field(repr=False)


def parse_address(url: str) -> Address:
    """Raises `UsageError` for what is neither a SQLite file nor a PostgreSQL database; it never quotes the address."""
    parsed = _parse(url)
    backend, _, driver = parsed.drivername.partition("+")
    if backend == "sqlite" and driver in {"", "pysqlite"}:
        return _sqlite(parsed)
    if backend == "postgresql" and driver in {"", "psycopg"}:
        return _postgresql(parsed)
    raise UsageError("The address of the audit store names neither SQLite nor PostgreSQL with psycopg", hint=_HINT)


def _parse(url: str) -> URL:
    parsed = None
    with suppress(ArgumentError, ValueError):  # their message quotes the address
        parsed = make_url(url)
    if parsed is None:
        raise UsageError("The address of the audit store cannot be read", hint=_HINT)
    return parsed


def _sqlite(url: URL) -> Address:
    if url.query or url.host or not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise UsageError("The audit store must be a file on disk, named without parameters", hint=_HINT)
    path = Path(url.database).expanduser().absolute()
    return Address(name=str(path), file=path, url=url)


def _postgresql(url: URL) -> Address:
    if find_spec("psycopg") is None:
        raise MissingExtra("An audit store on PostgreSQL", "postgres")
    if "@" in (url.host or "") or "@" in (url.database or ""):  # a part of the password would be taken for the place
        raise UsageError(
            "The address of the audit store cannot be read: user or password hold a character that ends them",
            hint="write it with a percent sign, such as %40 for @ and %2F for /",
        )
    place = (url.host or "") + (f":{url.port}" if url.port else "")
    return Address(
        name=f"postgresql://{place}/{url.database or ''}", file=None, url=url.set(drivername="postgresql+psycopg")
    )
