"""Ownership: which fleet's store it is."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table; who serves next gives the store its identity."""
    op.create_table(
        "ownership",
        sa.Column("number", Id, nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("id", "source")),
        sa.Column("at", sa.Double(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("by", "reason")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_ownership")),
    )
