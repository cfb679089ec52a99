"""The day of an attempt beside its state, and the indexes that the audit pages count by."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

HAS_FAILING_ROWS = sa.text("rows_quarantined > 0 OR rows_failing > 0")
BY_DAY = ("kind", "day", "contract", "target", "state", "attempt_id")


def upgrade() -> None:
    """Add the column, fill it for what is recorded, and make the indexes."""
    op.add_column("attempt_state", sa.Column("day", sa.String(10), nullable=False, server_default=""))
    started_at: sa.ColumnElement[Any] = sa.column("started_at")
    day = (
        sa.func.to_char(sa.func.timezone("UTC", started_at), "YYYY-MM-DD")
        if op.get_bind().dialect.name == "postgresql"
        else sa.func.substr(started_at, 1, 10)
    )
    op.execute(sa.update(sa.table("attempt_state", sa.column("day"))).values(day=day))
    op.create_index("ix_attempt_state_by_day", "attempt_state", BY_DAY)
    op.create_index("ix_attempt_environment", "attempt", ["environment"])
    op.create_index(
        "ix_outcome_failing", "outcome", ["attempt_id"], sqlite_where=HAS_FAILING_ROWS, postgresql_where=HAS_FAILING_ROWS
    )
