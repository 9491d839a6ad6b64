"""A runner that takes batches in the middle of a test, as its worker does: by the engine's own functions."""

from sqlalchemy import text

from fleet_runner.adapters.store import Store
from fleet_runner.core.inventory.placement import Offer

SECONDS = 600.0

FETCH = text("""
SELECT id, CAST(args AS json) ->> 'batch' AS batch
FROM procrastinate_fetch_job_v2(CAST(:queues AS varchar[]), :worker)
""")


def worker(store: Store) -> int:
    """Have the engine know another worker."""
    with store._database.write() as connection:
        return int(connection.execute(text("SELECT worker_id FROM procrastinate_register_worker_v1()")).scalar_one())


def fetch(store: Store, runner: str, by: int) -> tuple[int, str] | None:
    """Have the engine give a runner its next job; return its number and its batch."""
    queues = list(store.reached(runner))
    with store._database.write() as connection:
        found = connection.execute(FETCH, {"queues": queues, "worker": by}).one()
    return None if found.id is None else (found.id, found.batch)


def finish(store: Store, job: int) -> None:
    """Have the engine remove a job that was done."""
    with store._database.write() as connection:
        connection.execute(text("SELECT procrastinate_finish_job_v1(:job, 'succeeded', true)"), {"job": job})


def take(store: Store, runner: str, seconds: float = SECONDS) -> list[Offer]:
    """Have a runner take all that it may, to begin it within so many seconds."""
    taken, mine = list[Offer](), worker(store)
    while (found := fetch(store, runner, mine)) is not None:
        claimed = store.claim_parcel(found[1], runner, seconds)
        finish(store, found[0])
        if claimed is not None:
            taken.append(claimed)
    return taken
