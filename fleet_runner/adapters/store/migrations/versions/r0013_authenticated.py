"""Alarms: whether their sender was authenticated. Of those that are there nobody knows, so they are not."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

ONE = "alarms_one_standing"


def upgrade() -> None:
    """Add the column; an alarm of each side may stand beside the other."""
    op.add_column("alarms", sa.Column("authenticated", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.drop_index(ONE, "alarms")
    standing = sa.text("cleared_at IS NULL")
    op.create_index(
        ONE, "alarms", ["node", "code", "component", "authenticated"], unique=True,
        sqlite_where=standing, postgresql_where=standing,
    )  # fmt: skip
