"""The tables. Times are seconds since the epoch; words are the values of core's enums.

`results`, `evidence` and `journal` are only ever added to, but for what retention takes away (`pruning`). The partial
indexes are the promises that hold whatever the code above does: one open run, one open boot and one open flash per
node, one open ticket per fault, each step of a boot once.
"""

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
    text,
)

from fleet_runner.adapters.store.engine.columns import Id, Json, Words
from fleet_runner.adapters.store.schema import firmware, jobs, netbox, remedies, runners, trends, web

ELSEWHERE = (firmware, jobs, remedies, runners, netbox, web, trends)
"""Modules with more tables, of the same metadata."""

metadata = firmware.flashes.metadata
"""Of the tables here and of those there."""

REVISION = "0019"
"""The schema these tables describe; a store at another one is not opened."""

LIVE = text("nodes.state <> 'retired'")
"""Written out, not bound: SQLite uses a partial index only for a query that visibly implies it."""

SPOKEN = text("outcome IN ('passed', 'failed')")
"""Runs that came to a verdict; only their durations foretell anything. Written out for the same reason."""

NOTABLE = text("verdict IN ('FAIL', 'UNKNOWN')")
"""Verdicts that somebody looks for, and few results have. Written out, likewise."""

STARTED = text("event = 'start'")
"""Beginnings of Day 0. Written out, likewise."""

REFUSED = text("kind = 'refused'")
STEPS = text("kind <> 'refused'")
"""What happens to a boot once: all but refusals. Both written out for the same reason."""

nodes = Table(
    "nodes",
    metadata,
    Column("name", Words, primary_key=True),
    Column("device_type", Words, nullable=False),
    Column("management", Words, nullable=False),
    Column("state", Words, nullable=False),
    Column("since", Double, nullable=False),
    Column("version", Integer, nullable=False),
    Column("fence", Integer, nullable=False),
    Column("waiting", Words, nullable=False),
    Column("wake_at", Double, nullable=False),
)
Index("nodes_due", nodes.c.wake_at, nodes.c.name, sqlite_where=text("state <> 'retired'"),
      postgresql_where=text("state <> 'retired'"))  # fmt: skip

machines = Table(  # what the source of truth said of each node's machine: see core.inventory.identity
    "machines",
    metadata,
    Column("node", Words, ForeignKey("nodes.name"), primary_key=True),
    Column("serial", Words, nullable=False),
    Column("uuid", Words, nullable=False),
    Column("bmc", Words, nullable=False),
    Column("macs", Json, nullable=False),
)

places = Table(  # where the source of truth last said that each node is: see core.inventory.last_places
    "places",
    metadata,
    Column("node", Words, ForeignKey("nodes.name"), primary_key=True),
    Column("site", Words, nullable=False),
    Column("rack", Words, nullable=False),
    Column("domain", Words, nullable=False),
    Column("tenant", Words, nullable=False),
)

conditions = Table(
    "conditions",
    metadata,
    Column("node", Words, ForeignKey("nodes.name"), nullable=False),
    Column("condition", Words, nullable=False),
    Column("since", Double, nullable=False),
    Column("reason", Words, nullable=False),
    Column("by", Words, nullable=False),
    Column("detail", Words, nullable=False),
    PrimaryKeyConstraint("node", "condition"),
)

intents = Table(
    "intents",
    metadata,
    Column("id", Id, primary_key=True),
    Column("node", Words, ForeignKey("nodes.name"), nullable=False),
    Column("wish", Words, key="kind", nullable=False),
    Column("by", Words, nullable=False),
    Column("at", Double, nullable=False),
    Column("reason", Words, nullable=False),
    Column("detail", Words, nullable=False),
    Column("answered_at", Double),
    Column("accepted", Boolean),
    Column("answer", Words),
)
Index("intents_pending", intents.c.node, intents.c.id, sqlite_where=intents.c.answered_at.is_(None),
      postgresql_where=intents.c.answered_at.is_(None))  # fmt: skip

