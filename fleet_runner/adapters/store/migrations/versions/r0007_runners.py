"""Several runners on one database, schedules, and what prunes evidence by age."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the tables and an index; nothing that was there changes."""
    op.create_table(
        "runners",
        *_text("id", "host", "release", "places"),
        *_number("slots"),
        *_at("started_at", "beat_at"),
        sa.Column("ending", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runners")),
    )
    op.create_table(
        "parcels",
        *_text("batch", "places", "runs"),
        *_at("offered_at"),
        *_text("runner"),
        *_number("token"),
        *_text("carrier"),
        *_at("until"),
        *_maybe("started_at", "ended_at"),
        sa.Column("rc", sa.Integer(), nullable=True),
        *_text("detail"),
        sa.Column("stop", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["batch"], ["batches.id"], name=op.f("fk_parcels_batch")),
        sa.PrimaryKeyConstraint("batch", name=op.f("pk_parcels")),
    )
    open_ones = sa.text("ended_at IS NULL")
    op.create_index(
        "parcels_open", "parcels", ["runner", "offered_at"], sqlite_where=open_ones, postgresql_where=open_ones
    )
    op.create_table(
        "turns",
        *_text("name", "runner"),
        *_at("until"),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_turns")),
    )
    op.create_table(
        "schedules",
        *_text("name", "plan"),
        *_at("due_at"),
        *_maybe("asked_at"),
        *_number("token"),
        *_maybe("firing", "began_at"),
        *_at("until"),
        *_text("runner"),
        *_maybe("ended_at"),
        *_text("outcome", "detail"),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_schedules")),
    )
    op.create_table(
        "switches",
        *_text("name"),
        *_at("at"),
        *_text("by", "reason"),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_switches")),
    )
    _retention()


def _retention() -> None:
    """Add what retention needs: the order that evidence goes in, and who refers to what goes."""
    op.create_table(
        "pruned",
        *_text("name"),
        *_at("until"),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_pruned")),
    )
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.add_column("evidence", sa.Column("stored", number, nullable=False, server_default="0"))
    op.execute("UPDATE evidence SET stored = length(body)")
    op.create_index("evidence_at", "evidence", ["at", "stored"])
    op.create_index("latest_result", "latest", ["result"])
    known = sa.text("run IS NOT NULL")
    op.create_index("journal_run", "journal", ["run"], sqlite_where=known, postgresql_where=known)
    for table in ("boots", "flashes", "firmware_leases"):
        op.create_index(f"{table}_run", table, ["run"])


def _text(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def _number(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Integer(), nullable=False) for name in names]


def _at(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Double(), nullable=False) for name in names]


def _maybe(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Double(), nullable=True) for name in names]
