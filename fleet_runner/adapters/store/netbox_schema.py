"""How far a NetBox is told: what stands in its devices' fields, which history it has, which serials wait."""

from sqlalchemy import Column, Double, ForeignKey, Index, Integer, PrimaryKeyConstraint, Table

from fleet_runner.adapters.store.columns import Id, Json, Words
from fleet_runner.adapters.store.firmware_schema import flashes

metadata = flashes.metadata

mirrors = Table(
    "mirrors",
    metadata,
    Column("url", Words, primary_key=True),
    Column("began", Id, nullable=False),  # the newest line of the journal when it was told first: older ones are not
    Column("seen", Id, nullable=False),  # up to which line it is known what each node has to tell
    Column("looked_at", Double, nullable=False),  # when every device's fields were compared last
)

mirrored = Table(
    "mirrored",
    metadata,
    Column("url", Words, ForeignKey("mirrors.url"), nullable=False),
    Column("node", Words, ForeignKey("nodes.name"), nullable=False),
    Column("written", Json, nullable=False),  # fields as they were written last; {} for never
    Column("asked", Json, nullable=False),  # what was sent since, and no answer said whether it was taken
    Column("conflict", Words, nullable=False),  # what somebody else put there, "" for nothing
    Column("written_at", Double),
    Column("newest", Id, nullable=False),  # the newest line of the journal that is worth telling
    Column("told", Id, nullable=False),  # the newest that is told
    Column("doubted", Id, nullable=False),  # up to here lines may be told: they are looked for first
    Column("asked_at", Double, nullable=False),  # when lines were sent last
    Column("tries", Integer, nullable=False),
    Column("due_at", Double, nullable=False),
    Column("detail", Words, nullable=False),  # why it is not told
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
    Column("tries", Integer, nullable=False),
    Column("due_at", Double, nullable=False),
    Column("detail", Words, nullable=False),
    PrimaryKeyConstraint("node", "slot"),
)
Index("serials_due", serials.c.due_at)
