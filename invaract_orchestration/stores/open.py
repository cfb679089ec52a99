"""Opens an audit store: a SQLite file for one machine, a PostgreSQL database for a team."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from invaract_orchestration.audit.chain import Finding, Head, verify
from invaract_orchestration.errors import AuditMissing, AuditUnavailable
from invaract_orchestration.stores.address import Address, parse_address
from invaract_orchestration.stores.browse import SqlAuditBrowser
from invaract_orchestration.stores.database import Database
from invaract_orchestration.stores.engine import Access, build_engine
from invaract_orchestration.stores.evidence import SqlChain
from invaract_orchestration.stores.migrate import migrate as migrate_schema
from invaract_orchestration.stores.migrate import require_current
from invaract_orchestration.stores.reader import SqlAuditReader
from invaract_orchestration.stores.sql_audit import SqlAuditLog


class SqlAuditStore(SqlAuditLog, SqlAuditReader, SqlAuditBrowser):
    """An open store: what the gate writes to and people read from. Threads may share it, and a forked process too."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.place = database.place
        """Where it is, without user and password."""

    def __repr__(self) -> str:
        return f"SqlAuditStore({self.place!r})"

    def verify(self, *, expected_head: str | None = None) -> tuple[Finding, ...]:
        """What does not fit in the store's history; see `audit.chain.verify`."""
        return self._database.read(
            lambda connection: verify(SqlChain(connection), expected_head=expected_head), is_bounded=False
        )

    def head(self) -> Head | None:
        """The last link of the chain, to be noted elsewhere; null when the store has lost it."""
        return self._database.read(lambda connection: SqlChain(connection).head())

    def close(self) -> None:
        """Give the connections back."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_store(url: str, *, migrate: bool = True, read_only: bool = False, timeout: float = 10.0) -> SqlAuditStore:
    """Open the store at `sqlite:///path` or `postgresql://...`.

    `migrate` creates what is missing and brings an older schema up to date; without it both are refused. `read_only`
    never creates, migrates or writes. `timeout` is how many seconds a wait for a lock, a connection or an answer may
    last. Raises `AuditUnavailable` when the store cannot be used, `UsageError` when the address makes no sense.
    """
    address = parse_address(url)
    access: Access = "read" if read_only else "create" if migrate else "write"
    _prepare_file(address, access)
    engine = build_engine(address, access=access, timeout=timeout)
    database = Database(engine, address.name, timeout, is_read_only=read_only)
    try:
        if access == "create":
            migrate_schema(database)
        else:
            require_current(database)
    except BaseException:
        database.close()
        raise
    return SqlAuditStore(database)


def _prepare_file(address: Address, access: Access) -> None:
    if address.file is None:
        return
    if access != "create":
        if not address.file.is_file():
            raise AuditMissing(
                f"There is no audit store at {address.name}", hint="check the path; the first run of a gate creates it"
            )
        return
    failure = None
    try:
        address.file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        failure = error.strerror
    if failure is not None:
        raise AuditUnavailable(
            f"The folder of the audit store {address.name} cannot be created: {failure}", hint="name another place"
        )
