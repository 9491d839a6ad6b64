"""What happens in the simulated hall: servers come, serve, fall out and come back; each step is one of the table."""

from dataclasses import dataclass, field

from fleet_runner.core.checks.verdicts import Finding
from fleet_runner.core.lifecycle.actions import SetCondition
from fleet_runner.core.lifecycle.runs import Held, Outcome
from fleet_runner.core.lifecycle.states import Condition, Event, Stage, State
from fleet_runner.lab import plan
from fleet_runner.lab.past import troubles
from fleet_runner.lab.past.hall import REASON, Spot, gpu_serial
from fleet_runner.lab.past.jobs import Jobs
from fleet_runner.lab.past.measures import Machine
from fleet_runner.lab.past.pen import SCHEDULED, Life, Pen
from fleet_runner.lab.past.troubles import Trouble

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0

ARRIVALS = (0, 1, 2, 3, 5, 7, 10, 14, 20, 30, 44, 60)
"""The day on which each rack's servers came, from the first day of the past on."""

LEMON = "sim-b07"
USUAL, SOUR = 40 * DAY, 3 * DAY
"""Mean time between two faults of a server, and of the lemon."""

IN_THREE = 0.35
"""Of repairs of a GPU, that end at its vendor."""

LAST_REPAIR, LAST_FAULT = 9 * DAY, 6 * HOUR
"""Before the end: no repair that passes every stage again begins later, and no fault at all."""

TECHNICIAN, OPERATOR = "simulated technician", "simulated operator"
SILENT = frozenset({"sim-a03", "sim-b10"})
MISCABLED = frozenset({"sim-a02", "sim-a09", "sim-b04", "sim-c05"})
SLOW = frozenset({"sim-b14", "sim-c02"})


