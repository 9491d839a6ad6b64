"""A boot service's signs of life in the store, and that it was away: who asked it meanwhile had no answer."""

import asyncio

from fleet_runner.core.base.errors import StoreError
from fleet_runner.core.boot.boots import Heartbeat
from fleet_runner.core.boot.progress import STARTED
from fleet_runner.services.boot.answers import BootContext

BEAT_SECONDS = 20.0
"""Pause between two signs of life."""

AWAY_SECONDS = 60.0
"""Between two signs of life that reach the store: after longer, it was away."""


async def beat(desk: BootContext, pause: float = BEAT_SECONDS) -> None:
    """Tell the store that this service lives, and first that it serves (again), until cancelled."""
    away = True
    while True:
        now = desk.clock()
        away = not await _told(desk, now, (STARTED, "boot") if away else ("boot",))
        await asyncio.sleep(pause)
        away = away or desk.clock() - now > AWAY_SECONDS


async def _told(desk: BootContext, now: float, names: tuple[str, ...]) -> bool:
    try:
        for name in names:
            await desk.ledger.tell(Heartbeat(name, now))
    except StoreError:
        return False  # the ledger has logged it
    return True
