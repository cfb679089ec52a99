"""Runs the migrations on the connection, and inside the transaction, that `stores.migrate` hands over."""

from alembic import context

from invaract_orchestration.stores.models import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=context.config.attributes["version_table"],
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
