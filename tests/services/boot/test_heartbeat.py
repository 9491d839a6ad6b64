"""A boot service's signs of life, and that it was away."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from fleet_runner.core.base.errors import StoreError
from fleet_runner.core.boot.progress import STARTED
from fleet_runner.services.boot.heartbeat import AWAY_SECONDS, beat
from tests.services.boot.desks import Hall, play
from tests.waiting import PATIENCE


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not true():  # noqa: ASYNC110  what is waited for is a thread's
            await asyncio.sleep(0.005)


def test_a_service_tells_that_it_lives_and_when_it_began_and_when_it_was_away(tmp_path: Path) -> None:
    """It was, where its store was or where nothing ran for a minute, though the process is the same."""

    async def story(hall: Hall) -> None:
        began = hall.now
        work = asyncio.create_task(beat(hall.desk, 0.01))
        try:
            await until(lambda: hall.store.beats() == {"boot": began, STARTED: began})
            hall.now += AWAY_SECONDS
            await until(lambda: hall.store.beats() == {"boot": hall.now, STARTED: began})
            hall.now += AWAY_SECONDS + 1
            await until(lambda: hall.store.beats() == {"boot": hall.now, STARTED: hall.now})
            with patch.object(hall.desk.ledger, "tell", side_effect=StoreError("the store is away")) as tell:
                hall.now += 20
                await until(lambda: tell.call_count > 1)
            await until(lambda: hall.store.beats() == {"boot": hall.now, STARTED: hall.now})
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    play(tmp_path, story)


def test_every_boot_service_tells_so(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        await until(lambda: hall.store.beats().keys() == {"boot", STARTED})

    play(tmp_path, story)
