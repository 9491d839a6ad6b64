"""The tables of remedies: alarms, attempts, the breaker, cases at vendors, tickets elsewhere. See `schema`."""

from sqlalchemy import Boolean, Column, Double, ForeignKey, Index, Integer, PrimaryKeyConstraint, Table, text

from fleet_runner.adapters.store.columns import Id, Json, Words, metadata

STANDING = text("cleared_at IS NULL")
GOING_ON = text("ended_at IS NULL")
UNSENT = text("sent_at IS NULL")
"""Written out, not bound: SQLite uses a partial index only for a query that visibly implies it."""

alarms = Table(
    "alarms",
    metadata,
    Column("id", Id, primary_key=True),
    Column("node", Words, ForeignKey("nodes.name"), nullable=False),
    Column("code", Words, nullable=False),
    Column("component", Words, nullable=False),
    Column("fault", Words, nullable=False),
    Column("source", Words, nullable=False),
    Column("message", Words, nullable=False),
    Column("remedy", Words, nullable=False),
    Column("at_once", Boolean, nullable=False),
    Column("first_at", Double, nullable=False),
    Column("last_at", Double, nullable=False),
    Column("heard_at", Double, nullable=False),
    Column("count", Id, nullable=False),
    Column("raised_at", Double),
    Column("cleared_at", Double),
    Column("cleared_because", Words, nullable=False),
)
Index("alarms_one_standing", alarms.c.node, alarms.c.code, alarms.c.component, unique=True, sqlite_where=STANDING,
      postgresql_where=STANDING)  # fmt: skip
Index("alarms_node", alarms.c.node, alarms.c.id)

heard = Table(
    "heard",
    metadata,
    Column("source", Words, nullable=False),
    Column("what", Words, nullable=False),  # taken, repeated, late, refused and why: a word each
    Column("count", Id, nullable=False),
    Column("last_at", Double, nullable=False),
    Column("detail", Words, nullable=False),
    PrimaryKeyConstraint("source", "what"),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Words, nullable=False),
    Column("scope", Words, nullable=False),
    Column("sources", Json, nullable=False),  # what its holder may speak for and of; empty: all
    Column("nodes", Json, nullable=False),
    Column("digest", Words, nullable=False, unique=True),  # SHA-256, hex; the token itself is kept nowhere
    Column("made_at", Double, nullable=False),
    Column("by", Words, nullable=False),
    Column("until", Double),
    Column("used_at", Double),
    Column("revoked_at", Double),
)

attempts = Table(
    "attempts",
    metadata,
    Column("id", Id, primary_key=True),
    Column("node", Words, ForeignKey("nodes.name"), nullable=False),
    Column("remedy", Words, nullable=False),
    Column("faults", Json, nullable=False),
    Column("by", Words, nullable=False),
    Column("at", Double, nullable=False),
    Column("ended_at", Double),
    Column("helped", Boolean),
    Column("because", Words, nullable=False),
)
Index("attempts_one_open", attempts.c.node, unique=True, sqlite_where=GOING_ON, postgresql_where=GOING_ON)
Index("attempts_node", attempts.c.node, attempts.c.at)

breakers = Table(
    "breakers",
    metadata,
    Column("scope", Words, primary_key=True),
    Column("opened_at", Double, nullable=False),
    Column("because", Words, nullable=False),
    Column("trial", Words, nullable=False),  # the node that is tried; "" where none is
    Column("tried_at", Double),
)
"""What stands here is open, or half open while a trial runs; a closed breaker has no row."""

cases = Table(
    "cases",
    metadata,
    Column("id", Id, primary_key=True),
    Column("node", Words, ForeignKey("nodes.name"), nullable=False),
    Column("vendor", Words, nullable=False),
    Column("number", Words, nullable=False),
    Column("by", Words, nullable=False),
    Column("opened_at", Double, nullable=False),
    Column("parts", Json, nullable=False),
    Column("ended_at", Double),
    Column("because", Words, nullable=False),
)
Index("cases_node", cases.c.node, cases.c.id)

outbox = Table(
    "outbox",
    metadata,
    Column("id", Id, primary_key=True),
    Column("ticket", Id, ForeignKey("tickets.id"), nullable=False),
    Column("tracker", Words, nullable=False),
    Column("act", Words, nullable=False),
    Column("key", Words, nullable=False),
    Column("body", Json, nullable=False),
    Column("made_at", Double, nullable=False),
    Column("due_at", Double, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("sent_at", Double),
    Column("detail", Words, nullable=False),
)
Index("outbox_keys", outbox.c.tracker, outbox.c.key, unique=True)
Index("outbox_due", outbox.c.due_at, outbox.c.id, sqlite_where=UNSENT, postgresql_where=UNSENT)

ticket_links = Table(
    "ticket_links",
    metadata,
    Column("ticket", Id, ForeignKey("tickets.id"), nullable=False),
    Column("tracker", Words, nullable=False),
    Column("remote", Words, nullable=False),
    Column("url", Words, nullable=False),
    PrimaryKeyConstraint("ticket", "tracker"),
)
