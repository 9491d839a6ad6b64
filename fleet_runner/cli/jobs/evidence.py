"""Where evidence about a job comes from: its scheduler, the store, and the files that were given."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from fleet_runner.cli.base import session
from fleet_runner.cli.base.session import errors, whoami
from fleet_runner.cli.jobs.logs import Logs
from fleet_runner.core.base.errors import StoreError
from fleet_runner.core.base.plural import counted
from fleet_runner.core.base.printable import printable
from fleet_runner.core.jobs import collectives, known, node_logs, node_measures
from fleet_runner.core.jobs.answer import Answer
from fleet_runner.core.jobs.cause import Reach
from fleet_runner.core.jobs.event import Event
from fleet_runner.core.jobs.job import Job
from fleet_runner.core.jobs.node_measures import NodesCompared
from fleet_runner.core.jobs.record import Record
from fleet_runner.core.lifecycle.clusters import names

if TYPE_CHECKING:
    from fleet_runner.adapters.store import Store
    from fleet_runner.settings import Settings


class Nowhere:
    """No store and no scheduler: files alone."""

    def record(self, job_id: str) -> Record:
        """Return an empty job: nobody can be asked about one."""
        return Record(Job(job_id, (), 0.0))

    def about(self, job: Job) -> tuple[tuple[Event, ...], Reach]:
        """Return nothing."""
        del job
        return (), Reach()

    def compared(self, job: Job) -> NodesCompared:
        """Return that nothing was compared."""
        del job
        return NodesCompared()

    def keep(self, answer: Answer, now: float) -> None:
        """Keep nothing."""


class OfFleet(Nowhere):
    """The scheduler and the store of a fleet's settings."""

    def __init__(self, settings: "Settings", store: "Store") -> None:
        self._settings = settings
        self._store = store
        self._strange: frozenset[str] = frozenset()

    def record(self, job_id: str) -> Record:
        """Return a job as its scheduler tells it; SchedulerError or SettingsError where that cannot be asked.

        Of several clusters, nodes of one name may be different ones: what the store knows is of those that are ours.
        """
        from fleet_runner.adapters.schedulers import jobs  # noqa: PLC0415  needs clients that other commands spare

        found, known = jobs.read(self._settings, job_id), self._settings.kubeconfigs
        if self._settings.scheduler != "kubernetes" or len(known) == 1:
            return found
        from fleet_runner.adapters import source  # noqa: PLC0415  as above

        there = names(source.read(self._settings), job_id.rpartition(":")[0], known)
        self._strange = frozenset(node for node in found.job.nodes if there.of(node) != node)
        left = f"fleet-runner does not know {counted(len(self._strange), 'node')} of it by the name in that cluster"
        return replace(found, notes=(*found.notes, left)) if self._strange else found

    def about(self, job: Job) -> tuple[tuple[Event, ...], Reach]:
        """Return what the store knows of a job's nodes in its time, and what was done about it."""
        found = self._store.known_of_job(self._ours(job), job.begun, _until(job))
        acts = tuple(dict.fromkeys(each.sentence for each in known.done(found)))
        return known.events(found), Reach(unsure=found.left_out, done=acts)

    def compared(self, job: Job) -> NodesCompared:
        """Return how a job's nodes differ by what sweeps measured in its time."""
        return node_measures.compare(*self._store.measured_of_job(self._ours(job), job.begun, _until(job)))

    def _ours(self, job: Job) -> tuple[str, ...]:
        return tuple(node for node in job.nodes if node not in self._strange)

    def keep(self, answer: Answer, now: float) -> None:
        """Keep an answer; where the store takes none, say so: it was printed all the same."""
        try:
            self._store.keep_answer(answer, now, whoami())
        except StoreError as error:
            errors.print(printable(f"warning: the answer is not kept: {error}"), markup=False, soft_wrap=True)


def _until(job: Job) -> float:
    return job.ended if job.ended is not None else time.time()


@contextmanager
def opened(*, needed: bool) -> Iterator[Nowhere]:
    """Open what a fleet has for the length of a command; without `needed` files are enough and nothing is opened."""
    if not needed:
        yield Nowhere()
        return
    with session.opened() as (settings, store):
        yield OfFleet(settings, store)


def of_logs(logs: Logs, job: Job) -> tuple[Event, ...]:
    """Return what logs of nodes and flight recorder dumps say."""
    dumps = collectives.analyse(logs.dumps, len(job.ranks)) if logs.dumps else []
    return (
        *node_logs.events(logs.read),
        *(event for downs in logs.downs for event in downs.end()),
        *dumps,
    )
