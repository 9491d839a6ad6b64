"""The table of answers to why jobs ended."""

from sqlalchemy import Column, Double, Index, Table

from fleet_runner.adapters.store.engine.columns import Id, Json, Words, metadata

job_answers = Table(  # see core.jobs.kept
    "job_answers",
    metadata,
    Column("id", Id, primary_key=True),
    Column("key", Words, nullable=False),  # one of each end of a job
    Column("scheduler", Words, nullable=False),
    Column("job", Words, nullable=False),
    Column("owner", Words, nullable=False),
    Column("tenant", Words, nullable=False),
    Column("state", Words, nullable=False),
    Column("begun", Double, nullable=False),
    Column("ended", Double),  # null while it runs
    Column("gpus", Id, nullable=False),
    Column("node_count", Id, nullable=False),
    Column("area", Words, nullable=False),
    Column("code", Words, nullable=False),
    Column("component", Words, nullable=False),
    Column("node", Words, nullable=False),  # not a foreign key: an answer outlives its node
    Column("fault_at", Double),
    Column("blur", Double, nullable=False),
    Column("at", Double, nullable=False),  # of the first answer about this end
    Column("told_at", Double, nullable=False),  # of this one
    Column("by", Words, nullable=False),
    Column("body", Json, nullable=False),
)
Index("job_answers_key", job_answers.c.key, unique=True)
Index("job_answers_job", job_answers.c.job, job_answers.c.id)
Index("job_answers_ended", job_answers.c.ended)
Index("job_answers_told", job_answers.c.told_at)
