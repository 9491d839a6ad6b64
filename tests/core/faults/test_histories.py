"""Whatever happens to a node, in whatever order: what must never happen does not, and what must happen does."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.faults.rules.rules import AtDeadline, Rules
from fleet_runner.core.inventory.records import Management
from fleet_runner.core.lifecycle.actions import BeginAttempt, ClearCondition, SetCondition
from fleet_runner.core.lifecycle.runs import RUNNER, Held, IntentKind
from fleet_runner.core.lifecycle.states import Condition, State
from tests.core.living import KINDS, SERVING, Life, is_kept, moved, tried
from tests.examples import examples
from tests.making import NOW, SINCE, a_node

DAY = 86_400.0
Step = tuple[str, str]

codes = st.sampled_from(sorted(KINDS))
steps = st.one_of(
    st.tuples(st.sampled_from(["breaks", "heals", "signals"]), codes),
    st.tuples(st.sampled_from(["works", "rests", "blinds", "sees"]), st.just("")),
    st.tuples(st.sampled_from(["holds", "releases", "maintains", "serves", "cancels", "reboots"]), st.just("")),
    st.tuples(st.just("waits"), st.sampled_from(["8000", "50000"])),
)
histories = st.lists(steps, min_size=4, max_size=25)
policies = st.sampled_from(
    [Rules(), Rules(at_deadline=AtDeadline.ACT), Rules(observe=True), Rules(memory=3600), Rules(deadline=600)]
)


def lived(history: list[Step], rules: Rules, **node: Any) -> Life:
    """A life in production in which all this happened, one after the other."""
    life = Life(a_node(since=SINCE, **node), NOW, rules)
    happen: dict[str, Callable[[str], None]] = {
        "breaks": life.faults.add,
        "heals": life.faults.discard,
        "signals": life.signal,
        "works": lambda _: setattr(life, "busy", True),
        "rests": lambda _: setattr(life, "busy", False),
        "blinds": lambda _: setattr(life, "blind", True),
        "sees": lambda _: setattr(life, "blind", False),
        "holds": lambda _: life.intent(IntentKind.HOLD),
        "releases": lambda _: life.intent(IntentKind.RELEASE),
        "cancels": lambda _: life.intent(IntentKind.CANCEL),
        "reboots": lambda _: life.intent(IntentKind.REBOOT),
        "maintains": lambda _: maintain(life, on=True),
        "serves": lambda _: maintain(life, on=False),
        "waits": lambda seconds: life.live(float(seconds)),
    }
    for what, about in history:
        happen[what](about)
        life.live(1000.0)  # long enough for a sweep to see what changed
    return life


def maintain(life: Life, *, on: bool) -> None:
    """A person begins, or ends, planned work."""
    others = {name: held for name, held in life.node.conditions.items() if name is not Condition.MAINTENANCE}
    mine = {Condition.MAINTENANCE: Held(life.now, "", "ann")} if on else {}
    life.node = replace(life.node, conditions=others | mine)


@settings(deadline=None, max_examples=examples(100))
@given(histories, policies)
def test_what_must_never_happen_does_not(history: list[Step], rules: Rules) -> None:
    """Held and maintained nodes stay, no remedy is tried beyond its cap, none that was cancelled, none unasked."""
    life = lived(history, rules)
    for node, _ in moved(life):
        assert Condition.HELD not in node.conditions
        if node.state is SERVING:
            assert Condition.MAINTENANCE not in node.conditions
            assert not rules.observe or "reboots" in {what for what, _ in history}
    begun = tried(life)
    for at, attempt in begun:
        cap = rules.caps[attempt.remedy]
        lately = [each for when, each in begun if at - cap.within < when <= at and each.remedy is attempt.remedy]
        assert attempt.by != RUNNER or (attempt.faults and len(lately) <= cap.most)
    waived: set[str] = set()
    for _, _, action in life.trace:
        if isinstance(action, SetCondition) and action.condition is Condition.WAIVED:
            waived = set(action.held.detail.splitlines())
        if isinstance(action, ClearCondition) and action.condition is Condition.WAIVED:
            waived = set()
        if isinstance(action, BeginAttempt) and action.by == RUNNER:
            assert not waived.intersection(action.faults)


@settings(deadline=None, max_examples=examples(40))
@given(histories, policies)
def test_without_a_fault_nothing_moves_a_node(history: list[Step], rules: Rules) -> None:
    """Not that a check has no answer, nor how long; only people do."""
    quiet = [step for step in history if step[0] not in {"breaks", "signals", "reboots"}]
    assert moved(lived(quiet, rules)) == []


@settings(deadline=None, max_examples=examples(40))
@given(histories, policies)
def test_a_customers_node_is_never_acted_on(history: list[Step], rules: Rules) -> None:
    """Whatever is told of it, it stays as it is; what a person asks for is done."""
    told = [step for step in history if step[0] != "reboots"]
    life = lived(told, rules, management=Management.CUSTOMER)
    assert moved(life) == []
    assert not is_kept(life.node)


@settings(deadline=None, max_examples=examples(40))
@given(histories, policies)
def test_a_node_that_is_well_serves_again_with_nothing_left_over(history: list[Step], rules: Rules) -> None:
    """No cordon, nothing pending, nothing advised, no alarm: in production, unless a person is to look at it."""
    life = lived(history, rules)
    life.faults.clear()
    life.busy = life.blind = False
    maintain(life, on=False)
    life.intent(IntentKind.RELEASE)
    life.live(3 * DAY)
    assert life.node.state in {SERVING, State.TRIAGE}
    assert life.alarms == []
    if life.node.state is SERVING:
        assert not is_kept(life.node)
        assert not {Condition.ADVISED, Condition.WAIVED} & life.node.conditions.keys()
        assert all(each.ended_at is not None for each in life.attempts)


@settings(deadline=None, max_examples=examples(20))
@given(histories)
def test_what_was_cancelled_does_not_come(history: list[Step]) -> None:
    """The same faults, cancelled while they are seen, lead to nothing for as long as they last."""
    life = lived([step for step in history if step[0] not in {"blinds", "holds", "maintains"}], Rules())
    life.busy = True
    life.live(1200.0)
    life.intent(IntentKind.CANCEL)
    life.live(1.0)
    if Condition.WAIVED not in life.node.conditions:
        return
    before = len(moved(life))
    life.busy = False
    life.live(2 * DAY)
    assert moved(life)[before:] == []
    assert not is_kept(life.node)


def test_no_remedy_goes_on_for_ever() -> None:
    """Where what was tried is soon forgotten the caps end it, and a person looks."""
    life = lived([], Rules(memory=60))
    for _ in range(6):
        life.faults.add("gpu.remap_pending")
        life.live(4000.0)
    assert [attempt.remedy for _, attempt in tried(life)] == ["RESET"] * 3
    assert life.node.state is State.TRIAGE


def test_a_fault_that_only_power_clears_is_found_by_climbing() -> None:
    """Reboot, power cycle, and back; the history remembers what did not help."""
    life = lived([("breaks", "nvlink.down"), ("waits", "100000")], Rules())
    assert [attempt.remedy for _, attempt in tried(life)] == ["REBOOT"]
    assert life.node.state is State.TRIAGE  # its verification after the reboot still saw the fault


def test_a_restart_is_enough_where_a_service_is_down() -> None:
    """The smallest thing that heals."""
    life = lived([("breaks", "fabric_manager.down"), ("waits", "8000")], Rules())
    assert [attempt.remedy for _, attempt in tried(life)] == ["RESTART"]
    assert (life.node.state, life.faults) == (SERVING, set())
    assert [each.helped for each in life.attempts] == [True]


def test_a_fault_that_comes_back_climbs_to_a_person() -> None:
    """Each time one rung harder, never in a loop."""
    life = lived([], Rules())
    for _ in range(6):
        life.faults.add("gpu.remap_pending")
        life.live(8000.0)
    assert [attempt.remedy for _, attempt in tried(life)] == ["RESET", "REBOOT", "POWER_CYCLE"]
    assert life.node.state is State.TRIAGE
