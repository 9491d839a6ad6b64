"""Results are found by node, by check, and by a verdict that is no pass."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add indexes; nothing that was there changes."""
    notable = sa.text("verdict IN ('FAIL', 'UNKNOWN')")
    op.create_index("results_node", "results", ["node", "id"])
    op.create_index("results_check", "results", ["check", "id"])
    op.create_index("results_notable", "results", ["verdict", "id"], sqlite_where=notable, postgresql_where=notable)
