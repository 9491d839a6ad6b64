"""The tables of remedies: alarms, attempts, the breaker, cases at vendors, tickets elsewhere. See `schema`."""

from sqlalchemy import (
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    and_,
    false,
    text,
)

from fleet_runner.adapters.store.engine.columns import Id, Json, Words, metadata

STANDING = text("cleared_at IS NULL")
GOING_ON = text("ended_at IS NULL")
WAITING = text("waits")
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
    Column("authenticated", Boolean, nullable=False, server_default=false()),
)
Index("alarms_one_standing", alarms.c.node, alarms.c.code, alarms.c.component, alarms.c.authenticated, unique=True,
      sqlite_where=STANDING, postgresql_where=STANDING)  # fmt: skip
COUNTED = and_(alarms.c.raised_at.is_not(None), alarms.c.authenticated)
"""Alarms from which something may follow: those that were raised, by somebody who proved who it is."""
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
    Column("tenant", Words, nullable=False, server_default=""),
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
    Column("pause", Double, nullable=False),
    Column("trial", Words, nullable=False),  # the node that is tried; "" where none is
    Column("tried_at", Double, nullable=False),
)
"""What stands here is open, or half open while a trial runs; a closed breaker has no row."""

wants = Table(
    "wants",
    metadata,
    Column("node", Words, ForeignKey("nodes.name"), primary_key=True),
    Column("at", Double, nullable=False),
    Column("codes", Json, nullable=False),
    Column("answered_at", Double),  # from when it counts no more: a window later, or once it was answered
)
Index("wants_at", wants.c.at)

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
    Column("act", Words, nullable=False),
    Column("sentence", Words, nullable=False),
    Column("by", Words, nullable=False),
    Column("at", Double, nullable=False),
    Column("key", Words),  # of what a page sent: whoever sent it, and its own number
)
Index("outbox_ticket", outbox.c.ticket, outbox.c.id)
Index("outbox_key", outbox.c.key, unique=True)
"""What happened to tickets, written with it: what is worth telling, whoever is told."""

ticket_photos = Table(  # see core.tickets.photos
    "ticket_photos",
    metadata,
    Column("ticket", Id, ForeignKey("tickets.id"), nullable=False),
    Column("digest", Words, nullable=False),
    Column("size", Id, nullable=False),
    Column("by", Words, nullable=False),
    Column("at", Double, nullable=False),
    Column("body", LargeBinary, nullable=False),
    PrimaryKeyConstraint("ticket", "digest"),
)
Index("ticket_photos_size", ticket_photos.c.size)
"""One that is sent twice is there once: its hash is its name. What all of them have is read from the index."""

ticket_links = Table(
    "ticket_links",
    metadata,
    Column("ticket", Id, ForeignKey("tickets.id"), nullable=False),
    Column("tracker", Words, nullable=False),
    Column("serial", Integer, nullable=False),  # which issue of the ticket it is there, from 1
    Column("remote", Words, nullable=False),  # "" while none is known
    Column("url", Words, nullable=False),
    Column("told", Id, nullable=False),  # the newest line of the outbox that the tracker knows
    Column("digest", Words, nullable=False),  # of what the issue says
    Column("asked_at", Double),  # when an issue was asked for last
    Column("waits", Boolean, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("due_at", Double, nullable=False),
    Column("detail", Words, nullable=False),
    PrimaryKeyConstraint("ticket", "tracker"),
)
Index("ticket_links_waiting", ticket_links.c.tracker, ticket_links.c.due_at, sqlite_where=WAITING,
      postgresql_where=WAITING)  # fmt: skip

trackers = Table(
    "trackers",
    metadata,
    Column("name", Words, primary_key=True),
    Column("holder", Words, nullable=False),  # who tells it, until then
    Column("until", Double, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("due_at", Double, nullable=False),
    Column("detail", Words, nullable=False),
    Column("heard_at", Double),  # when it took something last
)
