"""The tables of the web service: who has logged in, who asked what, and how far each channel was notified."""

from sqlalchemy import Boolean, Column, Double, Index, Integer, Table

from fleet_runner.adapters.store.engine.columns import Id, Words, metadata

sessions = Table(
    "sessions",
    metadata,
    Column("digest", Words, primary_key=True),  # SHA-256, hex; what the browser shows is kept nowhere
    Column("name", Words, nullable=False),
    Column("role", Words, nullable=False),
    Column("tenant", Words, nullable=False),
    Column("token", Id, nullable=False),  # 0 where it was not opened with one
    Column("made_at", Double, nullable=False),
    Column("until", Double, nullable=False),
)
Index("sessions_until", sessions.c.until)

audit = Table(
    "audit",
    metadata,
    Column("id", Id, primary_key=True),
    Column("at", Double, nullable=False),
    Column("name", Words, nullable=False),
    Column("role", Words, nullable=False),
    Column("source", Words, nullable=False),
    Column("method", Words, nullable=False),
    Column("path", Words, nullable=False),
    Column("status", Integer, nullable=False),
    Column("detail", Words, nullable=False),
)
Index("audit_at", audit.c.at)
Index("audit_name", audit.c.name, audit.c.id)

channels = Table(  # who is notified, and how far: one row a channel of the notifications file
    "channels",
    metadata,
    Column("name", Words, primary_key=True),
    Column("told", Id, nullable=False),  # the newest line of the journal that it knows
    Column("holder", Words, nullable=False),  # who tells it, until then
    Column("until", Double, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("due_at", Double, nullable=False),
    Column("detail", Words, nullable=False),
    Column("told_at", Double),
    Column("urgent", Id, nullable=False),  # likewise of urgent lines, which break quiet hours
    Column("asked", Id, nullable=False),  # the last line of a message that may be out; 0 where none may
    Column("asked_urgent", Boolean, nullable=False),  # whether that message holds urgent lines alone
    Column("hour", Id, nullable=False),  # hours since the epoch, and how many messages went out in this one
    Column("sent", Integer, nullable=False),
    Column("away_at", Double),  # since when it could not be told
)
