"""Values over a job's time, thinned: as many of a short job as of one that runs for weeks."""

from array import array
from collections.abc import Sequence

POINTS = 256
"""Values that are kept at most, and half as many at least once there were more."""


class History:
    """Values with their moments (epoch seconds), one of every so many; `label` is the output that told them."""

    def __init__(self, label: str) -> None:
        self.label = label
        self._moments: array[float] = array("d")
        self._values: array[float] = array("d")
        self._every = 1
        self._skipped = 0
        self._last = float("-inf")

    def add(self, at: float, value: float) -> None:
        """Take the next value; one that is no later than the last tells no new moment, and is left out."""
        if at <= self._last:
            return
        self._last = at
        self._skipped += 1
        if self._skipped < self._every:
            return
        self._skipped = 0
        self._moments.append(at)
        self._values.append(value)
        if len(self._moments) >= POINTS:
            self._moments, self._values = self._moments[1::2], self._values[1::2]
            self._every *= 2

    def points(self, ahead: float) -> Sequence[tuple[float, float]]:
        """Return moments and values, oldest first, of a clock that is so many seconds ahead of UTC."""
        return [(at - ahead, value) for at, value in zip(self._moments, self._values, strict=True)]
