"""The signals that a node is a lemon, and what each weighs."""

from collections.abc import Mapping
from typing import NamedTuple

from fleet_runner.core.base.plural import counted


class Signal(NamedTuple):
    """A signal: what is counted, what one of it weighs, the most points that it gives, and what one is called."""

    meaning: str
    weight: float
    most: float
    one: str

    def told(self, value: float) -> str:
        """Return so many of it in words."""
        return counted(f"{value:.4g}", self.one, self.meaning)


RATE = "percent of jobs on it alone that ended as it failed"

SIGNALS: Mapping[str, Signal] = {
    "out": Signal("times out of production", 2.0, 10.0, "time out of production"),
    "hours_out": Signal("hours out of production", 0.02, 4.0, "hour out of production"),
    "people": Signal("times taken out or held by a person", 2.0, 6.0, "time taken out or held by a person"),
    "xids": Signal("different Xids that point to hardware", 1.5, 6.0, "Xid that points to hardware"),
    "faults": Signal("different other faults", 0.5, 3.0, "other fault"),
    "tickets": Signal("tickets opened", 1.5, 6.0, "ticket opened"),
    "unhelped": Signal("remedies that did not help", 1.5, 6.0, "remedy that did not help"),
    "jobs_of_many": Signal(
        "jobs on several nodes that ended as it failed", 2.0, 8.0, "job on several nodes that ended as it failed"
    ),
    "jobs_of_one": Signal(
        "jobs on it alone that ended as it failed", 1.0, 4.0, "job on it alone that ended as it failed"
    ),
    "rate_of_one": Signal(RATE, 0.1, 4.0, RATE),
    "jobs_without": Signal("jobs that were told to exclude it", 0.5, 4.0, "job that was told to exclude it"),
}
"""By name. A hundred hours out weigh as much as one more time: how long a repair takes says less than that it came
again. No signal alone reaches the mark by far."""
