"""All tables, as SQL for each database: sqlite and postgresql differ in the full-text index.

Databases of versions before the first release have 0001 to 0014: see newscrawl.storage.migrations.
"""

from pathlib import Path

from alembic import op

revision = "0015"
down_revision = None


def upgrade() -> None:
    dialect = op.get_bind().dialect.name
    script = Path(__file__).with_name(f"{revision}_{dialect}.sql").read_text(encoding="utf-8")
    for statement in script.split(";\n"):
        if statement.strip():
            op.execute(statement)
