"""Alembic's entry: migrates over the connection that `newscrawl.storage.migrations` hands in."""

from alembic import context

from newscrawl.storage.models import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
