"""Traces of stages: each run that has ended is told once, beside the work, which never waits for it."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread

import structlog

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.traces import Send, sender
from fleet_runner.core.lifecycle.runs import Run
from fleet_runner.core.lifecycle.traces import Span, Times, spans
from fleet_runner.reconcile.loop.survive import errors_logged
from fleet_runner.settings import Settings

log = structlog.get_logger()

PULSE = 5.0
"""Seconds between two looks at the store."""

MOST = 2000
"""Runs that wait to be told; beyond that the oldest are told to nobody."""

AT_ONCE = 50
"""Runs that are sent together."""

BACK_SECONDS, BACK_RUNS = 600.0, 2000
"""How far a start looks back: what ended while nobody served is told, and what was told is the same once more."""

PAUSE, LONGEST_PAUSE = 10.0, 300.0
"""Seconds until the next try after a first failure, and after many."""

GRACE = 6.0
"""Seconds that a request under way is given at the end."""


@dataclass(slots=True)
class Tracing:
    """What follows the runs of a store; only who `decides` tells of them, or each would be told by every runner."""

    store: Store
    send: Send
    decides: Callable[[], bool] = field(default=lambda: True)
    clock: Callable[[], float] = time.time
    steady: Callable[[], float] = time.monotonic
    seen: int | None = None
    still: frozenset[int] = frozenset()
    open: frozenset[str] = frozenset()
    fresh: deque[Run] = field(default_factory=deque[Run])
    begun: dict[str, float] = field(default_factory=dict[str, float])
    waiting: deque[tuple[Span, ...]] = field(default_factory=deque[tuple[Span, ...]])
    pause: float = 0.0
    not_before: float = 0.0

    def visit(self) -> None:
        """Look at what has ended, and send what waits."""
        if not self.decides():
            self.seen = None  # whoever decides after another looks back, as at a start: what that one held is lost
            self.fresh.clear()
        else:
            self.fresh.extend(self._ended())
        while self.fresh:  # one that the store cannot be asked about now is asked about again
            self._take(self.fresh[0])
            self.fresh.popleft()
        while self.waiting and self.steady() >= self.not_before:
            self._send()

    def _ended(self) -> tuple[Run, ...]:
        """Return the runs that ended since the last look."""
        store, top = self.store, self.store.tops().runs
        still = {run.id: run.batch for run in store.open_runs()}
        if self.seen is None:
            ended = store.ended_runs(max(0, top - BACK_RUNS), top, since=self.clock() - BACK_SECONDS)
        else:
            ended = store.ended_among(self.still - still.keys()) + store.ended_runs(self.seen, top)
        self.seen, self.still = top, frozenset(number for number in still if number <= top)
        if store.shared:  # once a batch between runners has ended, nobody knows when it began
            carried = {each.batch: each.started_at for each in store.parcels() if each.started_at is not None}
            self.begun = {batch: at for batch, at in self.begun.items() if batch in self.open} | carried
        self.open = frozenset(still.values())
        return tuple(run for run in ended if run.id not in still)

    def _take(self, run: Run) -> None:
        told = self.store.ended(run.id)
        times = Times(self.begun.get(run.batch), told.at if told is not None else None)
        if len(self.waiting) >= MOST:
            self.waiting.popleft()
            log.warning("a run is not traced: too many wait", most=MOST)
        self.waiting.append(spans(run, times, self.store.results(run.id)))

    def _send(self) -> None:
        some = [self.waiting[at] for at in range(min(AT_ONCE, len(self.waiting)))]
        if self.send([span for run in some for span in run]):
            if self.pause:
                log.info("the collector accepts traces again")
            self.pause = 0.0
            for _ in some:
                self.waiting.popleft()
            return
        if not self.pause:
            log.warning("the collector does not accept traces; they are kept for a while", runs=len(self.waiting))
        self.pause = min(LONGEST_PAUSE, self.pause * 2 or PAUSE)
        self.not_before = self.steady() + self.pause


@contextmanager
def tracing(settings: Settings, store: Store, decides: Callable[[], bool]) -> Iterator[None]:
    """Tell of every run that ends for as long as it is open."""
    stop, found = Event(), Tracing(store, sender(settings), decides)
    thread = Thread(target=_follow, args=(found, stop), name="traces", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(GRACE)


def _follow(found: Tracing, stop: Event) -> None:
    over = False
    while not over:
        over = stop.is_set()  # what ended last is told, too
        with errors_logged(stop, "no run was traced"):
            found.visit()
        stop.wait(PULSE)
