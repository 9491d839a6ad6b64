"""The tables of firmware: flashes, who drives a node's, who allowed power, BIOS settings, rollouts. See `schema`."""

from sqlalchemy import Column, Double, ForeignKey, Index, Integer, PrimaryKeyConstraint, Table, text

from fleet_runner.adapters.store.engine.columns import Id, Json, Words, metadata

GOING_ON = text("state IN ('running', 'paused')")
ASKED = text("state = 'asked'")
"""Rollouts that may still ask, and nodes whose turn it is in one. Both written out for the same reason."""

flashes = Table(
    "flashes",
    metadata,
    Column("id", Id, primary_key=True),
    Column("node", Words, ForeignKey("nodes.name"), nullable=False),
    Column("component", Words, nullable=False),
    Column("before", Json, nullable=False),
    Column("targets", Json, nullable=False),
    Column("image", Words, nullable=False),
    Column("sha256", Words, nullable=False),
    Column("activate", Words, nullable=False),
    Column("times", Integer, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("intended_at", Double, nullable=False),
    Column("by", Words, nullable=False),
    Column("run", Id, ForeignKey("runs.id")),
    Column("rolls_back", Id, ForeignKey("flashes.id")),
    Column("phase", Words, nullable=False),
    Column("tasks_before", Json, nullable=False),
    Column("task", Words, nullable=False),
    Column("sent_at", Double),
    Column("updated_at", Double),
    Column("activations", Integer, nullable=False),
    Column("activated_at", Double),
    Column("activated", Integer, nullable=False),
    Column("bmc_reset_before", Double),
    Column("ended_at", Double),
    Column("end", Words),
    Column("detail", Words, nullable=False),
    Column("bmc", Words, nullable=False),
)
Index("flashes_one_open", flashes.c.node, unique=True, sqlite_where=flashes.c.ended_at.is_(None),
      postgresql_where=flashes.c.ended_at.is_(None))  # fmt: skip
Index("flashes_node", flashes.c.node, flashes.c.id)
Index("flashes_run", flashes.c.run)

firmware_leases = Table(
    "firmware_leases",
    metadata,
    Column("node", Words, ForeignKey("nodes.name"), primary_key=True),
    Column("holder", Words, nullable=False),
    Column("run", Id, ForeignKey("runs.id")),
    Column("until", Double, nullable=False),
    Column("bmc", Words, nullable=False),
)
Index("firmware_leases_run", firmware_leases.c.run)

power_allowances = Table(
    "power_allowances",
    metadata,
    Column("node", Words, ForeignKey("nodes.name"), primary_key=True),
    Column("by", Words, nullable=False),
    Column("because", Words, nullable=False),
    Column("at", Double, nullable=False),
    Column("until", Double, nullable=False),
)

bios_tries = Table(
    "bios_tries",
    metadata,
    Column("node", Words, ForeignKey("nodes.name"), primary_key=True),
    Column("attributes", Json, nullable=False),
    Column("at", Double, nullable=False),
    Column("resets", Integer, nullable=False),
    Column("reset_from", Double, nullable=False),
)

rollouts = Table(
    "rollouts",
    metadata,
    Column("id", Id, primary_key=True),
    Column("device_type", Words, nullable=False),
    Column("by", Words, nullable=False),
    Column("at", Double, nullable=False),
    Column("reason", Words, nullable=False),
    Column("canary", Integer, nullable=False),
    Column("wave", Integer, nullable=False),
    Column("failed_share", Double, nullable=False),
    Column("state", Words, nullable=False),
    Column("detail", Words, nullable=False),
    Column("changed_at", Double, nullable=False),
    Column("counts_from", Double, nullable=False),
    Column("version", Integer, nullable=False),
)
Index("rollouts_one_open", rollouts.c.device_type, unique=True, sqlite_where=GOING_ON,
      postgresql_where=GOING_ON)  # fmt: skip

rollout_nodes = Table(
    "rollout_nodes",
    metadata,
    Column("rollout", Id, ForeignKey("rollouts.id"), nullable=False),
    Column("node", Words, ForeignKey("nodes.name"), nullable=False),
    Column("wave", Integer, nullable=False),
    Column("state", Words, nullable=False),
    Column("detail", Words, nullable=False),
    Column("changed_at", Double, nullable=False),
    Column("intent", Id, ForeignKey("intents.id")),
    PrimaryKeyConstraint("rollout", "node"),
)
Index("rollout_nodes_node", rollout_nodes.c.node, rollout_nodes.c.rollout)
Index("rollout_nodes_asked", rollout_nodes.c.rollout, sqlite_where=ASKED, postgresql_where=ASKED)
