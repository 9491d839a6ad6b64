"""Whose clock is behind: its signals come late again and again, and always by as much.

That is told, and corrects nothing: a shipper that is always late looks the same, and its signals of before a repair
would count as of after it.
"""

from dataclasses import dataclass

from fleet_runner.core.faults.signals.signal import Signal, Source

BEHIND = 300.0
"""Seconds by which signals come late before that is looked at; a log shipper may take its time."""

ALIKE = 60.0
"""Seconds by which lags of one clock differ. What a shipper catches up on comes less and less late."""

OFTEN, APART = 3, 30.0
"""How often, and how many seconds after each other, signals have to come late by as much."""

TIMED = frozenset({Source.KERNEL, Source.REDFISH, Source.FABRIC})
"""Sources that tell by a clock near to the node when something happened."""


@dataclass(slots=True)
class _Lag:
    seconds: float
    heard: float
    times: int = 1


class ClockLags:
    """The clocks that may be behind, by node and source: as many as the fleet has at most."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, Source], _Lag] = {}

    def behind(self, signal: Signal, heard: float) -> float:
        """Return by how many seconds the clock behind a signal is behind ours, as far as is known; 0 for not."""
        key, lag = (signal.node, signal.source), heard - signal.at
        if signal.source not in TIMED:
            return 0.0
        if lag < BEHIND:
            self._known.pop(key, None)
            return 0.0
        known = self._known.get(key)
        if known is None or abs(lag - known.seconds) > ALIKE:
            known = self._known[key] = _Lag(lag, heard)
        elif heard >= known.heard + APART:
            known.heard, known.times = heard, known.times + 1
        return known.seconds if known.times >= OFTEN else 0.0
