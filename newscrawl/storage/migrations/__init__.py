"""Alembic's migrations. `newscrawl.storage.schema.upgrade` runs them; there is no alembic.ini."""
