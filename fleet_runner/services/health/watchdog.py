"""systemd's watchdog: it hears of a loop that lives, and starts the service anew when it does not."""

import contextlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from fleet_runner.adapters.systemd import Systemd

OFTEN = 4
"""How many times systemd is told in the time after which it would start the service anew."""


@contextmanager
def watched(systemd: Systemd, alive: Callable[[], bool]) -> Iterator[None]:
    """Tell systemd that it is ready, then that it lives for as long as that is so."""
    over = Event()

    def tell() -> None:
        while not over.wait(systemd.watchdog_seconds / OFTEN):
            if alive():
                systemd.alive()

    with contextlib.ExitStack() as stack:
        if systemd.watchdog_seconds:
            thread = Thread(target=tell, name="watchdog", daemon=True)
            thread.start()
            stack.callback(thread.join)
        stack.callback(over.set)
        systemd.ready()
        yield
