"""Remedies: alarms and who may raise them, what was tried, the breaker, cases at vendors, and tickets elsewhere."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the tables; nothing that was there changes."""
    _alarms()
    _heard()
    _tokens()
    _attempts()
    _cases()
    _outbox()


def _text(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def _id(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False)


def _at(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Double(), nullable=False) for name in names]


def _maybe(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Double(), nullable=True) for name in names]


def _refers(table: str, column: str, to: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [to], name=op.f(f"fk_{table}_{column}"))


def _key(table: str, *columns: str) -> sa.PrimaryKeyConstraint:
    return sa.PrimaryKeyConstraint(*columns, name=op.f(f"pk_{table}"))


def _alarms() -> None:
    op.create_table(
        "alarms",
        _id("id"),
        *_text("node", "code", "component", "fault", "source", "message", "remedy"),
        sa.Column("at_once", sa.Boolean(), nullable=False),
        *_at("first_at", "last_at", "heard_at"),
        _id("count"),
        *_maybe("raised_at", "cleared_at"),
        *_text("cleared_because"),
        _refers("alarms", "node", "nodes.name"),
        _key("alarms", "id"),
    )
    standing = sa.text("cleared_at IS NULL")
    op.create_index(
        "alarms_one_standing", "alarms", ["node", "code", "component"], unique=True,
        sqlite_where=standing, postgresql_where=standing,
    )  # fmt: skip
    op.create_index("alarms_node", "alarms", ["node", "id"])


def _heard() -> None:
    op.create_table(
        "heard", *_text("source", "what"), _id("count"), *_at("last_at"), *_text("detail"),
        _key("heard", "source", "what"),
    )  # fmt: skip


def _tokens() -> None:
    op.create_table(
        "tokens",
        _id("id"),
        *_text("name", "scope", "sources", "nodes", "digest"),
        *_at("made_at"),
        *_text("by"),
        *_maybe("until", "used_at", "revoked_at"),
        _key("tokens", "id"),
        sa.UniqueConstraint("digest"),
    )


def _attempts() -> None:
    op.create_table(
        "attempts",
        _id("id"),
        *_text("node", "remedy", "faults", "by"),
        *_at("at"),
        *_maybe("ended_at"),
        sa.Column("helped", sa.Boolean(), nullable=True),
        *_text("because"),
        _refers("attempts", "node", "nodes.name"),
        _key("attempts", "id"),
    )
    open_ = sa.text("ended_at IS NULL")
    op.create_index(
        "attempts_one_open", "attempts", ["node"], unique=True, sqlite_where=open_, postgresql_where=open_
    )
    op.create_index("attempts_node", "attempts", ["node", "at"])
    op.create_table(
        "breakers",
        *_text("scope"),
        *_at("opened_at"),
        *_text("because"),
        *_at("pause"),
        *_text("trial"),
        *_at("tried_at"),
        _key("breakers", "scope"),
    )
    op.create_table(
        "wants",
        *_text("node"),
        *_at("at"),
        *_text("codes"),
        *_maybe("answered_at"),
        _refers("wants", "node", "nodes.name"),
        _key("wants", "node"),
    )
    op.create_index("wants_at", "wants", ["at"])


def _cases() -> None:
    op.create_table(
        "cases",
        _id("id"),
        *_text("node", "vendor", "number", "by"),
        *_at("opened_at"),
        *_text("parts"),
        *_maybe("ended_at"),
        *_text("because"),
        _refers("cases", "node", "nodes.name"),
        _key("cases", "id"),
    )
    op.create_index("cases_node", "cases", ["node", "id"])


def _outbox() -> None:
    op.create_table(
        "outbox",
        *(_id("id"), _id("ticket")),
        *_text("act", "sentence", "by"),
        *_at("at"),
        _refers("outbox", "ticket", "tickets.id"),
        _key("outbox", "id"),
    )
    op.create_index("outbox_ticket", "outbox", ["ticket", "id"])
    op.create_table(
        "ticket_links",
        _id("ticket"),
        *_text("tracker"),
        sa.Column("serial", sa.Integer(), nullable=False),
        *_text("remote", "url"),
        _id("told"),
        *_text("digest"),
        *_maybe("asked_at"),
        sa.Column("waits", sa.Boolean(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        *_at("due_at"),
        *_text("detail"),
        _refers("ticket_links", "ticket", "tickets.id"),
        _key("ticket_links", "ticket", "tracker"),
    )
    waiting = sa.text("waits")
    op.create_index(
        "ticket_links_waiting", "ticket_links", ["tracker", "due_at"], sqlite_where=waiting, postgresql_where=waiting
    )
    op.create_table(
        "trackers",
        *_text("name", "holder"),
        *_at("until"),
        sa.Column("tries", sa.Integer(), nullable=False),
        *_at("due_at"),
        *_text("detail"),
        *_maybe("heard_at"),
        _key("trackers", "name"),
    )
