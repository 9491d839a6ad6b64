"""What disturbs a seed: drawn beforehand, so that the same seed says the same; what it hits depends on the moment."""

from dataclasses import dataclass
from enum import StrEnum
from random import Random


class Kind(StrEnum):
    """What may happen. Where it is deadly, a play ends without a word; the others cost nothing but time."""

    KILL = "kill -9 a runner"
    STOP = "stop a runner for a while"
    TERM = "end a runner with SIGTERM"
    FREEZE = "stop a whole machine for a while: a runner, its supervisors, their plays, what forks them"
    KILL_SUPERVISOR = "kill -9 a supervisor"
    KILL_CARRIED = "kill -9 a supervisor and its play"
    KILL_MACHINE = "kill -9 a whole machine: a runner, its supervisors, their plays, what forks them"
    KILL_PARENT = "kill -9 what forks a runner's plays"
    STOP_PARENT = "stop what forks a runner's plays for a while"
    LOCK = "keep the database locked for a while"
    CRASH_DATABASE = "crash the database and start it again"
    TAKE_DATABASE = "take the database away for a while"
    CUT = "cut connections to the database"


ON_BATCHES = frozenset({Kind.FREEZE, Kind.KILL_SUPERVISOR, Kind.KILL_CARRIED, Kind.KILL_MACHINE})
"""What is for a runner that carries something."""

LEASE = 15.0
"""Seconds that a batch's lease lasts; what is silent for half of them ends itself."""

ON_SQLITE = {Kind.KILL: 4, Kind.STOP: 2, Kind.TERM: 2, Kind.FREEZE: 2, Kind.KILL_SUPERVISOR: 2, Kind.KILL_CARRIED: 2,
             Kind.KILL_MACHINE: 1, Kind.LOCK: 2, Kind.KILL_PARENT: 1, Kind.STOP_PARENT: 1}  # fmt: skip
ON_POSTGRESQL = {Kind.KILL: 4, Kind.STOP: 3, Kind.TERM: 1, Kind.FREEZE: 3, Kind.KILL_SUPERVISOR: 2,
                 Kind.KILL_CARRIED: 1, Kind.KILL_MACHINE: 2, Kind.CRASH_DATABASE: 2, Kind.TAKE_DATABASE: 2,
                 Kind.CUT: 3, Kind.KILL_PARENT: 1, Kind.STOP_PARENT: 1}  # fmt: skip

SECONDS: dict[Kind, tuple[float, float]] = {
    Kind.KILL: (0.1, 6.0),
    Kind.STOP: (0.3, LEASE * 1.3),
    Kind.TERM: (0.1, 3.0),
    Kind.FREEZE: (0.3, LEASE * 1.3),
    Kind.KILL_MACHINE: (0.1, 6.0),
    Kind.STOP_PARENT: (0.3, LEASE * 1.3),
    Kind.LOCK: (0.2, 2.0),
    Kind.TAKE_DATABASE: (0.2, LEASE * 0.8),
}
"""How long each lasts, where it lasts; a runner that was killed is started again after so long."""


@dataclass(frozen=True, slots=True)
class Disturbance:
    """One of them, for some seconds; `at` is which share (0 to 1) of all moves of all nodes is done by then.

    So it hits the same work on a fast computer and on a slow one. `which` (0 to 1) chooses among what there is.
    """

    kind: Kind
    at: float
    seconds: float
    which: float

    def __str__(self) -> str:
        lasting = f" for {self.seconds:.1f} s" if self.seconds else ""
        return f"at {100 * self.at:.0f} %: {self.kind}{lasting} ({self.which:.2f})"


def drawn(seed: int, count: int, *, shared: bool) -> tuple[Disturbance, ...]:
    """Draw the disturbances of a seed, in their order; `shared` is for several runners on PostgreSQL."""
    draw = Random(f"{seed}/disturbances")
    weights = ON_POSTGRESQL if shared else ON_SQLITE
    found: list[Disturbance] = []
    for kind in draw.choices(list(weights), list(weights.values()), k=count):
        least, most = SECONDS.get(kind, (0.0, 0.0))
        seconds = least + (most - least) * draw.random() ** 2
        at, which = draw.uniform(0.0, 0.9), draw.random()
        found.append(Disturbance(kind, at, seconds if shared else min(seconds, 3.0), which))
    return tuple(sorted(found, key=lambda each: each.at))
