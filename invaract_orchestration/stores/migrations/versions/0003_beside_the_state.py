"""The DAG of an attempt, and what it published, beside its state: pages ask both of every row that they count."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

BY_PLACE = ("contract", "target", "kind", "position", "state", "dag_id")
BY_DAY = ("day", "contract", "target", "state", "kind", "dag_id")


def upgrade() -> None:
    """Add the columns, fill them for what is recorded, and put them into the indexes that the pages count by."""
    is_postgres = op.get_bind().dialect.name == "postgresql"
    op.add_column("attempt_state", sa.Column("dag_id", sa.String(collation="C" if is_postgres else None)))
    op.add_column("attempt_state", sa.Column("published", sa.BigInteger() if is_postgres else sa.Integer()))
    state = sa.table("attempt_state", *map(sa.column, ("attempt_id", "submission_id", "dag_id", "published")))
    context = sa.table("attempt_context", sa.column("attempt_id"), sa.column("name"), sa.column("value"))
    dag = sa.select(context.c.value).where(context.c.attempt_id == state.c.attempt_id, context.c.name == "dag_id")
    made = sa.table("publication", *map(sa.column, ("submission_id", "attempt_id", "position")))
    published = sa.select(made.c.position).where(
        made.c.submission_id == state.c.submission_id, made.c.attempt_id == state.c.attempt_id
    )
    op.execute(sa.update(state).values(dag_id=dag.scalar_subquery(), published=published.scalar_subquery()))
    op.drop_index("ix_attempt_state_contract_target_kind_position_state", "attempt_state")
    op.create_index("ix_attempt_state_by_place", "attempt_state", BY_PLACE)
    published_index = "ix_attempt_state_contract_target_published_dag_id"
    op.create_index(published_index, "attempt_state", ["contract", "target", "published", "dag_id"])
    op.drop_index("ix_attempt_state_by_day", "attempt_state")
    op.create_index("ix_attempt_state_by_day", "attempt_state", BY_DAY)
