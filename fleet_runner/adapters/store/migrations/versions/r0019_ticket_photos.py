"""Photos of tickets, from a technician's phone."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"

Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table; nothing that was there changes."""
    op.create_table(
        "ticket_photos",
        sa.Column("ticket", Id, nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("size", Id, nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("ticket", "digest", name=op.f("pk_ticket_photos")),
        sa.ForeignKeyConstraint(["ticket"], ["tickets.id"], name=op.f("fk_ticket_photos_ticket")),
    )
    op.create_index("ticket_photos_size", "ticket_photos", ["size"])