@dataclass(slots=True)
class Lives:
    """All that goes on: the pen that writes it, the machines by name, and the jobs that run on them."""

    pen: Pen
    machines: dict[str, Machine]
    jobs: Jobs
    first: float
    repaired: set[str] = field(default_factory=set[str])

    def begin(self) -> None:
        """Have everything begin at its time."""
        pen = self.pen
        for machine in self.machines.values():
            pen.begin(self._server(machine.spot), self.first + ARRIVALS[machine.spot.rack] * DAY + 9 * HOUR)
        pen.begin(self._sweeps(), self.first + 3 * HOUR)
        for _ in range(self.jobs.AT_ONCE):
            pen.begin(self.jobs.one_after_another(), self.first + 4 * DAY)

    def end(self) -> None:
        """Hold every server, so that nobody looks for machines that are not there."""
        for name in self.machines:
            held = Held(self.pen.at, REASON, "lab demo")
            self.pen.act(name, SetCondition(Condition.HELD, held), waiting=f"held by lab demo: {REASON}")

    def day(self) -> int:
        """Return how many days are over."""
        return int((self.pen.at - self.first) // DAY)

    def _server(self, spot: Spot) -> Life:
        yield self.pen.random.uniform(0, 3 * HOUR)
        self.pen.move(spot.name, Event.START)
        yield from self._day_zero(spot)
        yield from self._qualify(spot, MISCABLED, SLOW)
        rate = SOUR if spot.name == LEMON else USUAL
        while True:
            yield self.pen.random.expovariate(1 / rate)
            while not self.is_free(spot.name):
                yield HOUR
            if self.pen.at < self.pen.end - LAST_FAULT:
                yield from self._fall(spot)

    def _day_zero(self, spot: Spot) -> Life:
        pen, name = self.pen, spot.name
        run = pen.open(name, Stage.PROVISION, "Day 0")
        yield pen.random.uniform(9, 17) * MINUTE
        if name in SILENT and name not in self.repaired:
            self.repaired.add(name)
            finding = troubles.NO_BOOT.on(name, 0)
            seen = pen.close(run, Outcome.FAILED, [troubles.failed(troubles.NO_BOOT, finding)])
            pen.move(name, Event.FAILED, seen=seen)
            pen.ticket(name, finding, troubles.NO_BOOT.check)
            yield pen.random.uniform(3, 26) * HOUR
            pen.shut(name, finding.fault, "the node booted over the network")
            pen.move(name, Event.RETRY, by=TECHNICIAN, because="The cable of eth0 was seated.")
            yield from self._day_zero(spot)
            return
        pen.close(run, Outcome.PASSED)
        pen.move(name, Event.PASSED)

    def _qualify(
        self, spot: Spot, miscabled: frozenset[str] = frozenset(), slow: frozenset[str] = frozenset()
    ) -> Life:
        """Take a server from onboard through every stage into production."""
        pen, name = self.pen, spot.name
        yield pen.random.lognormvariate(1.9, 0.7) * HOUR
        pen.move(name, Event.CERTIFIED, by=TECHNICIAN)
        run = pen.open(name, Stage.VERIFY, "parts, power and cabling")
        yield pen.random.uniform(5, 12) * MINUTE
        if name in miscabled:
            finding = troubles.SWAPPED.on(name, 0)
            seen = pen.close(run, Outcome.FAILED, [troubles.failed(troubles.SWAPPED, finding)])
            pen.move(name, Event.FAILED, seen=seen)
            pen.ticket(name, finding, troubles.SWAPPED.check)
            yield from self._qualify(spot, frozenset(), slow)
            return
        pen.close(run, Outcome.PASSED, [troubles.gone(troubles.SWAPPED)])
        pen.move(name, Event.PASSED)
        yield from self.stage(name, Stage.FIRMWARE, pen.random.uniform(40, 95) * MINUTE)
        pen.move(name, Event.PASSED)
        yield from self.burn_in(spot, slow)

    def burn_in(self, spot: Spot, slow: frozenset[str] = frozenset()) -> Life:
        """Take a server through burn-in."""
        pen, name = self.pen, spot.name
        yield from self.stage(name, Stage.BURN_IN, 2 * MINUTE, Outcome.WORKING)
        yield pen.random.uniform(24, 30) * HOUR
        if name in slow:
            run = pen.open(name, Stage.BURN_IN, "its tests have ended")
            yield MINUTE
            finding = troubles.SLOW.on(name, 5)
            seen = pen.close(run, Outcome.FAILED, [troubles.failed(troubles.SLOW, finding)])
            pen.move(name, Event.FAILED, seen=seen)
            pen.ticket(name, finding, troubles.SLOW.check)
            yield from self.vendor(spot, 5)
            return
        run = pen.open(name, Stage.BURN_IN, "its tests have ended")
        yield MINUTE
        pen.close(run, Outcome.PASSED, [troubles.gone(troubles.SLOW)])
        closed = pen.closing(name, f"{name} earned production again: every stage passed")
        pen.move(name, Event.PASSED, *closed)

    def stage(self, name: str, stage: Stage, seconds: float, outcome: Outcome = Outcome.PASSED) -> Life:
        """Run a stage for so long."""
        run = self.pen.open(name, stage, "its state's stage")
        yield seconds
        self.pen.close(run, outcome)

    def is_free(self, name: str) -> bool:
        """Whether a server serves, and nothing has begun with it."""
        return name not in self.pen.taken and self.pen.states[name] is State.PRODUCTION

    def _fall(self, spot: Spot) -> Life:
        """Have a fault befall a server that serves."""
        pen = self.pen
        late = pen.at > pen.end - LAST_REPAIR
        kinds = [each for each in troubles.TROUBLES if not (late and each.event is Event.TRIAGE_NEEDED)]
        kind = pen.random.choices(kinds, [each.share for each in kinds])[0]
        pen.taken.add(spot.name)
        yield from self.found(spot, kind, pen.random.randrange(plan.GPUS))
        pen.taken.discard(spot.name)

    def found(self, spot: Spot, kind: Trouble, gpu: int) -> Life:
        """Have a sweep find a fault of a server that serves, and what follows from it."""
        pen, name = self.pen, spot.name
        run = pen.open(name, Stage.HEALTH_PASSIVE, SCHEDULED)
        yield 40.0
        finding = kind.on(name, gpu)
        seen = pen.close(run, Outcome.FAILED, [troubles.failed(kind, finding)])
        self.jobs.lose(name, finding)
        if kind.event is Event.TRIAGE_NEEDED:
            pen.move(name, kind.event, seen=seen)
            pen.ticket(name, finding, kind.check)
            yield from self._repaired(spot, kind, gpu)
            return
        pen.move(name, kind.event, pen.tried(finding), seen=seen)
        yield from self._remedied(spot, kind, finding)

    def _remedied(self, spot: Spot, kind: Trouble, finding: Finding) -> Life:
        """Reset or reboot a server, and verify it; what does not help goes to a person."""
        pen, name = self.pen, spot.name
        stage = Stage.RESET if pen.states[name] is State.RESET else Stage.REBOOT
        yield from self.stage(name, stage, pen.random.uniform(2, 5 if stage is Stage.RESET else 13) * MINUTE)
        run = pen.open(name, Stage.VERIFY, "verified before it serves again")
        yield pen.random.uniform(3, 6) * MINUTE
        late = pen.at > pen.end - LAST_REPAIR
        if late or pen.random.random() > (0.3 if name == LEMON else 0.12):
            pen.close(run, Outcome.PASSED, [troubles.gone(kind)])
            pen.move(name, Event.PASSED, *pen.outcome(name, helped=True, because="verification passed."))
            return
        seen = pen.close(run, Outcome.FAILED, [troubles.failed(kind, finding)])
        ended = pen.outcome(name, helped=False, because="the fault is still there.")
        if stage is Stage.RESET:
            again = kind._replace(event=Event.REBOOT_NEEDED)
            pen.move(name, Event.FAILED, *ended, seen=seen)
            yield from self._remedied(spot, again, finding)
            return
        pen.move(name, Event.FAILED, *ended, seen=seen)
        pen.ticket(name, finding, kind.check)
        yield from self._repaired(spot, kind, plan.GPUS - 1)

    def _repaired(self, spot: Spot, kind: Trouble, gpu: int) -> Life:
        """Have a person work on a server in triage: in place, or with a GPU that goes back to its vendor."""
        pen, name = self.pen, spot.name
        worn = kind is troubles.WORN_OUT
        if worn or (kind.component == troubles.GPU and pen.random.random() < IN_THREE):
            yield from self.vendor(spot, gpu)
            return
        yield pen.random.uniform(1, 14) * HOUR
        pen.move(name, Event.DEBUG, by=TECHNICIAN)
        yield pen.random.uniform(0.5, 5) * HOUR
        pen.move(name, Event.REPAIRED, by=TECHNICIAN, because="Part seated or exchanged.")
        yield from self._qualify(spot)

    def vendor(self, spot: Spot, gpu: int) -> Life:
        """Have a GPU of a server in triage be exchanged by its vendor."""
        pen, name = self.pen, spot.name
        yield pen.random.uniform(4, 30) * HOUR
        times = self.machines[name].exchanged
        number = f"SIM-{pen.random.randrange(10_000, 99_999)}"
        pen.move(name, Event.RMA, by=OPERATOR, because=f"Case {number}.")
        case = pen.case(name, number, f"GPU {gpu}", gpu_serial(spot.number, gpu, times[gpu]))
        yield pen.random.uniform(2, 5) * DAY
        times[gpu] += 1
        pen.exchanged(case, gpu_serial(spot.number, gpu, times[gpu]))
        pen.move(name, Event.REPAIRED, by=TECHNICIAN, because="The GPU was exchanged.")
        yield from self._qualify(spot)

    def _sweeps(self) -> Life:
        """Measure every serving server once a day."""
        while True:
            serving = [name for name in self.machines if self.is_free(name)]
            day = self.day()
            self.pen.sweep(((name, list(self.machines[name].sweep(day))) for name in serving), 38.0)
            yield DAY
