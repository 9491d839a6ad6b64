"""What the source of truth says, read beside the requests: answers come from the last good copy."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.boot.identity import Index, index
from fleet_runner.core.inventory.records import Fleet

log = structlog.get_logger()

FOLDER_SECONDS, NETBOX_SECONDS = 5.0, 60.0
"""Pause between two looks: a folder's files are only looked at, a NetBox is asked for everything."""


@dataclass(frozen=True, slots=True, eq=False)
class Copy:
    """The source of truth at one moment, and where in it who is; another copy is never equal."""

    fleet: Fleet
    index: Index


class Known:
    """The last good copy. `trouble` is why it could not be read since, "" where it could."""

    def __init__(self, read: Callable[[], Fleet]) -> None:
        self._read = read
        self.copy = _copy(read())
        self.trouble = ""

    async def keep(self, seconds: float) -> None:
        """Read it again and again, until cancelled."""
        while True:
            await asyncio.sleep(seconds)
            await self.refresh()

    async def refresh(self) -> None:
        """Read it again in a thread; one that cannot be read or contradicts itself changes nothing."""
        try:
            self.copy = await asyncio.to_thread(self._changed)
        except Exception as error:  # noqa: BLE001  whatever it is, the last good copy serves and is looked at again
            why = str(error) if isinstance(error, FleetError) else repr(error)
            if not self.trouble:
                log.warning("the source of truth cannot be read; the last good copy serves", why=why)
            self.trouble = why
            return
        if self.trouble:
            log.info("the source of truth can be read again")
        self.trouble = ""

    def _changed(self) -> Copy:
        fleet, old = self._read(), self.copy
        same = fleet is old.fleet or (fleet.revision and fleet.revision == old.fleet.revision)
        return old if same else _copy(fleet)


def _copy(fleet: Fleet) -> Copy:
    return Copy(fleet, index(fleet))
