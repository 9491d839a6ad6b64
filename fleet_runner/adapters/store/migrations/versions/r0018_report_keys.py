"""A key with each report that a page sent: one that arrives twice is written once."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Add the key; lines of before, and of others, have none."""
    op.add_column("outbox", sa.Column("key", sa.Text()))
    op.create_index("outbox_key", "outbox", ["key"], unique=True)
