"""A node that lives: faults come and go, people ask, tenants work, and every decision about it is carried out."""

from dataclasses import dataclass, field, replace

from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.faults.alarm_clearing import coverage
from fleet_runner.core.faults.escalation import Attempt
from fleet_runner.core.faults.rules.rules import DEFAULT, Rules
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.faults.signals.signal import Source
from fleet_runner.core.lifecycle.actions import (
    Action,
    BeginAttempt,
    ClearAlarm,
    ClearCondition,
    Decision,
    EndAttempt,
    Move,
    OpenRun,
    SetCondition,
)
from fleet_runner.core.lifecycle.decisions import decide
from fleet_runner.core.lifecycle.runs import Intent, IntentKind, Node, Outcome, Run, Stored
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from fleet_runner.core.lifecycle.view import Timing, View
from tests.making import OFF, paced

TIMING = Timing(passive=paced(900), cabling=paced(14_400), active=OFF, drain=60, drain_deadline=7200)

KINDS: dict[str, tuple[Remedy, Remedy | None]] = {
    "fabric_manager.down": (Remedy.REBOOT, Remedy.RESTART),
    "gpu.remap_pending": (Remedy.RESET, Remedy.RESET),
    "gpu.recovery": (Remedy.RESET, Remedy.REBOOT),
    "nvlink.down": (Remedy.REBOOT, Remedy.POWER_CYCLE),
    "xid.79": (Remedy.REBOOT, Remedy.POWER_CYCLE),
    "gpu.remap_failed": (Remedy.RMA, None),
}
"""What the check of each kind of fault proposes, and which remedy truly heals it: it, and harder ones."""

CHECKED = {
    check: [code for code in KINDS if check in coverage(code)]
    for check in ("fabric_manager", "gpu_errors", "nvlink", "xid")
}
"""The check that looks for each kind of fault."""

ORDER = tuple(Remedy)
LOOKS = frozenset({Stage.HEALTH_PASSIVE, Stage.VERIFY})


