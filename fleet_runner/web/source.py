"""The source of truth, read again and again beside pages that no runner's loop stands behind."""

from collections.abc import Callable
from threading import Event, Thread
from types import TracebackType
from typing import Self

import structlog

from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.inventory.records import Fleet

log = structlog.get_logger()

EVERY_SECONDS = 30.0


class Following:
    """What the source said last; it is read for as long as this is open. Where it cannot be, the last stays."""

    def __init__(self, read: Callable[[], Fleet]) -> None:
        self._read = read
        self._over = Event()
        self._thread = Thread(target=self._follow, name="source", daemon=True)
        self._trouble = ""
        self.fleet: Fleet | None = None

    def __enter__(self) -> Self:
        self._look()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join(EVERY_SECONDS)

    def _follow(self) -> None:
        while not self._over.wait(EVERY_SECONDS):
            self._look()

    def _look(self) -> None:
        try:
            self.fleet, self._trouble = self._read(), ""
        except FleetError as error:
            if str(error) != self._trouble:
                log.warning("the source of truth cannot be read; its last data is shown", why=str(error))
            self._trouble = str(error)
