"""Alembic's way in: it runs on the connection that `migrate` opened, inside its transaction."""

from alembic import context

from fleet_runner.adapters.store.schema.core import metadata

context.configure(
    connection=context.config.attributes["connection"], target_metadata=metadata, transactional_ddl=True
)
with context.begin_transaction():
    context.run_migrations()
