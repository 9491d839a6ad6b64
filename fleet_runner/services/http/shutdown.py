"""The end of a service in a process of its own: in order when it is asked for, at once the second time."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fleet_runner.adapters.systemd import Systemd

OFTEN = 4
"""How many times systemd is told in the time after which it would start the service anew."""


def asked_to_end() -> asyncio.Event:
    """Return what is set at the first signal that asks for the end; the second one is the system's."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    asking = [
        number
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN
    ]

    def end() -> None:
        stop.set()
        for number in asking:
            loop.remove_signal_handler(number)

    for number in asking:
        loop.add_signal_handler(number, end)
    return stop


@asynccontextmanager
async def told_of(systemd: Systemd) -> AsyncIterator[None]:
    """Tell systemd that the service is ready, that its event loop goes round, and that it ends."""
    systemd.ready()
    task = asyncio.create_task(_alive(systemd)) if systemd.watchdog_seconds else None
    try:
        yield
    finally:
        systemd.stopping()
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


async def _alive(systemd: Systemd) -> None:
    while True:
        systemd.alive()
        await asyncio.sleep(systemd.watchdog_seconds / OFTEN)
