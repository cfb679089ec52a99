"""The first tables, append-only by triggers, and the start of the chain."""

import hashlib
import uuid
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ID = sa.String().with_variant(sa.String(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Kind = TypeEngine[Any] | list[TypeEngine[Any]]

TIME = sa.DateTime(timezone=True).with_variant(sa.String(27), "sqlite")

APPEND_ONLY = (
    "contract_version", "submission", "attempt", "attempt_context", "event", "verdict", "check_result", "outcome",
    "publication", "waiver",
)  # fmt: skip

COUNTS = ("read", "good", "quarantined", "failing", "candidate", "inserted", "updated", "unchanged", "deleted")


def upgrade() -> None:
    """Create everything."""
    _subjects()
    _attempts()
    _chain()
    _verdicts()
    _outcomes()
    _waivers()
    if op.get_bind().dialect.name == "postgresql":
        _guard_postgresql()
    else:
        _guard_sqlite()


def _table(name: str, columns: dict[str, Kind], key: tuple[str, ...], *constraints: sa.Constraint) -> None:
    """`columns` by name; a type in a list is one that may be null."""
    key_constraint = sa.PrimaryKeyConstraint(*key, name=f"pk_{name}")
    op.create_table(name, *(_column(*item) for item in columns.items()), key_constraint, *constraints)


def _column(name: str, kind: Kind) -> sa.Column[Any]:
    if isinstance(kind, list):
        return sa.Column(name, kind[0], nullable=True)
    return sa.Column(name, kind, nullable=False, autoincrement=False)


def _reference(table: str, owner: str, *columns: str, to: tuple[str, ...] = ()) -> sa.ForeignKeyConstraint:
    targets = [f"{owner}.{column}" for column in to or columns]
    return sa.ForeignKeyConstraint(columns, targets, name=f"fk_{table}_{'_'.join(columns)}")


def _index(table: str, *columns: str) -> None:
    op.create_index(f"ix_{table}_{'_'.join(columns)}", table, columns)


def _subjects() -> None:
    _table(
        "contract_version",
        {"contract": ID, "version": ID, "position": NUMBER, "digest": sa.String(), "document": sa.Text()},
        ("contract", "version"),
    )
    _table(
        "submission",
        {
            "submission_id": ID, "position": NUMBER, "contract": ID, "target": ID, "parameters": sa.Text(),
            "slice_digest": sa.String(), "intake_digest": sa.String(), "files": sa.Text(),
        },
        ("submission_id",),
    )  # fmt: skip
    _index("submission", "contract", "target", "slice_digest")


def _attempts() -> None:
    _table(
        "attempt",
        {
            "attempt_id": ID, "position": NUMBER, "submission_id": ID, "kind": sa.String(), "contract": ID,
            "version": ID,
            "environment": [sa.String()], "engine": sa.String(), "host": sa.String(), "started_at": TIME,
        },
        ("attempt_id",),
        _reference("attempt", "submission", "submission_id"),
        _reference("attempt", "contract_version", "contract", "version"),
    )  # fmt: skip
    _index("attempt", "submission_id")
    _index("attempt", "contract", "version")
    _table(
        "attempt_context", {"attempt_id": ID, "name": ID, "value": ID}, ("attempt_id", "name"),
        _reference("attempt_context", "attempt", "attempt_id"),
    )  # fmt: skip
    _index("attempt_context", "name", "value")
    _table(
        "attempt_state",
        {
            "attempt_id": ID, "position": NUMBER, "submission_id": ID, "contract": ID, "target": ID,
            "kind": sa.String(), "state": sa.String(), "started_at": TIME,
        },
        ("attempt_id",),
        _reference("attempt_state", "attempt", "attempt_id"),
    )  # fmt: skip
    _index("attempt_state", "position")
    _index("attempt_state", "state", "position")
    _index("attempt_state", "submission_id", "position")
    _index("attempt_state", "contract", "target", "kind", "position", "state")
    _index("attempt_state", "started_at")


def _chain() -> None:
    _table(
        "event",
        {
            "position": NUMBER, "attempt_id": [ID], "kind": sa.String(), "state": [sa.String()], "at": TIME,
            "message": sa.Text(), "detail": sa.Text(), "covers": sa.Text(), "previous": sa.String(),
            "hash": sa.String(),
        },
        ("position",),
        _reference("event", "attempt", "attempt_id"),
    )  # fmt: skip
    _index("event", "attempt_id", "position")
    _table("chain_head", {"store_id": sa.String(), "position": NUMBER, "hash": sa.String()}, ("store_id",))
    store_id = uuid.uuid4().hex
    head = sa.table("chain_head", sa.column("store_id"), sa.column("position"), sa.column("hash"))
    start = hashlib.sha256(f"invaract audit {store_id}".encode()).hexdigest()
    op.execute(head.insert().values(store_id=store_id, position=0, hash=start))


def _verdicts() -> None:
    _table(
        "verdict",
        {
            "attempt_id": ID, "ordinal": sa.Integer(), "position": NUMBER, "passed": sa.Boolean(),
            "contract_digest": sa.String(), "candidate_digest": [sa.String()], "schema_digest": [sa.String()],
            "target_version": [NUMBER], "engine": sa.String(), "reasons": sa.Text(),
            **{f"rows_{name}": [NUMBER] for name in COUNTS}, "at": TIME,
        },
        ("attempt_id", "ordinal"),
        _reference("verdict", "attempt", "attempt_id"),
    )  # fmt: skip
    _table(
        "check_result",
        {
            "attempt_id": ID, "verdict": sa.Integer(), "ordinal": sa.Integer(), "check_id": sa.Text(),
            "stage": sa.String(), "outcome": sa.String(), "severity": sa.String(), "expected": sa.Text(),
            "found": sa.Text(), "evidence": sa.String(), "hint": [sa.Text()], "place": [sa.Text()],
            "origin": sa.String(), "rows": [NUMBER], "failed": [NUMBER], "undecided": NUMBER, "nulls": [NUMBER],
            "is_set_aside": sa.Boolean(), "waiver": [sa.String()],
        },
        ("attempt_id", "verdict", "ordinal"),
        _reference("check_result", "verdict", "attempt_id", "verdict", to=("attempt_id", "ordinal")),
    )  # fmt: skip
    not_kept = sa.text("outcome <> 'kept'")
    op.create_index(
        "ix_check_result_not_kept", "check_result", ["attempt_id", "check_id"],
        sqlite_where=not_kept, postgresql_where=not_kept,
    )  # fmt: skip


def _outcomes() -> None:
    _table(
        "outcome",
        {
            "attempt_id": ID, "ordinal": sa.Integer(), "position": NUMBER, "state": sa.String(),
            "code": [sa.String()], "message": sa.Text(), **{f"rows_{name}": [NUMBER] for name in COUNTS},
            "is_published": sa.Boolean(), "at": TIME,
        },
        ("attempt_id", "ordinal"),
        _reference("outcome", "attempt", "attempt_id"),
    )  # fmt: skip
    _table(
        "publication",
        {
            "submission_id": ID, "position": NUMBER, "attempt_id": ID, "contract": ID, "target": ID,
            "table_version": NUMBER, "mode": sa.String(), "method": sa.Text(), "committed_at": TIME,
        },
        ("submission_id",),
        _reference("publication", "submission", "submission_id"),
    )  # fmt: skip
    _index("publication", "contract", "target", "position")


def _waivers() -> None:
    _table(
        "waiver",
        {
            "waiver_id": ID, "position": NUMBER, "contract": ID, "check_id": sa.Text(), "candidate_digest": sa.String(),
            "approver": sa.String(), "reason": sa.Text(), "granted_at": TIME, "expires_at": TIME,
        },
        ("waiver_id",),
    )  # fmt: skip
    _index("waiver", "candidate_digest")


def _guard_sqlite() -> None:
    for table in APPEND_ONLY:
        for action in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{action.lower()} BEFORE {action} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END"
            )


def _guard_postgresql() -> None:
    op.execute(
        "CREATE FUNCTION invaract_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'the audit is append-only'; END $$"
    )
    for table in APPEND_ONLY:
        for action, scope in (("UPDATE OR DELETE", "ROW"), ("TRUNCATE", "STATEMENT")):
            op.execute(
                f"CREATE TRIGGER {table}_no_{action.split()[0].lower()} BEFORE {action} ON {table} "
                f"FOR EACH {scope} EXECUTE FUNCTION invaract_append_only()"
            )
