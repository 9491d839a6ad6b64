"""Modes: how far automation may go, as people said it."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table; nobody has said anything, so all that was there is observed from now on."""
    words = ("scope", "name", "kind", "mode")
    op.create_table(
        "modes",
        sa.Column("id", Id, nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in words),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_modes")),
    )
    started = sa.text("event = 'start'")
    op.create_index("journal_started", "journal", ["at"], sqlite_where=started, postgresql_where=started)
