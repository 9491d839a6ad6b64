"""The first tables: nodes, wishes, runs, results with evidence, tickets, the journal."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make a store out of an empty database."""
    _nodes()
    _runs()
    _results()
    _tickets()
    _journal()


def _text(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def _id(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=nullable)


def _at(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Double(), nullable=nullable)


def _count(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.Integer(), nullable=False)


def _index(name: str, table: str, columns: list[str], *, where: str = "", unique: bool = False) -> None:
    only = sa.text(where) if where else None
    op.create_index(name, table, columns, unique=unique, sqlite_where=only, postgresql_where=only)


def _nodes() -> None:
    op.create_table(
        "nodes",
        _text("name"),
        _text("device_type"),
        _text("management"),
        _text("state"),
        _at("since"),
        _count("version"),
        _count("fence"),
        _text("waiting"),
        _at("wake_at"),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_nodes")),
    )
    _index("nodes_due", "nodes", ["wake_at", "name"], where="state <> 'retired'")
    op.create_table(
        "conditions",
        _text("node"),
        _text("condition"),
        _at("since"),
        _text("reason"),
        _text("by"),
        _text("detail"),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name=op.f("fk_conditions_node")),
        sa.PrimaryKeyConstraint("node", "condition", name=op.f("pk_conditions")),
    )
    op.create_table(
        "intents",
        _id("id"),
        _text("node"),
        _text("wish"),
        _text("by"),
        _at("at"),
        _text("reason"),
        _text("detail"),
        _at("answered_at", nullable=True),
        sa.Column("accepted", sa.Boolean(), nullable=True),
        _text("answer", nullable=True),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name=op.f("fk_intents_node")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_intents")),
    )
    _index("intents_pending", "intents", ["node", "id"], where="answered_at IS NULL")


def _runs() -> None:
    op.create_table(
        "batches",
        _text("id"),
        _text("stage"),
        _at("opened_at"),
        _id("spool_offset"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_batches")),
    )
    op.create_table(
        "runs",
        _id("id"),
        _text("node"),
        _text("stage"),
        _count("fence"),
        _text("batch", nullable=True),
        _at("opened_at"),
        _text("by"),
        _text("reason"),
        _at("ended_at", nullable=True),
        _text("outcome", nullable=True),
        _text("detail"),
        _count("done"),
        _count("total"),
        _text("task"),
        _text("play_end", nullable=True),
        _at("play_ended_at", nullable=True),
        _text("play_message", nullable=True),
        sa.ForeignKeyConstraint(["batch"], ["batches.id"], name=op.f("fk_runs_batch")),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name=op.f("fk_runs_node")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
    )
    _index("runs_durations", "runs", ["stage", "ended_at"], where="outcome IN ('passed', 'failed')")
    _index("runs_node", "runs", ["node", "opened_at", "id"])
    _index("runs_one_open", "runs", ["node"], where="ended_at IS NULL", unique=True)
    _index("runs_open_batch", "runs", ["batch"], where="ended_at IS NULL")
    _index("runs_stage", "runs", ["node", "stage", "id"])


def _results() -> None:
    op.create_table(
        "results",
        _id("id"),
        _id("run"),
        _text("node"),
        _text("stage"),
        _at("at"),
        _text("check"),
        _text("verdict"),
        _text("message"),
        _text("findings"),
        _text("observed"),
        _text("evidence"),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name=op.f("fk_results_node")),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name=op.f("fk_results_run")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_results")),
    )
    _index("results_run", "results", ["run", "id"])
    op.create_table(
        "latest",
        _text("node"),
        _text("check"),
        _id("result"),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name=op.f("fk_latest_node")),
        sa.ForeignKeyConstraint(["result"], ["results.id"], name=op.f("fk_latest_result")),
        sa.PrimaryKeyConstraint("node", "check", name=op.f("pk_latest")),
    )
    op.create_table(
        "evidence",
        _text("hash"),
        _text("read"),
        _at("at"),
        _id("size"),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_evidence")),
    )


def _tickets() -> None:
    op.create_table(
        "tickets",
        _id("id"),
        _text("fault"),
        _text("check"),
        _text("title"),
        _text("body"),
        _text("remedy"),
        _at("opened_at"),
        _count("seen"),
        _at("last_seen_at"),
        _at("closed_at", nullable=True),
        _text("closed_because"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tickets")),
    )
    _index("tickets_one_open", "tickets", ["fault"], where="closed_at IS NULL", unique=True)
    op.create_table(
        "ticket_nodes",
        _id("ticket"),
        _text("node"),
        sa.ForeignKeyConstraint(["ticket"], ["tickets.id"], name=op.f("fk_ticket_nodes_ticket")),
        sa.PrimaryKeyConstraint("ticket", "node", name=op.f("pk_ticket_nodes")),
    )
    _index("ticket_nodes_node", "ticket_nodes", ["node", "ticket"])


def _journal() -> None:
    op.create_table(
        "journal",
        _id("id"),
        _text("node"),
        _at("at"),
        _text("kind"),
        _text("sentence"),
        _text("by"),
        _text("state", nullable=True),
        _text("event", nullable=True),
        _text("to", nullable=True),
        _text("results"),
        _id("run", nullable=True),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name=op.f("fk_journal_node")),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name=op.f("fk_journal_run")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_journal")),
    )
    _index("journal_node", "journal", ["node", "at", "id"])
    _index("journal_to", "journal", ["node", "to", "at"])
