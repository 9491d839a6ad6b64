"""Firmware: flashes, who may drive a node's, who allowed power meanwhile, and the rollouts that ask for them."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the tables of firmware; nothing that was there changes."""
    _flashes()
    _leases()
    _rollouts()


def _text(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def _id(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=nullable)


def _at(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Double(), nullable=nullable)


def _count(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.Integer(), nullable=False)


def _refers(table: str, column: str, to: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [to], name=op.f(f"fk_{table}_{column}"))


def _flashes() -> None:
    op.create_table(
        "flashes",
        _id("id"),
        *(_text(name) for name in ("node", "component", "before", "targets", "image", "sha256", "activate")),
        _count("times"),
        _at("seconds"),
        _count("attempt"),
        _at("intended_at"),
        _text("by"),
        _id("run", nullable=True),
        _id("rolls_back", nullable=True),
        *(_text(name) for name in ("phase", "tasks_before", "task")),
        _at("sent_at", nullable=True),
        _at("updated_at", nullable=True),
        _count("activations"),
        _at("activated_at", nullable=True),
        _count("activated"),
        _at("bmc_reset_before", nullable=True),
        _at("ended_at", nullable=True),
        _text("end", nullable=True),
        _text("detail"),
        _text("bmc"),
        _refers("flashes", "node", "nodes.name"),
        _refers("flashes", "run", "runs.id"),
        _refers("flashes", "rolls_back", "flashes.id"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_flashes")),
    )
    opened = sa.text("ended_at IS NULL")
    op.create_index(
        "flashes_one_open", "flashes", ["node"], unique=True, sqlite_where=opened, postgresql_where=opened
    )
    op.create_index("flashes_node", "flashes", ["node", "id"])


def _leases() -> None:
    op.create_table(
        "firmware_leases",
        _text("node"),
        _text("holder"),
        _id("run", nullable=True),
        _at("until"),
        _text("bmc"),
        _refers("firmware_leases", "node", "nodes.name"),
        _refers("firmware_leases", "run", "runs.id"),
        sa.PrimaryKeyConstraint("node", name=op.f("pk_firmware_leases")),
    )
    op.create_table(
        "power_allowances",
        *(_text(name) for name in ("node", "by", "because")),
        _at("at"),
        _at("until"),
        _refers("power_allowances", "node", "nodes.name"),
        sa.PrimaryKeyConstraint("node", name=op.f("pk_power_allowances")),
    )
    op.create_table(
        "bios_tries",
        _text("node"),
        _text("attributes"),
        _at("at"),
        _count("resets"),
        _at("reset_from"),
        _refers("bios_tries", "node", "nodes.name"),
        sa.PrimaryKeyConstraint("node", name=op.f("pk_bios_tries")),
    )


def _rollouts() -> None:
    op.create_table(
        "rollouts",
        _id("id"),
        *(_text(name) for name in ("device_type", "by")),
        _at("at"),
        _text("reason"),
        _count("canary"),
        _count("wave"),
        _at("failed_share"),
        *(_text(name) for name in ("state", "detail")),
        _at("changed_at"),
        _at("counts_from"),
        _count("version"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rollouts")),
    )
    going_on = sa.text("state IN ('running', 'paused')")
    op.create_index(
        "rollouts_one_open",
        "rollouts",
        ["device_type"],
        unique=True,
        sqlite_where=going_on,
        postgresql_where=going_on,
    )
    op.create_table(
        "rollout_nodes",
        _id("rollout"),
        _text("node"),
        _count("wave"),
        *(_text(name) for name in ("state", "detail")),
        _at("changed_at"),
        _id("intent", nullable=True),
        _refers("rollout_nodes", "rollout", "rollouts.id"),
        _refers("rollout_nodes", "node", "nodes.name"),
        _refers("rollout_nodes", "intent", "intents.id"),
        sa.PrimaryKeyConstraint("rollout", "node", name=op.f("pk_rollout_nodes")),
    )
    op.create_index("rollout_nodes_node", "rollout_nodes", ["node", "rollout"])
    asked = sa.text("state = 'asked'")
    op.create_index("rollout_nodes_asked", "rollout_nodes", ["rollout"], sqlite_where=asked, postgresql_where=asked)
