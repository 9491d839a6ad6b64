"""How long ranks work by what a job tells of itself: kept as it is read, a short stretch of each.

In synchronous training all ranks take the same time for a step: the slow one works, the others wait for it. Times of
a rank's own work, before it meets the others, tell them apart.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from fleet_runner.core.jobs.history import History

KEPT = 100
"""Values of each rank that are kept, the newest."""

MOST = 100_000
"""Series that are kept: ranks times measures."""


SECONDS = "s"


class Measure(NamedTuple):
    """What is measured: `name` as the job says it; `unit` is SECONDS, or that of a rate or a score.

    `is_step` says that it is a whole step, with the waiting for others; `is_low` that small values are slow.
    """

    name: str
    unit: str = SECONDS
    is_step: bool = False
    is_low: bool = False

    @property
    def is_work(self) -> bool:
        """Return whether it is the time of a rank's own work; another pipeline stage has other work."""
        return not self.is_step and self.unit == SECONDS


class Whose(NamedTuple):
    """Whose value it is, as far as it is told; `part` is a GPU of a node that has several series."""

    rank: int | None = None
    node: str = ""
    part: str = ""


class Moment(NamedTuple):
    """When a value was told, in epoch seconds; `label` is the output whose clock says so, "" where that is UTC."""

    at: float
    label: str = ""


class Extreme(NamedTuple):
    """Of one report: which rank is slowest, and a fast one to compare it with, both in the measure's unit.

    `clocks` are the lowest clock of a GPU in MHz, that of which rank, and the highest; None where it is not told.
    """

    slowest: Whose
    own: float
    other: float
    clocks: tuple[float, int, float] | None = None


@dataclass
class RankTimes:
    """What all files of a job tell.

    `histories` are of values that came with a time, over all of the job. `spreads` are the last smallest and largest
    time of a measure, where it is not told whose they are. `has_stages`: the job has pipeline stages.
    """

    series: dict[tuple[Measure, Whose], deque[float]] = field(
        default_factory=dict[tuple[Measure, Whose], deque[float]]
    )
    histories: dict[tuple[Measure, Whose], History] = field(default_factory=dict[tuple[Measure, Whose], History])
    extremes: dict[Measure, deque[Extreme]] = field(default_factory=dict[Measure, deque[Extreme]])
    spreads: dict[Measure, tuple[float, float]] = field(default_factory=dict[Measure, tuple[float, float]])
    has_stages: bool = False

    def add(self, measure: Measure, whose: Whose, value: float, moment: Moment | None = None) -> None:
        """Keep a value, in the measure's unit; what took no time was not measured.

        Of a rank of which several outputs tell, the history is that of the last one.
        """
        if value <= 0.0 or (len(self.series) >= MOST and (measure, whose) not in self.series):
            return
        self.series.setdefault((measure, whose), deque(maxlen=KEPT)).append(value)
        if moment is None:
            return
        history = self.histories.get((measure, whose))
        if history is None or history.label != moment.label:
            history = self.histories[measure, whose] = History(moment.label)
        history.add(moment.at, value)

    def add_extreme(self, measure: Measure, extreme: Extreme) -> None:
        """Keep what one report says."""
        self.extremes.setdefault(measure, deque(maxlen=KEPT)).append(extreme)
