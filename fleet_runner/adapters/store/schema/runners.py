"""Several runners on one database: who they are, what they carry, what runs by schedule, what people switched off."""

from sqlalchemy import Boolean, Column, Double, ForeignKey, Index, Integer, Table

from fleet_runner.adapters.store.engine.columns import Id, Json, Words
from fleet_runner.adapters.store.schema.firmware import flashes

metadata = flashes.metadata

runners = Table(
    "runners",
    metadata,
    Column("id", Words, primary_key=True),
    Column("host", Words, nullable=False),
    Column("release", Words, nullable=False),
    Column("places", Json, nullable=False),
    Column("slots", Integer, nullable=False),
    Column("started_at", Double, nullable=False),
    Column("beat_at", Double, nullable=False),
    Column("ending", Boolean, nullable=False),  # it takes nothing more
)

parcels = Table(  # a batch between runners, and its lease: what may begin, and once, whoever has its job
    "parcels",
    metadata,
    Column("batch", Words, ForeignKey("batches.id"), primary_key=True),
    Column("places", Json, nullable=False),
    Column("runs", Json, nullable=False),
    Column("offered_at", Double, nullable=False),
    Column("runner", Words, nullable=False),  # "" while nobody has it
    Column("job", Id),  # the engine's, which has a worker take it
    Column("token", Integer, nullable=False, server_default="0"),  # of schema 0016, whose supervisors may still run
    Column("carrier", Words, nullable=False),  # the supervisor that started it, "" while none has
    Column("until", Double, nullable=False),  # until when it may begin, then the end of its lease
    Column("started_at", Double),
    Column("ended_at", Double),
    Column("rc", Integer),
    Column("detail", Words, nullable=False),
    Column("stop", Boolean, nullable=False),  # somebody wants it to end
)
Index("parcels_open", parcels.c.runner, parcels.c.offered_at, sqlite_where=parcels.c.ended_at.is_(None),
      postgresql_where=parcels.c.ended_at.is_(None))  # fmt: skip

turns = Table(  # whose turn it is to do what one runner does for all: "decide" alone today
    "turns",
    metadata,
    Column("name", Words, primary_key=True),
    Column("runner", Words, nullable=False),
    Column("until", Double, nullable=False),  # by the database's clock
)

schedules = Table(  # all times by the database's clock
    "schedules",
    metadata,
    Column("name", Words, primary_key=True),
    Column("plan", Words, nullable=False),  # as it was when `due_at` was worked out
    Column("due_at", Double, nullable=False),
    Column("asked_at", Double),  # somebody wants it now
    Column("token", Integer, nullable=False),  # grows each time a runner takes it
    Column("firing", Double),  # which moment the last taking is for
    Column("began_at", Double),
    Column("until", Double, nullable=False),  # whoever took it has it till then
    Column("runner", Words, nullable=False),
    Column("ended_at", Double),
    Column("outcome", Words, nullable=False),  # "" while it runs
    Column("detail", Words, nullable=False),
)

switches = Table(  # what people switched off: "queue", or "schedule NAME"
    "switches",
    metadata,
    Column("name", Words, primary_key=True),
    Column("at", Double, nullable=False),
    Column("by", Words, nullable=False),
    Column("reason", Words, nullable=False),
)

modes = Table(  # what people said of how far automation may go; only ever added to, the last word holds
    "modes",
    metadata,
    Column("id", Id, primary_key=True),
    Column("scope", Words, nullable=False),
    Column("name", Words, nullable=False),  # "" of the fleet
    Column("kind", Words, nullable=False),  # "" for all of them
    Column("mode", Words, nullable=False),  # "" takes an earlier word back
    Column("at", Double, nullable=False),
    Column("by", Words, nullable=False),
    Column("reason", Words, nullable=False),
)

ownership = Table(  # whose the store is; only ever added to, the last row holds
    "ownership",
    metadata,
    Column("number", Id, primary_key=True),
    Column("id", Words, nullable=False),
    Column("source", Words, nullable=False),
    Column("at", Double, nullable=False),
    Column("by", Words, nullable=False),
    Column("reason", Words, nullable=False),
)

pruned = Table(  # how far retention has come: "sweeps" alone today
    "pruned",
    metadata,
    Column("name", Words, primary_key=True),
    Column("until", Double, nullable=False),
)
