"""Foresight: where parts were, what they measured each day, what befell them, and what is foreseen."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the tables; nothing that was there changes."""
    _parts()
    op.create_table(
        "panels",
        *_text("metric"),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("rows", Id, nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("metric", "day", name=op.f("pk_panels")),
    )
    op.create_index("panels_day", "panels", ["day"])
    op.create_table(
        "counted",
        *_text("metric"),
        sa.Column("rows", Id, nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("metric", name=op.f("pk_counted")),
    )
    op.create_table(
        "gathered",
        *_text("name"),
        sa.Column("upto", Id, nullable=False),
        *_at("at"),
        *_text("told"),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_gathered")),
    )
    op.create_table(
        "foresights",
        sa.Column("id", Id, nullable=False),
        *_text("key", "kind", "node", "component", "metric", "serial", "sentence", "numbers"),
        *_at("first_at", "last_at"),
        sa.Column("ended_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_foresights")),
    )
    standing = sa.text("ended_at IS NULL")
    op.create_index(
        "foresights_one", "foresights", ["key"], unique=True, sqlite_where=standing, postgresql_where=standing
    )
    op.create_index("foresights_node", "foresights", ["node", "id"])
    op.create_index("foresights_ended", "foresights", ["ended_at"])
    op.create_table(
        "analyses",
        *_text("name"),
        *_at("at", "seconds"),
        *_text("body"),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_analyses")),
    )


def _parts() -> None:
    op.create_table(
        "stays",
        sa.Column("id", Id, nullable=False),
        *_text("kind", "serial", "node", "component", "slot"),
        *_at("first_at", "last_at"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_stays")),
    )
    op.create_index("stays_place", "stays", ["node", "component", "id"])
    op.create_index("stays_serial", "stays", ["serial", "id"])
    op.create_table(
        "episodes",
        sa.Column("id", Id, nullable=False),
        *_text("node", "component", "code", "fault", "check", "serial"),
        *_at("first_at", "last_at"),
        sa.Column("seen", Id, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_episodes")),
    )
    op.create_index("episodes_node", "episodes", ["node", "id"])
    op.create_index("episodes_last", "episodes", ["last_at"])
    op.create_index("episodes_serial", "episodes", ["serial", "id"])


def _text(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def _at(*names: str) -> list[sa.Column[float]]:
    return [sa.Column(name, sa.Double(), nullable=False) for name in names]
