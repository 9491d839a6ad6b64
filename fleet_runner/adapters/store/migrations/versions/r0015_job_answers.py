"""Job answers: why jobs ended, one answer for each end."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

WORDS = ("key", "scheduler", "job", "owner", "tenant", "state")
ORIGIN = ("area", "code", "component", "node")


def upgrade() -> None:
    """Add the table; nothing that was there changes."""
    op.create_table(
        "job_answers",
        sa.Column("id", Id, nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in WORDS),
        sa.Column("begun", sa.Double(), nullable=False),
        sa.Column("ended", sa.Double()),
        *(sa.Column(name, Id, nullable=False) for name in ("gpus", "node_count")),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ORIGIN),
        sa.Column("fault_at", sa.Double()),
        *(sa.Column(name, sa.Double(), nullable=False) for name in ("blur", "at", "told_at")),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("by", "body")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job_answers")),
    )
    op.create_index("job_answers_key", "job_answers", ["key"], unique=True)
    op.create_index("job_answers_job", "job_answers", ["job", "id"])
    op.create_index("job_answers_ended", "job_answers", ["ended"])
    op.create_index("job_answers_told", "job_answers", ["told_at"])
