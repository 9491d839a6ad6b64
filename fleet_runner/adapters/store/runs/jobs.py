"""Jobs of the engine, Procrastinate, as the store makes them: in its own transactions, and with PostgreSQL alone.

A job holds a batch's name and nothing else. The engine hands it to one worker; the batch's row says what may begin.
"""

import json

from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError

BEGIN, LOOK = "fleet:begin", "fleet:look"
"""What workers are asked to do: start a batch, or look now, of whoever decides."""

BELL = "look"
"""The queue of those who decide."""

_DEFER = text("""
SELECT unnest(procrastinate_defer_jobs_v1(ARRAY[
    ROW(:queue, :task, 0, NULL, :once, CAST(:args AS jsonb), NULL)
]::procrastinate_job_to_defer_v1[]))
""")
_RUNG = text("SELECT FROM procrastinate_jobs WHERE status = 'todo' AND queueing_lock = :once")
_TIDY = text("""
SELECT procrastinate_cancel_job_v1(jobs.id, false, true) FROM procrastinate_jobs AS jobs
JOIN parcels ON parcels.job = jobs.id WHERE jobs.status = 'todo' AND parcels.ended_at IS NOT NULL
""")
_WAKE = text('SELECT pg_notify(\'procrastinate_any_queue_v1\', \'{"type": "job_inserted", "job_id": 0}\')')


def offer(connection: Connection, queue: str, batch: str) -> int:
    """Have a worker start a batch; return the job's number."""
    given = {"queue": queue, "task": BEGIN, "once": None, "args": json.dumps({"batch": batch})}
    return int(connection.execute(_DEFER, given).scalar_one())


def ring(connection: Connection) -> None:
    """Have whoever decides look now; nothing more where that is asked for already."""
    if connection.dialect.name != "postgresql" or connection.execute(_RUNG, {"once": BELL}).first() is not None:
        return
    try:
        with connection.begin_nested():
            connection.execute(_DEFER, {"queue": BELL, "task": LOOK, "once": BELL, "args": "{}"})
    except IntegrityError:  # somebody rang at the same moment
        return


def is_rung(connection: Connection) -> bool:
    """Whether somebody has whoever decides look, and nobody does yet."""
    return connection.execute(_RUNG, {"once": BELL}).first() is not None


def wake(connection: Connection) -> None:
    """Have all workers ask for jobs now, as the engine does for a new one: one has room again, or may take again."""
    if connection.dialect.name == "postgresql":
        connection.execute(_WAKE)


def tidy(connection: Connection) -> None:
    """Remove the jobs of batches that ended before anybody took them."""
    connection.execute(_TIDY)
