"""Places: where the source of truth last said that each node is."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Add the table; the next reading of the source fills it."""
    op.create_table(
        "places",
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("node", "site", "rack", "domain", "tenant")),
        sa.PrimaryKeyConstraint("node", name=op.f("pk_places")),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name=op.f("fk_places_node")),
    )
