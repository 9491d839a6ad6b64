"""Which machine each node is: serial, system UUID, BMC address and MAC addresses, as the source of truth has them."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0010"


def upgrade() -> None:
    """Add the table; the next reading of the source of truth fills it."""
    op.create_table(
        "machines",
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("node", "serial", "uuid", "bmc", "macs")),
        sa.PrimaryKeyConstraint("node", name=op.f("pk_machines")),
        sa.ForeignKeyConstraint(["node"], ["nodes.name"], name=op.f("fk_machines_node")),
    )
