"""The engine of several runners: Procrastinate's tables beside the store's, on PostgreSQL alone.

They are those of its 3.10. A later one that needs others is a migration of its own, made of the files that it brings
for that. What waits for a runner is cancelled, since nothing ran, and decided anew. What has begun goes on: its
supervisor, of the release before, renews its lease by `token`, which is of no other use any more.
"""

from importlib.resources import files

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

WAITING = """
UPDATE parcels SET ended_at = extract(epoch FROM clock_timestamp()), stop = true, runs = '{}',
    detail = 'the store was migrated before a runner began it'
WHERE ended_at IS NULL AND started_at IS NULL
"""


def upgrade() -> None:
    """Add the engine's tables, and the job of each batch."""
    op.add_column("parcels", sa.Column("job", sa.BigInteger().with_variant(sa.Integer(), "sqlite")))
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        op.alter_column("parcels", "token", server_default="0")
        connection.execute(sa.text(WAITING))
        made = (files("procrastinate.sql") / "schema.sql").read_text(encoding="utf-8")
        connection.exec_driver_sql(made.replace("%", "%%"))


def downgrade() -> None:
    """Refuse: an older release knows no job of the engine, and would offer what a worker has begun."""
    raise NotImplementedError("schema 0017 cannot be taken back: restore a backup that was made before it")
