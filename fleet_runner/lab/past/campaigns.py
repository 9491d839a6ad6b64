"""What happens in the simulated hall once: a worn GPU, a leaf that flaps, planned work, and a firmware update."""

from dataclasses import dataclass, replace

from fleet_runner.core.lifecycle.actions import ClearCondition, SetCondition
from fleet_runner.core.lifecycle.runs import Held, Outcome
from fleet_runner.core.lifecycle.states import Condition, Event, Stage
from fleet_runner.lab.past import measures, troubles
from fleet_runner.lab.past.lives import DAY, HOUR, MINUTE, OPERATOR, Lives
from fleet_runner.lab.past.pen import SCHEDULED, Life

PLANNED_ROW, PLANNED_DAY, PLANNED_HOURS = "a", 45, 6
UPDATED_ROW, UPDATED_DAY = "c", 66

LAST_SERVER = "sim-a11"
"""A server of which a GPU is with its vendor at the end."""


@dataclass(slots=True)
class Campaigns:
    """All of it, with the hall in which it happens."""

    lives: Lives

    def begin(self) -> None:
        """Have everything begin at its time."""
        pen, first = self.lives.pen, self.lives.first
        pen.begin(self._worn_out(measures.WORN, measures.WORN_GPU), first + measures.WORN_UNTIL * DAY)
        pen.begin(self._worn_out(LAST_SERVER, 1), pen.end - 2 * DAY)
        pen.begin(self._flapping(), first + measures.FLAPS_FROM * DAY + 5 * HOUR)
        pen.begin(self._planned(), first + PLANNED_DAY * DAY + 10 * HOUR)
        pen.begin(self._updates(), first + UPDATED_DAY * DAY + 8 * HOUR)

    def _worn_out(self, name: str, gpu: int) -> Life:
        """Have a GPU that wore out be exchanged."""
        yield from self._when_free(name)
        self.lives.pen.taken.add(name)
        yield from self.lives.found(self.lives.machines[name].spot, troubles.WORN_OUT, gpu)
        self.lives.pen.taken.discard(name)

    def _flapping(self) -> Life:
        """See a leaf's links flap day after day, until a technician works on it."""
        pen = self.lives.pen
        names = tuple(name for name, each in self.lives.machines.items() if each.spot.row == measures.FLAPPING_ROW)
        kind = troubles.FLAPS
        fault = replace(kind.on(names[0], 0), nodes=names)
        for day in range(measures.FLAPS_UNTIL - measures.FLAPS_FROM):
            free = [name for name in names if self.lives.is_free(name)]
            for name in pen.random.sample(free, min(3, len(free))):
                run = pen.open(name, Stage.HEALTH_PASSIVE, SCHEDULED)
                yield 40.0
                pen.close(run, Outcome.FAILED, [troubles.failed(kind, fault)])
                pen.ticket(name, fault, kind.check, names)
            if free and day % 5 == 2:  # noqa: PLR2004  a job now and then
                self.lives.jobs.lose(free[0], fault)
            yield DAY
        pen.shut(names[0], fault.fault, "its cables were cleaned and seated; no link went down for a day")

    def _planned(self) -> Life:
        """Have planned work on the feeds of a row: findings are kept, nothing follows from them."""
        pen = self.lives.pen
        names = [name for name, each in self.lives.machines.items() if each.spot.row == PLANNED_ROW]
        for name in names:
            held = Held(pen.at, "power feed B of row A is exchanged", OPERATOR)
            pen.act(name, SetCondition(Condition.MAINTENANCE, held))
        yield PLANNED_HOURS * HOUR
        for name in names:
            pen.act(name, ClearCondition(Condition.MAINTENANCE, OPERATOR, "Released: automation continues."))

    def _updates(self) -> Life:
        """Bring a row to new firmware, two servers at a time."""
        pen = self.lives.pen
        names = [name for name, each in self.lives.machines.items() if each.spot.row == UPDATED_ROW]
        for at, name in enumerate(names):
            pen.begin(self._updated(name), pen.at + at // 2 * 2 * DAY / 3)
        yield DAY

    def _updated(self, name: str) -> Life:
        yield from self._when_free(name)
        pen = self.lives.pen
        pen.taken.add(name)
        pen.move(name, Event.FIRMWARE_NEEDED, by=OPERATOR, because="New firmware for the GPUs' boards.")
        yield from self.lives.stage(name, Stage.FIRMWARE, pen.random.uniform(45, 70) * MINUTE)
        pen.move(name, Event.PASSED)
        yield from self.lives.burn_in(self.lives.machines[name].spot)
        pen.taken.discard(name)

    def _when_free(self, name: str) -> Life:
        while not self.lives.is_free(name):
            yield HOUR
