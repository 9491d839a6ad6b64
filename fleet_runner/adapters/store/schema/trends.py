"""The tables of foresight: where parts were, what they measured each day, what befell them, what is foreseen."""

from sqlalchemy import Column, Double, Index, Integer, LargeBinary, PrimaryKeyConstraint, Table, text

from fleet_runner.adapters.store.engine.columns import Id, Json, Words, metadata

FORESEEN = text("ended_at IS NULL")
"""Written out, not bound: SQLite uses a partial index only for a query that visibly implies it."""

stays = Table(  # a part in a place: see core.reliability.parts.stay
    "stays",
    metadata,
    Column("id", Id, primary_key=True),
    Column("kind", Words, nullable=False),
    Column("serial", Words, nullable=False),  # "" where it is not known
    Column("node", Words, nullable=False),  # not a foreign key: a part is remembered longer than its node
    Column("component", Words, nullable=False),
    Column("slot", Words, nullable=False),
    Column("first_at", Double, nullable=False),
    Column("last_at", Double, nullable=False),
)
Index("stays_place", stays.c.node, stays.c.component, stays.c.id)
Index("stays_serial", stays.c.serial, stays.c.id)

panels = Table(  # one metric on one day, of all parts: see core.reliability.trends.panel
    "panels",
    metadata,
    Column("metric", Words, nullable=False),
    Column("day", Integer, nullable=False),  # days since the epoch, UTC
    Column("rows", Id, nullable=False),
    Column("body", LargeBinary, nullable=False),
    PrimaryKeyConstraint("metric", "day"),
)
Index("panels_day", panels.c.day)

counted = Table(  # what counters said last, of all parts: from it the next look tells how much they grew
    "counted",
    metadata,
    Column("metric", Words, primary_key=True),
    Column("rows", Id, nullable=False),
    Column("body", LargeBinary, nullable=False),
)

episodes = Table(  # one fault of one component: see core.reliability.parts.stay
    "episodes",
    metadata,
    Column("id", Id, primary_key=True),
    Column("node", Words, nullable=False),
    Column("component", Words, nullable=False),
    Column("code", Words, nullable=False),
    Column("fault", Words, nullable=False),
    Column("check", Words, nullable=False),  # "" of a pushed signal
    Column("serial", Words, nullable=False),
    Column("first_at", Double, nullable=False),
    Column("last_at", Double, nullable=False),
    Column("seen", Id, nullable=False),
)
Index("episodes_node", episodes.c.node, episodes.c.id)
Index("episodes_last", episodes.c.last_at)
Index("episodes_serial", episodes.c.serial, episodes.c.id)

gathered = Table(  # how far results, alarms and the like were read into these tables
    "gathered",
    metadata,
    Column("name", Words, primary_key=True),
    Column("upto", Id, nullable=False),  # the last id that was read
    Column("at", Double, nullable=False),
    Column("told", Json, nullable=False),  # what was left out, and how much of it
)

foresights = Table(
    "foresights",
    metadata,
    Column("id", Id, primary_key=True),
    Column("key", Words, nullable=False),
    Column("kind", Words, nullable=False),
    Column("node", Words, nullable=False),
    Column("component", Words, nullable=False),
    Column("metric", Words, nullable=False),
    Column("serial", Words, nullable=False),
    Column("sentence", Words, nullable=False),
    Column("numbers", Json, nullable=False),
    Column("first_at", Double, nullable=False),
    Column("last_at", Double, nullable=False),
    Column("ended_at", Double),
)
Index("foresights_one", foresights.c.key, unique=True, sqlite_where=FORESEEN, postgresql_where=FORESEEN)
Index("foresights_node", foresights.c.node, foresights.c.id)
Index("foresights_ended", foresights.c.ended_at)

analyses = Table(  # what an analysis of the whole fleet came to, the newest of each: pages and commands show it
    "analyses",
    metadata,
    Column("name", Words, primary_key=True),
    Column("at", Double, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("body", Json, nullable=False),
)