batches = Table(
    "batches",
    metadata,
    Column("id", Words, primary_key=True),
    Column("stage", Words, nullable=False),
    Column("opened_at", Double, nullable=False),
    Column("spool_offset", Id, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("id", Id, primary_key=True),
    Column("node", Words, ForeignKey("nodes.name"), nullable=False),
    Column("stage", Words, nullable=False),
    Column("fence", Integer, nullable=False),
    Column("batch", Words, ForeignKey("batches.id")),
    Column("opened_at", Double, nullable=False),
    Column("by", Words, nullable=False),
    Column("reason", Words, nullable=False),
    Column("ended_at", Double),
    Column("outcome", Words),
    Column("detail", Words, nullable=False),
    Column("done", Integer, nullable=False),
    Column("total", Integer, nullable=False),
    Column("task", Words, nullable=False),
    Column("play_end", Words),
    Column("play_ended_at", Double),
    Column("play_message", Words),
)
Index("runs_one_open", runs.c.node, unique=True, sqlite_where=runs.c.ended_at.is_(None),
      postgresql_where=runs.c.ended_at.is_(None))  # fmt: skip
Index("runs_open_batch", runs.c.batch, sqlite_where=runs.c.ended_at.is_(None),
      postgresql_where=runs.c.ended_at.is_(None))  # fmt: skip
Index("runs_node", runs.c.node, runs.c.opened_at, runs.c.id)
Index("runs_stage", runs.c.node, runs.c.stage, runs.c.id)
Index("runs_durations", runs.c.stage, runs.c.ended_at, sqlite_where=SPOKEN, postgresql_where=SPOKEN)

results = Table(
    "results",
    metadata,
    Column("id", Id, primary_key=True),
    Column("run", Id, ForeignKey("runs.id"), nullable=False),
    Column("node", Words, ForeignKey("nodes.name"), nullable=False),
    Column("stage", Words, nullable=False),
    Column("at", Double, nullable=False),
    Column("check", Words, nullable=False),
    Column("verdict", Words, nullable=False),
    Column("message", Words, nullable=False),
    Column("findings", Json, nullable=False),
    Column("observed", Json, nullable=False),
    Column("evidence", Json, nullable=False),
)
Index("results_run", results.c.run, results.c.id)
Index("results_node", results.c.node, results.c.id)
Index("results_check", results.c.check, results.c.id)
Index("results_notable", results.c.verdict, results.c.id, sqlite_where=NOTABLE, postgresql_where=NOTABLE)

latest = Table(
    "latest",
    metadata,
    Column("node", Words, ForeignKey("nodes.name"), nullable=False),
    Column("check", Words, nullable=False),
    Column("result", Id, ForeignKey("results.id"), nullable=False),
    Column("spoke", Id),  # the newest result that says something about the node
    PrimaryKeyConstraint("node", "check"),
)
Index("latest_result", latest.c.result)  # or whoever removes a result would read the whole table for each

evidence = Table(
    "evidence",
    metadata,
    Column("hash", Words, primary_key=True),
    Column("read", Words, nullable=False),
    Column("at", Double, nullable=False),
    Column("size", Id, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("stored", Id, nullable=False),  # bytes of the body
)
Index("evidence_at", evidence.c.at, evidence.c.stored)  # with the bytes: their sum is read from it alone

tickets = Table(
    "tickets",
    metadata,
    Column("id", Id, primary_key=True),
    Column("fault", Words, nullable=False),
    Column("check", Words, nullable=False),
    Column("title", Words, nullable=False),
    Column("body", Words, nullable=False),
    Column("remedy", Words, nullable=False),
    Column("opened_at", Double, nullable=False),
    Column("seen", Integer, nullable=False),
    Column("last_seen_at", Double, nullable=False),
    Column("closed_at", Double),
    Column("closed_because", Words, nullable=False),
)
Index("tickets_one_open", tickets.c.fault, unique=True, sqlite_where=tickets.c.closed_at.is_(None),
      postgresql_where=tickets.c.closed_at.is_(None))  # fmt: skip

ticket_nodes = Table(
    "ticket_nodes",
    metadata,
    Column("ticket", Id, ForeignKey("tickets.id"), nullable=False),
    Column("node", Words, nullable=False),  # not a foreign key: a switch has faults but no lifecycle
    PrimaryKeyConstraint("ticket", "node"),
)
Index("ticket_nodes_node", ticket_nodes.c.node, ticket_nodes.c.ticket)

journal = Table(
    "journal",
    metadata,
    Column("id", Id, primary_key=True),
    Column("node", Words, ForeignKey("nodes.name"), nullable=False),
    Column("at", Double, nullable=False),
    Column("kind", Words, nullable=False),
    Column("sentence", Words, nullable=False),
    Column("by", Words, nullable=False),
    Column("state", Words),
    Column("event", Words),
    Column("to", Words),
    Column("results", Json, nullable=False),
    Column("run", Id, ForeignKey("runs.id")),
)
Index("journal_node", journal.c.node, journal.c.at, journal.c.id)
Index("journal_to", journal.c.node, journal.c.to, journal.c.at)
Index("journal_started", journal.c.at, sqlite_where=STARTED, postgresql_where=STARTED)
Index("journal_run", journal.c.run, sqlite_where=journal.c.run.is_not(None),
      postgresql_where=journal.c.run.is_not(None))  # fmt: skip

boots = Table(
    "boots",
    metadata,
    Column("id", Id, primary_key=True),
    Column("node", Words, ForeignKey("nodes.name"), nullable=False),
    Column("run", Id, ForeignKey("runs.id")),
    Column("armed_at", Double, nullable=False),
    Column("expires_at", Double, nullable=False),
    Column("expected", Json, nullable=False),
    Column("nonce_hash", Words, nullable=False),
    Column("proved_by", Words, nullable=False),
    Column("claimed_at", Double),
    Column("claimed_by", Words, nullable=False),
    Column("host_keys", Json, nullable=False),
    Column("refused", Integer, nullable=False),
    Column("closed_at", Double),
    Column("closed_because", Words, nullable=False),
)
Index("boots_one_open", boots.c.node, unique=True, sqlite_where=boots.c.closed_at.is_(None),
      postgresql_where=boots.c.closed_at.is_(None))  # fmt: skip
Index("boots_node", boots.c.node, boots.c.id)
Index("boots_run", boots.c.run)

boot_events = Table(
    "boot_events",
    metadata,
    Column("id", Id, primary_key=True),
    Column("node", Words, nullable=False),  # not a foreign key: refused is also who is no node yet, or nobody known
    Column("boot", Id),  # not a foreign key: refused is also who names a boot that never was
    Column("at", Double, nullable=False),
    Column("last_at", Double, nullable=False),
    Column("kind", Words, nullable=False),
    Column("code", Words, nullable=False),
    Column("sentence", Words, nullable=False),
    Column("source", Words, nullable=False),
    Column("times", Integer, nullable=False),
)
Index("boot_events_node", boot_events.c.node, boot_events.c.id)
Index("boot_events_refused", boot_events.c.node, boot_events.c.last_at, sqlite_where=REFUSED,
      postgresql_where=REFUSED)  # fmt: skip
Index("boot_events_once", boot_events.c.boot, boot_events.c.kind, unique=True, sqlite_where=STEPS,
      postgresql_where=STEPS)  # fmt: skip

discovered = Table(
    "discovered",
    metadata,
    Column("mac", Words, primary_key=True),
    Column("at", Double, nullable=False),
    Column("source", Words, nullable=False),
    Column("serial", Words, nullable=False),
    Column("uuid", Words, nullable=False),
    Column("manufacturer", Words, nullable=False),
    Column("product", Words, nullable=False),
    Column("first_at", Double, nullable=False),
    Column("times", Integer, nullable=False),
)
Index("discovered_at", discovered.c.at, discovered.c.mac)

beats = Table(
    "beats",
    metadata,
    Column("who", Words, primary_key=True),
    Column("at", Double, nullable=False),
)
