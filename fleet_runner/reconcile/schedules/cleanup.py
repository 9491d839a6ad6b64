"""Each runner takes away its own old folders: nobody else reaches its disk."""

import time
from threading import Thread

from fleet_runner.adapters.logs import log
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.schedules.firing import Row
from fleet_runner.reconcile.schedules import retention
from fleet_runner.settings import Settings

NAME = "retention"
"""The schedule that it goes by."""


class LocalRetention:
    """What a runner does of retention each time that another one has done the store's part of it."""

    def __init__(self, settings: Settings, store: Store, runner: str) -> None:
        self.settings, self.store, self.runner = settings, store, runner
        self.followed: float | None = None
        self.thread: Thread | None = None

    def follow(self, row: Row) -> None:
        """Begin, in a thread, if retention was done elsewhere since the last time."""
        if row.ended_at is None or row.ended_at == self.followed or row.is_running:
            return
        if self.thread is not None and self.thread.is_alive():
            return
        self.followed = row.ended_at
        if row.runner != self.runner:
            self.thread = Thread(target=self._tidy, name="tidying", daemon=True)
            self.thread.start()

    def _tidy(self) -> None:
        try:
            done = retention.tidied(self.settings, self.store, time.time())
        except (FleetError, OSError) as error:
            log.warning("old folders of this runner stay until the next retention", why=str(error))
        else:
            if done.folders:
                log.info("old folders of this runner are gone", folders=done.folders, bytes=done.folder_bytes)
