"""How much is heard and what becomes of it, counted in memory until it is written with the next batch."""

import traceback
from collections.abc import Mapping
from threading import Lock

from fleet_runner.adapters.store.faults.signal_counters import SignalCount

LISTENER = "listener"
"""The source under which listeners themselves are counted: each by where it listens, again and again."""

ALIVE_SECONDS, SILENT_SECONDS = 10.0, 35.0
"""Pause between two signs of a listener's life, and when one is taken for gone."""

LONGEST = 200
"""Characters of a detail, which may quote whoever sent something."""


def trouble(error: Exception) -> str:
    """Return what went wrong and where, without what was pushed: neither words nor variables of it."""
    calls = traceback.extract_tb(error.__traceback__)
    at = f" at {calls[-1].filename}:{calls[-1].lineno}" if calls else ""
    return f"{type(error).__name__}{at}"


class Counts:
    """Counters by source and word, for any number of threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counted: dict[tuple[str, str], SignalCount] = {}

    def add(self, source: str, what: str, at: float, count: int = 1, detail: str = "") -> None:
        """Count something; of the details the last is kept."""
        if not count:
            return
        with self._lock:
            before = self._counted.get((source, what))
            total = count + (before.count if before else 0)
            said = detail[:LONGEST] or (before.detail if before else "")
            self._counted[source, what] = SignalCount(source, what, total, at, said)

    def take(self) -> Mapping[tuple[str, str], SignalCount]:
        """Return what was counted, and begin anew."""
        with self._lock:
            found, self._counted = self._counted, {}
            return found

    def give_back(self, counted: Mapping[tuple[str, str], SignalCount]) -> None:
        """Count again what could not be written."""
        for (source, what), each in counted.items():
            self.add(source, what, each.last_at, each.count, each.detail)
