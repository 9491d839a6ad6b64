"""Whatever happens to a small fleet, in whatever order, through the real loop and store: what must never happen."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from fleet_runner.adapters.store import Store
from fleet_runner.core.budgets.breaker import Breaker
from fleet_runner.core.budgets.circuit_breaker import BEFORE
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.lifecycle.runs import Entry, IntentKind
from fleet_runner.core.lifecycle.states import STATES, Condition, Stage, State
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from fleet_runner.settings import load
from tests.making import an_alarm
from tests.reconcile.scripted import BUSY, GOOD, IDLE, Scripted, a_fleet, in_service

NAMES = [f"gpu-{number:02}" for number in range(1, 6)]
OUT = {State.RESET, State.REBOOT, State.TRIAGE}
REMEDIES = st.sampled_from([Remedy.RESET, Remedy.REBOOT, Remedy.POWER_CYCLE, Remedy.TRIAGE])
DAY = 86_400.0
POLICY = "breaker: {least: 3, pause: 20min}\ndeadline: 2h\nat_deadline: act\n"


class Fleet(RuleBasedStateMachine):
    """Five nodes in a world whose plays say what the machine made true."""

    names = st.sampled_from(NAMES)

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        file = Path(self.folder.name) / "policy.yml"
        file.write_text(POLICY, encoding="utf-8")
        quick = load(state_dir=Path(self.folder.name), retry_seconds=30, drain_seconds=60, policy_file=file)
        store = Store.create(quick.store_url)
        self.world = TickContext(quick, store, lambda: a_fleet(len(NAMES)), Scripted(self.say))
        self.faults: dict[str, Remedy] = {}
        self.curable: set[str] = set()
        self.busy: set[str] = set()
        self.blind: set[str] = set()
        self.now = in_service(self.world)
        self.seen: dict[str, int] = {}

    @initialize(remedy=REMEDIES, several=st.integers(2, len(NAMES)), curable=st.booleans())
    def begin(self, remedy: Remedy, several: int, *, curable: bool) -> None:
        """Everybody serves, and then the same happens to many."""
        self.wait(1)
        self.breaks_together(remedy, several, curable=curable)

    @rule(name=names, remedy=REMEDIES, curable=st.booleans())
    def breaks(self, name: str, remedy: Remedy, *, curable: bool) -> None:
        """A GPU breaks."""
        self.faults[name] = remedy
        (self.curable.add if curable else self.curable.discard)(name)

    @rule(remedy=REMEDIES, several=st.integers(2, len(NAMES)), curable=st.booleans())
    def breaks_together(self, remedy: Remedy, several: int, *, curable: bool) -> None:
        """So do many at once, for one reason."""
        for name in NAMES[:several]:
            self.breaks(name, remedy, curable=curable)
        self.busy = set()
        for _ in range(8):
            self.wait(90)
            self.the_budget_holds()

    @rule(name=names)
    def heals(self, name: str) -> None:
        """Or is well again, by itself."""
        self.faults.pop(name, None)

    @rule(name=names)
    def works(self, name: str) -> None:
        """A tenant's work begins or ends."""
        self.busy ^= {name}

    @rule(name=names)
    def blinds(self, name: str) -> None:
        """Its checks get no answer any more, or do again."""
        self.blind ^= {name}

    @rule(name=names, remedy=REMEDIES)
    def signals(self, name: str, remedy: Remedy) -> None:
        """An alarm is pushed."""
        heard = dict.fromkeys(("first_at", "last_at", "heard_at", "raised_at"), self.now)
        alarm = an_alarm(id=0, node=name, code="gpu.sick", fault=f"{name}/gpu.sick/GPU 3", remedy=remedy, **heard)
        standing = {each.code for each in self.world.store.alarms(name)}
        if alarm.code not in standing:
            self.world.store.keep_alarms([name], lambda _: [alarm], self.now)

    @rule(name=names, intent=st.sampled_from([IntentKind.HOLD, IntentKind.RELEASE, IntentKind.CANCEL]))
    def asks(self, name: str, intent: IntentKind) -> None:
        """A person asks for something that takes no node out."""
        self.world.store.leave_intent(name, intent, "ann", reason="because", now=self.now)
        self.wait(1)

    @rule(minutes=st.sampled_from([2, 12, 60, 150]))
    def waits(self, minutes: int) -> None:
        """Time passes."""
        for _ in range(min(minutes, 6)):
            self.wait(minutes * 60 / min(minutes, 6))

    @rule()
    def repaired(self) -> None:
        """People repair what is in triage, and whoever certifies does, at once."""
        for node in self.world.store.nodes():
            if node.state is State.TRIAGE and Condition.HELD not in node.conditions:
                self.faults.pop(node.name, None)
                self.blind.discard(node.name)
                self.world.store.leave_intent(node.name, IntentKind.REPAIRED, "ann", now=self.now)
        self.wait(10)
        for node in self.world.store.nodes():
            if node.state is State.ONBOARD:
                self.world.store.leave_intent(node.name, IntentKind.CERTIFY, "ann", now=self.now)

    def say(self, node: str, stage: Stage) -> tuple[Result, ...]:
        """What a play sees: a remedy heals what can be healed by it."""
        if stage in {Stage.RESET, Stage.REBOOT} and node in self.curable:
            self.faults.pop(node, None)
        remedy = self.faults.get(node)
        sick = Finding("gpu.lost", "GPU 3", "GPU 3 is gone.", remedy or Remedy.RECORD, f"{node}/gpu.lost/3", (node,))
        if node in self.blind:
            return (Result("gpu_present", Verdict.UNKNOWN, "no answer", (sick,)),)
        seen = (
            Result("gpu_present", Verdict.FAIL, "7 of 8", (sick,))
            if remedy
            else Result("gpu_present", Verdict.PASS, "8")
        )
        use = (BUSY if node in self.busy else IDLE,) if stage in {Stage.DRAIN, Stage.HEALTH_PASSIVE} else ()
        return (
            *((seen,) if stage not in {Stage.RESET, Stage.REBOOT, Stage.DRAIN} else ()),
            *use,
            *((GOOD,) if stage is Stage.BURN_IN else ()),
            Result("x", Verdict.PASS, ""),
        )

    def wait(self, seconds: float) -> None:
        """Tick once, later; and look at what that did."""
        before = {node.name: node for node in self.world.store.nodes()}
        blind, opened = frozenset(self.blind), self.world.store.breaker()
        heard = {name for name in NAMES if self.world.store.alarms(name)}
        self.now += seconds
        tick(self.world, self.now)
        for node in self.world.store.nodes():
            was, moves = before[node.name], self.moves(node.name)
            left = [move for move in moves if move.state is State.PRODUCTION]
            cordoned = Condition.CORDONED in node.conditions and Condition.CORDONED not in was.conditions
            if Condition.HELD in was.conditions and Condition.HELD in node.conditions:
                assert not moves, "a held node was moved"
                assert not cordoned, "a held node was cordoned"
            if node.name in blind and node.name not in heard and Condition.PENDING not in was.conditions:
                stale = any(each.result.findings for each in self.world.store.latest_results(node.name)
                            if each.result.verdict is Verdict.FAIL)  # fmt: skip
                assert stale or not left, "UNKNOWN moved a node"
            after = self.world.store.breaker()
            if opened is not None and stays(opened, after) and node.name not in {opened.trial, after and after.trial}:
                assert not left, "an open breaker let a node leave"
                assert not cordoned, "an open breaker let a node be cordoned"

    def moves(self, name: str) -> list[Entry]:
        """Return the moves of a node at this very tick."""
        return [entry for entry in self.world.store.history(name, kind="transition") if entry.at == self.now]

    @invariant()
    def the_budget_holds(self) -> None:
        """Of five nodes automation has one out, and one that people were asked about does not count for ever."""
        lately = self.world.store.triaged(self.now - 4 * 3600)
        out = [node.name for node in self.world.store.nodes() if node.state in OUT]
        assert sum(self.is_out(name, lately) for name in out) <= 1, out

    def is_out(self, name: str, lately: dict[str, float]) -> bool:
        """Whether a node counts as out."""
        node = self.world.store.node(name)
        return node is not None and (node.state is not State.TRIAGE or name in lately)

    @invariant()
    def no_remedy_goes_beyond_its_cap(self) -> None:
        """Within its window."""
        for name in NAMES:
            for attempt in (tried := self.world.store.attempts(name)):
                cap = self.world.policy.rules(self.world.settings).caps[attempt.remedy]
                same = [each for each in tried if each.remedy is attempt.remedy]
                assert sum(attempt.at - cap.within < each.at <= attempt.at for each in same) <= cap.most

    def teardown(self) -> None:
        """Whatever happened: with everything well, and people who answer, it ends well, and no alarm stays."""
        try:
            self.faults, self.busy, self.blind = {}, set(), set()
            for name in NAMES:
                self.world.store.leave_intent(name, IntentKind.RELEASE, "ann", now=self.now)
            for _ in range(20):
                self.wait(14_400)
            for node in self.world.store.nodes():
                assert node.state is State.PRODUCTION or not STATES[node.state].stages, (node.name, node.state)
                assert node.state is State.PRODUCTION or node.waiting, node.name
                assert node.state is State.TRIAGE or Condition.CORDONED not in node.conditions, node.name
            assert self.world.store.standing_alarms() == ()
        finally:
            self.world.store.close()
            self.folder.cleanup()


def stays(before: Breaker, after: Breaker | None) -> bool:
    """Whether a breaker did not close within a tick, not even to open again for what came next."""
    return after is not None and (after.opened_at == before.opened_at or BEFORE in after.because)


def test_no_history_of_a_fleet_breaks_a_promise() -> None:
    """Budget, holds, evidence, caps, the breaker: all of them at every step."""
    calm = settings(
        max_examples=2, stateful_step_count=6, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    run_state_machine_as_test(Fleet, settings=calm)
