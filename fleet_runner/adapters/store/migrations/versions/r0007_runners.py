"""Several runners on one database, schedules, what prunes evidence by age, and how far a NetBox is told."""

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
    _mirror()
    _page_wishes()


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


def _mirror() -> None:
    """Add how far a NetBox is told."""
    op.create_table(
        "mirrors",
        *_text("url"),
        *_ids("began", "seen"),
        sa.PrimaryKeyConstraint("url", name=op.f("pk_mirrors")),
    )
    op.create_table(
        "mirrored_fields",
        *_text("url", "node", "state"),
        *_at("since"),
        *_maybe("written_at"),
        *_text("asked", "conflict"),
        *_tried(),
        *_of_node("mirrored_fields"),
    )
    op.create_table(
        "mirrored_lines",
        *_text("url", "node"),
        *_ids("newest", "told", "doubted"),
        *_at("asked_at"),
        *_tried(),
        *_of_node("mirrored_lines"),
    )
    op.create_table(
        "serials",
        *_text("node", "slot", "out", "came", "by"),
        *_at("at"),
        *_text("conflict"),
        *_tried(),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name=op.f("fk_serials_node")),
        sa.PrimaryKeyConstraint("node", "slot", name=op.f("pk_serials")),
    )


def _tried() -> list[sa.Column[Any]]:
    return [*_number("tries"), *_at("due_at"), *_text("detail")]


def _of_node(table: str) -> list[sa.Constraint]:
    return [
        sa.ForeignKeyConstraint(["url"], ["mirrors.url"], name=op.f(f"fk_{table}_url")),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name=op.f(f"fk_{table}_node")),
        sa.PrimaryKeyConstraint("url", "node", name=op.f(f"pk_{table}")),
    ]


def _page_wishes() -> None:
    """Add which wishes of a NetBox's pages were taken."""
    op.create_table(
        "page_wishes",
        *_text("url"),
        *_ids("device", "change"),
        *_at("at"),
        *_text("name", "wish", "reason", "by"),
        *_at("taken_at"),
        *_maybe("gone_at"),
        sa.Column("intent", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        *_text("refusal"),
        *_at("telling_until"),
        *_maybe("told_at"),
        sa.ForeignKeyConstraint(["intent"], ["intents.id"], name=op.f("fk_page_wishes_intent")),
        sa.PrimaryKeyConstraint("url", "device", "change", "at", name=op.f("pk_page_wishes")),
    )


def _ids(*names: str) -> list[sa.Column[Any]]:
    kind = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    return [sa.Column(name, kind, nullable=False) for name in names]


def _text(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def _number(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Integer(), nullable=False) for name in names]


def _at(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Double(), nullable=False) for name in names]


def _maybe(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Double(), nullable=True) for name in names]
