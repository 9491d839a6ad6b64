"""The history, counted once from its beginning and then followed: a scrape reads what is new, and no more."""

from collections import Counter
from dataclasses import dataclass, field
from threading import Event, Lock, Thread

import structlog

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.reliability.metrics import STRETCH, Took, Watermarks
from fleet_runner.core.base.errors import StoreError
from fleet_runner.core.lifecycle.metrics import RUN_BOUNDS, Moves, Spread

log = structlog.get_logger()

PATIENCE = 1.0
"""Seconds for which a scrape waits for what is new; after that it tells what was counted before."""


NOTHING = Watermarks(0, 0, 0)


@dataclass(slots=True)
class Counts:
    """What was counted up to some ids; `still` are the runs below that were open then."""

    at: Watermarks = NOTHING
    moves: Moves = field(default_factory=Moves)
    runs: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    seconds: dict[str, Spread] = field(default_factory=dict[str, Spread])
    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    still: frozenset[int] = frozenset()

    def took(self, found: tuple[Took, ...]) -> None:
        """Add runs that have ended."""
        for each in found:
            self.runs[each.stage, each.outcome] += each.times
            spread = self.seconds.setdefault(each.stage, Spread(RUN_BOUNDS))
            spread.counts[each.bound] += each.times
            spread.total += each.seconds


class Counted:
    """The totals of a store, for as long as this process lives. Scrapes may come from any number of threads."""

    def __init__(self, store: Store, stop: Event) -> None:
        self._store, self._stop = store, stop
        self._lock = Lock()
        self._thread: Thread | None = None
        self._counts = Counts()
        self._whole = False
        self.lock = Lock()
        """Held while totals change, and by whoever reads them."""

    def totals(self, patience: float = PATIENCE) -> Counts | None:
        """Return what was counted, after what is new was; None until the history was counted once as a whole.

        Half of it would look, once the rest came, as if all of that had just happened.
        """
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = Thread(target=self._follow, name="counting", daemon=True)
                self._thread.start()
            thread = self._thread
        thread.join(patience)
        return self._counts if self._whole else None

    def _follow(self) -> None:
        try:
            tops = self._store.tops()
            if any(top < at for top, at in zip(tops, self._counts.at, strict=True)):
                self._begin_anew()
            while not self._stop.is_set() and self._counts.at != tops:
                self._stretch(tops)
            found = self._store.since_open(self._counts.still)
            with self.lock:
                self._counts.took(found.took)
                self._counts.still = found.still
            self._whole = self._whole or self._counts.at == tops
        except StoreError as error:
            log.warning("the history was not counted further; metrics show what was counted before", why=str(error))

    def _begin_anew(self) -> None:
        """The store lost its newest rows, as where a backup was restored: what was counted is not so any more."""
        with self.lock:
            self._counts, self._whole = Counts(), False

    def _stretch(self, tops: Watermarks) -> None:
        at = self._counts.at
        steps = self._store.steps(at.journal, tops.journal)
        runs = self._store.stretch(at.runs, tops.runs)
        verdicts = self._store.verdicts(at.results, tops.results)
        with self.lock:
            self._counts.moves.take(steps)
            self._counts.took(runs.took)
            self._counts.still |= runs.still
            self._counts.verdicts.update(verdicts)
            self._counts.at = Watermarks(*(min(here + STRETCH, top) for here, top in zip(at, tops, strict=True)))
