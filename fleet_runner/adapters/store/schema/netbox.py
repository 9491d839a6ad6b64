"""How far a NetBox is told: what stands in its devices' fields, which history it has, which serials wait."""

from sqlalchemy import Column, Double, ForeignKey, Integer, PrimaryKeyConstraint, Table

from fleet_runner.adapters.store.engine.columns import Id, Json, Words
from fleet_runner.adapters.store.schema.firmware import flashes

metadata = flashes.metadata

mirrors = Table(
    "mirrors",
    metadata,
    Column("url", Words, primary_key=True),
    Column("began", Id, nullable=False),  # the newest line of the journal when it was told first: older ones are not
    Column("seen", Id, nullable=False),  # up to which line it is known what each node has to tell
)

mirrored_fields = Table(
    "mirrored_fields",
    metadata,
    Column("url", Words, ForeignKey("mirrors.url"), nullable=False),
    Column("node", Words, ForeignKey("nodes.name"), nullable=False),
    Column("state", Words, nullable=False),  # as it was written last; "" for never
    Column("since", Double, nullable=False),
    Column("written_at", Double),
    Column("asked", Json, nullable=False),  # what was sent since, and no answer said whether it was taken
    Column("conflict", Words, nullable=False),  # what somebody else put there, "" for nothing
    Column("tries", Integer, nullable=False),
    Column("due_at", Double, nullable=False),
    Column("detail", Words, nullable=False),  # why it is not written
    PrimaryKeyConstraint("url", "node"),
)

mirrored_lines = Table(
    "mirrored_lines",
    metadata,
    Column("url", Words, ForeignKey("mirrors.url"), nullable=False),
    Column("node", Words, ForeignKey("nodes.name"), nullable=False),
    Column("newest", Id, nullable=False),  # the newest line of the node that is worth telling
    Column("told", Id, nullable=False),  # the newest that is told
    Column("doubted", Id, nullable=False),  # lines up to here may be told: they are looked for first
    Column("asked_at", Double, nullable=False),  # when lines were sent last
    Column("tries", Integer, nullable=False),
    Column("due_at", Double, nullable=False),
    Column("detail", Words, nullable=False),  # why they are not told
    PrimaryKeyConstraint("url", "node"),
)

serials = Table(
    "serials",
    metadata,
    Column("node", Words, ForeignKey("nodes.name"), nullable=False),
    Column("slot", Words, nullable=False),
    Column("out", Words, nullable=False),  # what may stand there now; "" where it is not known
    Column("came", Words, nullable=False),
    Column("by", Words, nullable=False),
    Column("at", Double, nullable=False),
    Column("conflict", Words, nullable=False),  # what stands there instead, "" for nothing
    Column("tries", Integer, nullable=False),
    Column("due_at", Double, nullable=False),
    Column("detail", Words, nullable=False),
    PrimaryKeyConstraint("node", "slot"),
)

page_intents = Table(  # what people asked for in devices' pages, each by the change that set it
    "page_wishes",
    metadata,
    Column("url", Words, nullable=False),
    Column("device", Id, nullable=False),
    Column("change", Id, nullable=False),  # 0 where the change log cannot be read
    Column("at", Double, nullable=False),  # when it was set, by NetBox's clock
    Column("name", Words, nullable=False),
    Column("wish", Words, key="kind", nullable=False),
    Column("reason", Words, nullable=False),
    Column("by", Words, nullable=False),
    Column("taken_at", Double, nullable=False),
    Column("gone_at", Double),  # when its field was first seen without it
    Column("intent", Id, ForeignKey("intents.id")),  # None where it was refused at once
    Column("refusal", Words, nullable=False),  # why, where no history of a node can say it
    Column("telling_until", Double, nullable=False),  # somebody says so in NetBox until then
    Column("told_at", Double),
    PrimaryKeyConstraint("url", "device", "change", "at"),
)