@dataclass
class Life:
    """A node and what is true about it; `trace` has every action with the node as it was before."""

    node: Node
    now: float
    rules: Rules = DEFAULT
    faults: set[str] = field(default_factory=set[str])
    blind: bool = False
    busy: bool = False
    runs: list[Run] = field(default_factory=list[Run])
    latest: dict[str, Stored] = field(default_factory=dict[str, Stored])
    alarms: list[Alarm] = field(default_factory=list[Alarm])
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    intents: list[Intent] = field(default_factory=list[Intent])
    trace: list[tuple[float, Node, Action]] = field(default_factory=list[tuple[float, Node, Action]])
    count: int = 0

    def intent(self, intent: IntentKind) -> None:
        """A person asks for something."""
        self.intents.append(Intent(self._next(), self.node.name, intent, "ann", self.now, "because"))

    def signal(self, code: str, *, proven: bool = True) -> None:
        """A fault's signal is heard, and its alarm raised."""
        known = [alarm for alarm in self.alarms if alarm.code == code]
        if known:
            again = replace(known[0], last_at=self.now, heard_at=self.now, count=known[0].count + 1)
            self.alarms[self.alarms.index(known[0])] = again
            return
        times = {"first_at": self.now, "last_at": self.now, "heard_at": self.now, "raised_at": self.now}
        remedy = self.rules.of(self.node.device_type, code).remedy or KINDS[code][0]
        about = (self.node.name, code, "GPU 3", _fault(code), Source.KERNEL, f"GPU 3: {code}.", remedy)
        self.alarms.append(Alarm(*about, at_once=False, authenticated=proven, **times, id=self._next()))

    def live(self, seconds: float) -> None:
        """Let time pass, and carry out every decision that falls due."""
        end = self.now + seconds
        for _ in range(2000):
            decision = self.decide()
            self.apply(decision)
            if decision.wake_at > self.now:
                if decision.wake_at > end:
                    break
                self.now = decision.wake_at
        self.now = end

    def decide(self) -> Decision:
        """What follows now."""
        return decide(self.view(), TIMING, self.now)

    def view(self) -> View:
        """What is known of the node."""
        return View(
            node=self.node,
            status="active",
            runs=tuple(run for run in self.runs if run.opened_at >= self.node.since),
            latest=tuple(self.latest.values()),
            intents=tuple(self.intents),
            alarms=tuple(self.alarms),
            attempts=tuple(each for each in self.attempts if each.at > self.now - self.rules.remembered()),
            rules=self.rules,
        )

    def apply(self, decision: Decision) -> None:
        """Make a decision true, as the store does; a run that it opens has ended a second later."""
        for action in decision.actions:
            self.trace.append((self.now, self.node, action))
            conditions = dict(self.node.conditions)
            match action:
                case Move():
                    assert action.transition.state is self.node.state
                    self.now += 1
                    self.node = replace(self.node, state=action.transition.to, since=self.now)
                case SetCondition():
                    self.node = replace(self.node, conditions=conditions | {action.condition: action.held})
                case ClearCondition():
                    conditions.pop(action.condition)
                    self.node = replace(self.node, conditions=conditions)
                case BeginAttempt():
                    assert all(each.ended_at is not None for each in self.attempts)
                    made = (self._next(), self.node.name, action.remedy, action.faults, action.by, self.now)
                    self.attempts.append(Attempt(*made))
                case EndAttempt():
                    (mine,) = (each for each in self.attempts if each.id == action.attempt)
                    told = {"helped": action.helped, "because": action.because}
                    ended = replace(mine, ended_at=mine.ended_at or self.now, **told)
                    self.attempts[self.attempts.index(mine)] = ended
                case ClearAlarm():
                    self.alarms = [alarm for alarm in self.alarms if alarm.id != action.alarm]
                case OpenRun():
                    self._run(action.stage, action.reason)
                case _:
                    self.intents = self.intents if not hasattr(action, "intent") else self.intents[1:]

    def _run(self, stage: Stage, reason: str) -> None:
        opened = self.now
        self.now += 1
        run = Run(self._next(), self.node.name, stage, 1, "b", opened, reason=reason)
        run = replace(run, ended_at=self.now, outcome=Outcome.PASSED)
        going = next((each for each in self.attempts if each.ended_at is None), None)
        if stage in {Stage.RESET, Stage.REBOOT} and going is not None:
            self.faults = {code for code in self.faults if not _heals(going.remedy, code)}
        if stage in LOOKS | {Stage.DRAIN}:
            usage = Verdict.UNKNOWN if self.blind else Verdict.PASS
            self._answer(run, Result("gpu_usage", usage, "asked", (), {"in_use": self.busy}))
        if stage in LOOKS:
            for check, codes in CHECKED.items():
                self._answer(run, self._look(check, codes))
            outcome = Outcome.UNKNOWN if self.blind else Outcome.FAILED if self.faults else Outcome.PASSED
            run = replace(run, outcome=outcome)
        self.runs.append(run)

    def _look(self, check: str, codes: list[str]) -> Result:
        if self.blind:
            return Result(check, Verdict.UNKNOWN, "it hung")
        found = tuple(
            Finding(code, "GPU 3", f"GPU 3: {code}.", KINDS[code][0], _fault(code), (self.node.name,))
            for code in codes
            if code in self.faults
        )
        return Result(check, Verdict.FAIL if found else Verdict.PASS, "seen", found)

    def _answer(self, run: Run, result: Result) -> None:
        stored = Stored(self._next(), run.id, self.node.name, run.stage, self.now, result)
        self.latest[result.check] = stored

    def _next(self) -> int:
        self.count += 1
        return self.count


def _fault(code: str) -> str:
    return f"gpu-01/{code}/GPU 3"


def _heals(remedy: Remedy, code: str) -> bool:
    healer = KINDS[code][1]
    return healer is not None and ORDER.index(remedy) >= ORDER.index(healer)


def tried(life: Life) -> list[tuple[float, BeginAttempt]]:
    """Return when which remedies were begun."""
    return [(at, action) for at, _, action in life.trace if isinstance(action, BeginAttempt)]


def moved(life: Life) -> list[tuple[Node, Move]]:
    """Return every move with the node as it was before."""
    return [(node, action) for _, node, action in life.trace if isinstance(action, Move)]


def is_kept(node: Node) -> bool:
    """Whether a node is kept away from its tenants by the runner."""
    return bool({Condition.PENDING, Condition.CORDONED, Condition.DRAINING} & node.conditions.keys())


SERVING = State.PRODUCTION
