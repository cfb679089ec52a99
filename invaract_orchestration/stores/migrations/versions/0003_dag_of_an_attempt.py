"""The DAG of an attempt beside its state: what a viewer may see is asked of every row that a page counts."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

BY_PLACE = ("contract", "target", "kind", "position", "state", "dag_id")
BY_DAY = ("day", "contract", "target", "state", "kind", "dag_id")


def upgrade() -> None:
    """Add the column, fill it for what is recorded, and put it into the indexes that the pages count by."""
    is_postgres = op.get_bind().dialect.name == "postgresql"
    op.add_column("attempt_state", sa.Column("dag_id", sa.String(collation="C" if is_postgres else None)))
    state = sa.table("attempt_state", sa.column("attempt_id"), sa.column("dag_id"))
    context = sa.table("attempt_context", sa.column("attempt_id"), sa.column("name"), sa.column("value"))
    dag = sa.select(context.c.value).where(context.c.attempt_id == state.c.attempt_id, context.c.name == "dag_id")
    op.execute(sa.update(state).values(dag_id=dag.scalar_subquery()))
    op.drop_index("ix_attempt_state_contract_target_kind_position_state", "attempt_state")
    op.create_index("ix_attempt_state_by_place", "attempt_state", BY_PLACE)
    op.drop_index("ix_attempt_state_by_day", "attempt_state")
    op.create_index("ix_attempt_state_by_day", "attempt_state", BY_DAY)
