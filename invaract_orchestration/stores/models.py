"""The tables of the audit store. All but `chain_head` and `attempt_state` are append-only; triggers hold them to it.

`position` is the place of a row's event in the chain: the order of recording, whatever the clocks said.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    DateTime,
    Dialect,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    func,
    text,
)
from sqlalchemy.types import TypeDecorator, TypeEngine

from invaract_orchestration.audit.chain import utc_text
from invaract_orchestration.errors import AuditError


class UtcTime(TypeDecorator[datetime]):
    """A moment in UTC with microseconds: `timestamptz` on PostgreSQL, text of fixed width on SQLite."""

    impl = String(27)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """The column's type on this database."""
        return dialect.type_descriptor(DateTime(timezone=True) if dialect.name == "postgresql" else String(27))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """To the stored form."""
        if value is None:
            return None
        return value.astimezone(UTC) if dialect.name == "postgresql" else utc_text(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """From the stored form, in UTC."""
        return value if value is None else moment(value)


def zoned(at: datetime) -> datetime:
    """The time itself; one without a zone is refused, since nobody could say which moment it is."""
    if at.tzinfo is None:
        raise AuditError("A time without a zone is no moment that could be recorded or looked for", hint="use UTC")
    return at


def moment(value: datetime | str) -> datetime:
    """A time as a driver gives it, in UTC."""
    return (value if isinstance(value, datetime) else datetime.fromisoformat(value)).astimezone(UTC)


# Ids are compared byte by byte on both databases, so that a prefix is a range of the index.
ID = String().with_variant(String(collation="C"), "postgresql")
NUMBER = BigInteger().with_variant(Integer(), "sqlite")

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

contract_version = Table(
    "contract_version", metadata,
    Column("contract", ID, primary_key=True),
    Column("version", ID, primary_key=True),
    Column("position", NUMBER, nullable=False),
    Column("digest", String, nullable=False),
    Column("document", Text, nullable=False),
)  # fmt: skip

submission = Table(
    "submission", metadata,
    Column("submission_id", ID, primary_key=True),
    Column("position", NUMBER, nullable=False),
    Column("contract", ID, nullable=False),
    Column("target", ID, nullable=False),
    Column("parameters", Text, nullable=False),
    Column("slice_digest", String, nullable=False),
    Column("intake_digest", String, nullable=False),
    Column("files", Text, nullable=False),
    Index(None, "contract", "target", "slice_digest"),
)  # fmt: skip

attempt = Table(
    "attempt", metadata,
    Column("attempt_id", ID, primary_key=True),
    Column("position", NUMBER, nullable=False),
    Column("submission_id", ID, ForeignKey("submission.submission_id"), nullable=False),
    Column("kind", String, nullable=False),
    Column("contract", ID, nullable=False),
    Column("version", ID, nullable=False),
    Column("environment", String),
    Column("engine", String, nullable=False),
    Column("host", String, nullable=False),
    Column("started_at", UtcTime, nullable=False),
    ForeignKeyConstraint(["contract", "version"], ["contract_version.contract", "contract_version.version"]),
    Index(None, "submission_id"),
    Index(None, "contract", "version"),
    Index(None, "environment"),
)  # fmt: skip

attempt_context = Table(
    "attempt_context", metadata,
    Column("attempt_id", ID, ForeignKey("attempt.attempt_id"), primary_key=True),
    Column("name", ID, primary_key=True),
    Column("value", ID, nullable=False),
    Index(None, "name", "value"),
)  # fmt: skip

attempt_state = Table(
    "attempt_state", metadata,
    Column("attempt_id", ID, ForeignKey("attempt.attempt_id"), primary_key=True),
    Column("position", NUMBER, nullable=False),
    Column("submission_id", ID, nullable=False),
    Column("contract", ID, nullable=False),
    Column("target", ID, nullable=False),
    Column("kind", String, nullable=False),
    Column("state", String, nullable=False),
    Column("started_at", UtcTime, nullable=False),
    Column("day", String(10), nullable=False, server_default=""),  # of started_at, in UTC
    Column("dag_id", ID),  # of the attempt's context; null for one that no DAG made
    Column("published", NUMBER),  # position of the publication that it made; null when it made none
    Index(None, "position"),
    Index(None, "state", "position"),
    Index(None, "submission_id", "position"),
    Index("ix_attempt_state_by_place", "contract", "target", "kind", "position", "state", "dag_id"),
    Index(None, "contract", "target", "published", "dag_id"),
    Index(None, "started_at"),
    # holds all that the overview counts, in the order in which it counts
    Index("ix_attempt_state_by_day", "day", "contract", "target", "state", "kind", "dag_id"),
)  # fmt: skip

event = Table(
    "event", metadata,
    Column("position", NUMBER, primary_key=True, autoincrement=False),
    Column("attempt_id", ID, ForeignKey("attempt.attempt_id")),
    Column("kind", String, nullable=False),
    Column("state", String),
    Column("at", UtcTime, nullable=False),
    Column("message", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("covers", Text, nullable=False),
    Column("previous", String, nullable=False),
    Column("hash", String, nullable=False),
    Index(None, "attempt_id", "position"),
)  # fmt: skip

chain_head = Table(
    "chain_head", metadata,
    Column("store_id", String, primary_key=True),
    Column("position", NUMBER, nullable=False),
    Column("hash", String, nullable=False),
)  # fmt: skip


HAS_FAILING_ROWS = text("rows_quarantined > 0 OR rows_failing > 0")
"""Of outcomes; said in the words of their index, as SQLite uses it for these alone."""


def _counts() -> list[Column[int]]:
    names = ("read", "good", "quarantined", "failing", "candidate", "inserted", "updated", "unchanged", "deleted")
    return [Column(f"rows_{name}", NUMBER) for name in names]


verdict = Table(
    "verdict", metadata,
    Column("attempt_id", ID, ForeignKey("attempt.attempt_id"), primary_key=True),
    Column("ordinal", Integer, primary_key=True, autoincrement=False),
    Column("position", NUMBER, nullable=False),
    Column("passed", Boolean, nullable=False),
    Column("contract_digest", String, nullable=False),
    Column("candidate_digest", String),
    Column("schema_digest", String),
    Column("target_version", NUMBER),
    Column("engine", String, nullable=False),
    Column("reasons", Text, nullable=False),
    *_counts(),
    Column("at", UtcTime, nullable=False),
)  # fmt: skip

check_result = Table(
    "check_result", metadata,
    Column("attempt_id", ID, primary_key=True),
    Column("verdict", Integer, primary_key=True, autoincrement=False),
    Column("ordinal", Integer, primary_key=True, autoincrement=False),
    Column("check_id", Text, nullable=False),
    Column("stage", String, nullable=False),
    Column("outcome", String, nullable=False),
    Column("severity", String, nullable=False),
    Column("expected", Text, nullable=False),
    Column("found", Text, nullable=False),
    Column("evidence", String, nullable=False),
    Column("hint", Text),
    Column("place", Text),
    Column("origin", String, nullable=False),
    Column("rows", NUMBER),
    Column("failed", NUMBER),
    Column("undecided", NUMBER, nullable=False),
    Column("nulls", NUMBER),
    Column("is_set_aside", Boolean, nullable=False),
    Column("waiver", String),
    ForeignKeyConstraint(["attempt_id", "verdict"], ["verdict.attempt_id", "verdict.ordinal"]),
    Index(
        "ix_check_result_not_kept", "attempt_id", "check_id",
        sqlite_where=text("outcome <> 'kept'"), postgresql_where=text("outcome <> 'kept'"),
    ),
)  # fmt: skip

outcome = Table(
    "outcome", metadata,
    Column("attempt_id", ID, ForeignKey("attempt.attempt_id"), primary_key=True),
    Column("ordinal", Integer, primary_key=True, autoincrement=False),
    Column("position", NUMBER, nullable=False),
    Column("state", String, nullable=False),
    Column("code", String),
    Column("message", Text, nullable=False),
    *_counts(),
    Column("is_published", Boolean, nullable=False),
    Column("at", UtcTime, nullable=False),
    Index("ix_outcome_failing", "attempt_id", sqlite_where=HAS_FAILING_ROWS, postgresql_where=HAS_FAILING_ROWS),
)  # fmt: skip

publication = Table(
    "publication", metadata,
    Column("submission_id", ID, ForeignKey("submission.submission_id"), primary_key=True),
    Column("position", NUMBER, nullable=False),
    Column("attempt_id", ID, nullable=False),
    Column("contract", ID, nullable=False),
    Column("target", ID, nullable=False),
    Column("table_version", NUMBER, nullable=False),
    Column("mode", String, nullable=False),
    Column("method", Text, nullable=False),
    Column("committed_at", UtcTime, nullable=False),
    Index(None, "contract", "target", "position"),
)  # fmt: skip

waiver = Table(
    "waiver", metadata,
    Column("waiver_id", ID, primary_key=True),
    Column("position", NUMBER, nullable=False),
    Column("contract", ID, nullable=False),
    Column("check_id", Text, nullable=False),
    Column("candidate_digest", String, nullable=False),
    Column("approver", String, nullable=False),
    Column("reason", Text, nullable=False),
    Column("granted_at", UtcTime, nullable=False),
    Column("expires_at", UtcTime, nullable=False),
    Index(None, "candidate_digest"),
)  # fmt: skip

def day_in_utc(started_at: ColumnElement[Any], dialect: str) -> ColumnElement[str]:
    """The day of a stored moment, as `attempt_state.day` holds it."""
    if dialect == "postgresql":
        return func.to_char(func.timezone("UTC", started_at), "YYYY-MM-DD")
    return func.substr(started_at, 1, 10)


DERIVED = (chain_head, attempt_state)
"""Tables that are kept up to date; `verify` compares them with the events."""

APPEND_ONLY = tuple(table for table in metadata.sorted_tables if table not in DERIVED)
