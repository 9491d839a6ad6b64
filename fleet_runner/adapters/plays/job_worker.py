"""The engine's worker of a runner: it is given the jobs of batches that the runner reaches and has room for.

The engine is Procrastinate. Its worker beats, listens and asks for jobs in an event loop of its own, in one thread.
A job that it repeats, or gives to two, harms nothing: the batch's row lets one begin, once.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol

import psycopg
from procrastinate import App, JobContext, PsycopgConnector
from procrastinate.connector import BaseConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager, NotificationCallback

from fleet_runner.adapters.logs import log
from fleet_runner.adapters.plays import lease
from fleet_runner.adapters.store.engine.database import driver_arguments
from fleet_runner.adapters.store.runs.jobs import BEGIN, LOOK
from fleet_runner.core.base.errors import FleetError, StoreError
from fleet_runner.settings import Settings, load

LOOKS = 3.0
"""Seconds between two looks for jobs, where the engine tells of none."""

GRACE = 5.0
"""Seconds that a job which is being started is given at the end."""

KEPT_HOURS = 24
"""How long jobs that failed are kept for people to look at."""

_KNOWN = "SELECT id FROM procrastinate_workers WHERE id = %(worker_id)s"

for _name in ("procrastinate", "psycopg.pool"):  # what goes wrong is said by us, in a sentence
    logging.getLogger(_name).setLevel(logging.CRITICAL)


class Hands(Protocol):
    """What a runner does for its worker."""

    def queues(self) -> Iterable[str]:
        """Return the queues that it takes jobs of now."""
        ...

    def start(self, batch: str) -> None:
        """Start a batch."""

    def look(self) -> None:
        """Decide what is due now."""


def _begin(context: JobContext, batch: str) -> None:
    try:
        context.additional_context["hands"].start(batch)
    except FleetError as error:
        log.warning("a batch could not be started", batch=batch, why=str(error))
        raise
    except Exception:
        log.exception("a batch could not be started", batch=batch)
        raise


def _look(context: JobContext) -> None:
    context.additional_context["hands"].look()


class Manager(JobManager):
    """Asks for no more than its runner may take, and fails the jobs of workers that are gone: none is repeated.

    The engine watches what beats and listens only where it has tasks by the clock, so that is done here: `end` ends
    the worker, and another one begins.
    """

    def __init__(self, connector: BaseConnector, hands: Hands, seconds: float, end: Callable[[], object]) -> None:
        super().__init__(connector)
        self._hands, self._seconds, self._end = hands, seconds, end

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        """Return the next job that its runner may have."""
        del queues
        wanted = await asyncio.to_thread(lambda: list(self._hands.queues()))
        return await super().fetch_job(wanted, worker_id) if wanted else None

    async def listen_for_jobs(
        self, *, on_notification: NotificationCallback, queues: Iterable[str] | None = None
    ) -> None:
        """Hear of jobs."""
        with self._watched("listening"):
            await super().listen_for_jobs(on_notification=on_notification, queues=queues)

    async def update_heartbeat(self, worker_id: int) -> None:
        """Beat, and see to those who do not.

        Raises:
            StoreError: this one was frozen for so long that it was removed, which the engine does not say.
        """
        with self._watched("beating"):
            await super().update_heartbeat(worker_id)
            if not await self.connector.execute_query_all_async(_KNOWN, worker_id=worker_id):
                raise StoreError("another worker removed this one, which was silent for too long")
            for job in await self.get_stalled_jobs(seconds_since_heartbeat=self._seconds):
                with suppress(ConnectorException):  # another runner was first
                    await self.finish_job(job, Status.FAILED, delete_job=False)

    @contextmanager
    def _watched(self, what: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            log.warning("the engine's worker begins anew", failed=what, why=str(error.__cause__ or error))
            self._end()
            raise


class JobWorker:
    """The worker of one runner, for as long as `run` goes."""

    def __init__(self, settings: Settings, name: str, hands: Hands) -> None:
        self._settings, self._name, self._hands = settings, name, hands
        self._ended = False
        self._stop: Callable[[], object] = lambda: None

    def run(self, *, wait: bool = True) -> None:
        """Do jobs until `end`, or without `wait` those that there are.

        Raises:
            StoreError: the store is away; its jobs wait.
        """
        try:
            asyncio.run(self._work(wait=wait))
        except asyncio.CancelledError:
            return
        except (ConnectorException, psycopg.Error) as error:
            raise StoreError(f"the engine's worker cannot reach the store ({error.__cause__ or error})") from error

    def end(self) -> None:
        """Take no more, from another thread."""
        self._ended = True
        with suppress(RuntimeError):  # it has just ended by itself
            self._stop()

    async def _work(self, *, wait: bool) -> None:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        if task is None or self._ended:
            return
        self._stop = lambda: loop.call_soon_threadsafe(task.cancel)
        seconds = self._settings.lease_seconds
        app = opened(self._settings.store_url)
        app.job_manager = Manager(app.connector, self._hands, seconds, task.cancel)
        async with app.open_async():
            await app.job_manager.delete_old_jobs(KEPT_HOURS, None, include_failed=True, include_cancelled=True,
                                                  include_aborted=True)  # fmt: skip
            await app.run_worker_async(
                name=self._name,
                wait=wait,
                fetch_job_polling_interval=LOOKS,
                update_heartbeat_interval=seconds / lease.RENEWALS,
                stalled_worker_timeout=seconds,
                shutdown_graceful_timeout=GRACE,
                delete_jobs="successful",
                install_signal_handlers=False,
                additional_context={"hands": self._hands},
            )


def opened(url: str) -> App:
    """Return the engine on a store."""
    connector = PsycopgConnector(kwargs=driver_arguments(url), min_size=1, max_size=2, timeout=10.0)
    found = App(connector=connector)
    found.task(name=BEGIN, pass_context=True)(_begin)
    found.task(name=LOOK, pass_context=True)(_look)
    return found


def __getattr__(name: str) -> Any:
    """Return the `app` of the settings' store, for the engine's own command: `procrastinate --app …`."""
    if name != "app":
        raise AttributeError(name)
    return opened(load().store_url)
