"""The web service: sessions, the audit log, notified channels, and the tenant that a token is of."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the tables and a column; nothing that was there changes."""
    op.create_table(
        "sessions",
        *_text("digest", "name", "role", "tenant"),
        sa.Column("token", Id, nullable=False),
        *_at("made_at", "until"),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_sessions")),
    )
    op.create_index("sessions_until", "sessions", ["until"])
    op.create_table(
        "audit",
        sa.Column("id", Id, nullable=False),
        *_at("at"),
        *_text("name", "role", "source", "method", "path"),
        sa.Column("status", sa.Integer(), nullable=False),
        *_text("detail"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_index("audit_at", "audit", ["at"])
    op.create_index("audit_name", "audit", ["name", "id"])
    op.create_table(
        "channels",
        *_text("name"),
        sa.Column("told", Id, nullable=False),
        *_text("holder"),
        *_at("until"),
        sa.Column("tries", sa.Integer(), nullable=False),
        *_at("due_at"),
        *_text("detail"),
        sa.Column("told_at", sa.Double(), nullable=True),
        sa.Column("urgent", Id, nullable=False),
        sa.Column("asked", Id, nullable=False),
        sa.Column("asked_urgent", sa.Boolean(), nullable=False),
        sa.Column("hour", Id, nullable=False),
        sa.Column("sent", sa.Integer(), nullable=False),
        sa.Column("away_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_channels")),
    )
    op.add_column("tokens", sa.Column("tenant", sa.Text(), nullable=False, server_default=""))


def _text(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def _at(*names: str) -> list[sa.Column[float]]:
    return [sa.Column(name, sa.Double(), nullable=False) for name in names]
