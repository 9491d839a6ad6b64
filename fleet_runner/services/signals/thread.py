"""The listener in a thread beside the reconciler: what fails here never stops that, and begins again."""

import asyncio
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

import uvloop

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import FleetError
from fleet_runner.services.http.listening import more_files
from fleet_runner.services.signals.counters import trouble
from fleet_runner.services.signals.serving import Listening, Read, Told, secured
from fleet_runner.settings import Settings

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds until a listener that failed begins again: twice as many each time, until one has lasted that long."""

TURN = 0.0005
"""Seconds that a thread may go on while another one wants to: a push takes many turns until it is written."""


class Beside:
    """A thread that listens, until it is ended."""

    def __init__(self, settings: Settings, store: Store, read: Read, tell: Told) -> None:
        self._given = settings, store, read
        self._tell = tell
        self._over = Event()
        self._running: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None
        self._thread = Thread(target=self._listen, name="listener")
        self.trouble = "it has not begun yet"

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()

    def end(self) -> None:
        """Listen no more; what was taken is written when this returns."""
        self._over.set()
        if self._running is not None:
            loop, stop = self._running
            with suppress(RuntimeError):  # it has ended by itself
                loop.call_soon_threadsafe(stop.set)
        self._thread.join()

    def _listen(self) -> None:
        pause = FIRST_PAUSE
        while not self._over.is_set():
            began = time.monotonic()
            try:
                with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                    runner.run(self._once())
            except Exception as error:  # noqa: BLE001  whatever it is, the reconciler goes on
                why = str(error) if isinstance(error, FleetError) else trouble(error)
                pause = FIRST_PAUSE if time.monotonic() - began > LONGEST_PAUSE else min(pause * 2, LONGEST_PAUSE)
                self.trouble = why
                self._tell(f"signals: the listener failed: {why}; it begins again in {pause:.0f} s")
                self._over.wait(pause)

    async def _once(self) -> None:
        stop = asyncio.Event()
        self._running = asyncio.get_running_loop(), stop
        if not self._over.is_set():  # it may have been ended before it could be told so
            await Listening(*self._given).serve(stop, self._opened)

    def _opened(self, sentence: str) -> None:
        """A door is open, as the sentence says."""
        self.trouble = ""
        self._tell(sentence)


@contextmanager
def beside(settings: Settings, store: Store, read: Read, tell: Told) -> Iterator[Beside]:
    """Take signals for as long as it is open; SettingsError where the settings cannot be meant."""
    secured(settings)
    more_files()
    thread, usual = Beside(settings, store, read, tell), sys.getswitchinterval()
    sys.setswitchinterval(TURN)
    thread.start()
    try:
        yield thread
    finally:
        thread.end()
        sys.setswitchinterval(usual)
