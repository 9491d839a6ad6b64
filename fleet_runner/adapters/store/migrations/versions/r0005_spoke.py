"""Beside the newest result of each check stands the newest one that says something about the node."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

KNOWN = """
UPDATE latest SET spoke = result WHERE EXISTS (
    SELECT 1 FROM results WHERE results.id = latest.result
    AND results.verdict <> 'SKIPPED' AND results.observed NOT LIKE '%"working"_true%'
)
"""
"""Of a check whose newest result says nothing, the next one that does is remembered."""


def upgrade() -> None:
    """Add the column, and fill it where the newest result says something."""
    op.add_column("latest", sa.Column("spoke", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True))
    op.execute(KNOWN)
