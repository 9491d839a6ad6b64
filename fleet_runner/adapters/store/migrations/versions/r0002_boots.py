"""Boots over the network: who is expected, what happened, machines that nobody knows, and who was heard of."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the boot service's tables; nothing that was there changes."""
    _boots()
    _events()
    _machines()


def _text(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.Text(), nullable=False)


def _id(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=nullable)


def _at(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Double(), nullable=nullable)


def _count(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.Integer(), nullable=False)


def _index(name: str, table: str, columns: list[str], *, where: str = "", unique: bool = False) -> None:
    only = sa.text(where) if where else None
    op.create_index(name, table, columns, unique=unique, sqlite_where=only, postgresql_where=only)


def _boots() -> None:
    op.create_table(
        "boots",
        _id("id"),
        _text("node"),
        _id("run", nullable=True),
        _at("armed_at"),
        _at("expires_at"),
        _text("expected"),
        _text("nonce_hash"),
        _text("proved_by"),
        _at("claimed_at", nullable=True),
        _text("claimed_by"),
        _text("host_keys"),
        _count("refused"),
        _at("closed_at", nullable=True),
        _text("closed_because"),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name=op.f("fk_boots_node")),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name=op.f("fk_boots_run")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_boots")),
    )
    _index("boots_one_open", "boots", ["node"], where="closed_at IS NULL", unique=True)
    _index("boots_node", "boots", ["node", "id"])


def _events() -> None:
    op.create_table(
        "boot_events",
        _id("id"),
        _text("node"),
        _id("boot", nullable=True),
        _at("at"),
        _at("last_at"),
        _text("kind"),
        _text("code"),
        _text("sentence"),
        _text("source"),
        _count("times"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_boot_events")),
    )
    _index("boot_events_node", "boot_events", ["node", "id"])
    _index("boot_events_refused", "boot_events", ["node", "last_at"], where="kind = 'refused'")
    _index("boot_events_once", "boot_events", ["boot", "kind"], where="kind <> 'refused'", unique=True)


def _machines() -> None:
    op.create_table(
        "discovered",
        _text("mac"),
        _at("at"),
        _text("source"),
        _text("serial"),
        _text("uuid"),
        _text("manufacturer"),
        _text("product"),
        _at("first_at"),
        _count("times"),
        sa.PrimaryKeyConstraint("mac", name=op.f("pk_discovered")),
    )
    _index("discovered_at", "discovered", ["at", "mac"])
    op.create_table("beats", _text("who"), _at("at"), sa.PrimaryKeyConstraint("who", name=op.f("pk_beats")))
