"""When a node that serves is tested."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.active_schedule import NEVER, ROUNDS, TAKEN, due, gave_way
from fleet_runner.core.checks.verdicts import Remedy, Verdict
from fleet_runner.core.inventory.records import Management
from fleet_runner.core.lifecycle.actions import Decision, Move, OpenRun
from fleet_runner.core.lifecycle.decisions import decide
from fleet_runner.core.lifecycle.production import watch
from fleet_runner.core.lifecycle.runs import Node, Outcome, Run
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from fleet_runner.core.lifecycle.view import Timing, View
from tests.making import NOW, OFF, a_finding, a_node, a_run, a_ticket, a_view, conditions, held, paced, stored, usage

TIMING = Timing(passive=paced(300), cabling=paced(14_400), active_visit=60)
SWEPT = (a_run(Stage.HEALTH_PASSIVE), a_run(Stage.CABLING, id=8))
IDLE = usage(in_use=False)
LATE = NOW + 4000.0


def a_look(outcome: Outcome, **values: object) -> Run:
    """A run of active tests that ended 10 seconds ago."""
    return a_run(Stage.HEALTH_ACTIVE, outcome, **{"id": 9} | values)


def view(*runs: Run, **values: object) -> View:
    """An idle node whose profile asks for tests."""
    return a_view(**{"tested": True, "latest": (IDLE,), "runs": (*SWEPT, *runs)} | values)


def opens(decision: Decision) -> Stage | None:
    """The stage that starts, if any."""
    return next((action.stage for action in decision.actions if isinstance(action, OpenRun)), None)


@given(st.text(min_size=1), st.floats(0, 2e9))
def test_a_node_is_tested_once_in_each_pause_at_its_own_minute(name: str, since: float) -> None:
    """Soon after the last time, but never at once."""
    fresh = usage(in_use=False, at=since)
    at = due(view(runs=(), latest=(fresh,), node=a_node(name=name, since=since)), TIMING, since)
    assert 0 < at - since <= 3600.0
    fresh = usage(in_use=False, at=at)
    again = due(view(a_look(Outcome.PASSED, ended_at=at), latest=(fresh,)), TIMING, at + 1)
    assert again > at


def test_nodes_of_a_fleet_do_not_all_begin_at_once() -> None:
    """After a pause of the runner, or a job that ran on all of them."""
    at = {round(due(view(runs=(), node=a_node(name=f"gpu-{n:03}")), TIMING, NOW)) for n in range(100)}
    assert len(at) > 80


def test_an_idle_node_is_tested_when_it_is_due() -> None:
    """And the sweeps go first."""
    fresh = replace(IDLE, at=LATE - 10)
    swept = (replace(SWEPT[0], ended_at=LATE - 10), SWEPT[1])
    ready = a_view(tested=True, latest=(fresh,), runs=swept)
    assert watch(ready, TIMING, LATE).actions == (OpenRun(Stage.HEALTH_ACTIVE, "scheduled tests of an idle node"),)
    assert opens(watch(a_view(tested=True, latest=(fresh,), runs=SWEPT), TIMING, LATE)) is Stage.HEALTH_PASSIVE


@pytest.mark.parametrize(
    "changed",
    [
        {"tested": False},
        {"latest": ()},
        {"latest": (usage(in_use=True),)},
        {"latest": (usage(in_use=False, at=NOW - 700),)},
        {"latest": (usage(in_use=False, verdict=Verdict.UNKNOWN),)},
        {"node": a_node(management=Management.CUSTOMER)},
        *({"node": a_node(conditions=conditions(each))} for each in Condition if each is not Condition.WAIVED),
    ],
)
def test_nobody_is_disturbed(changed: dict[str, object]) -> None:
    """Not a tenant, not a customer's node, and none that something else is to happen to."""
    assert due(view(**changed), TIMING, NOW) == NEVER
    assert due(view(), replace(TIMING, active=OFF), NOW) == NEVER


def test_tests_that_run_are_looked_at_until_they_have_ended() -> None:
    """Also after a look that did not reach the node."""
    running = a_look(Outcome.WORKING)
    silent = [a_look(Outcome.UNKNOWN, id=10 + n, detail="unreachable: no route") for n in range(6)]
    for looks in ([running], [running, *silent[:5]], [running, a_look(Outcome.LOST, id=10), silent[1]]):
        assert watch(view(*looks), TIMING, NOW).wake_at == NOW + 50
        assert opens(watch(view(*looks), TIMING, NOW + 50)) is Stage.HEALTH_ACTIVE
    for looks in ([running, *silent], silent[:1], [running, a_look(Outcome.CANCELLED, id=10)]):
        assert opens(watch(view(*looks), TIMING, NOW + 50)) is None
    by_hand = replace(running, fence=0)
    assert opens(watch(view(by_hand), TIMING, NOW + 50)) is None


@pytest.mark.parametrize(("outcome", "waiting"), [
    (Outcome.SKIPPED, ""), (Outcome.PASSED, ""), (Outcome.UNKNOWN, "UNKNOWN: health_active: dcgm: no nvidia-smi"),
])  # fmt: skip
def test_a_test_that_gave_way_is_no_alarm(outcome: Outcome, waiting: str) -> None:
    """It is tried again at the next turn."""
    ended = a_look(outcome, detail="dcgm: no nvidia-smi")
    decision = watch(view(ended), TIMING, NOW)
    assert (decision.actions, decision.waiting) == ((), waiting)


def test_a_fault_that_a_test_found_leads_to_its_remedy() -> None:
    """As any other."""
    found = stored(a_finding(Remedy.TRIAGE), check="gpu_burn", stage=Stage.HEALTH_ACTIVE)
    decision = watch(view(a_look(Outcome.FAILED), latest=(found, IDLE)), TIMING, NOW)
    assert [action.condition for action in decision.actions if not isinstance(action, OpenRun)] == [
        Condition.PENDING, Condition.CORDONED, Condition.DRAINING,
    ]  # fmt: skip


def closes(verdict: Verdict) -> set[str]:
    """What is ended where the test that found a fault, with an open ticket, answers so next."""
    answer = stored(check="gpu_burn", verdict=verdict, observed={"preempted": True}, id=12)
    ticket = a_ticket(check="gpu_burn", fault="gpu-01/gpu_burn.slow/GPU 3", remedy="TRIAGE")
    node = a_node(conditions={Condition.WAIVED: held("cancelled", detail="gpu-01/gpu.lost/GPU 3")})
    silent = stored(check="parts_gpu", verdict=Verdict.UNKNOWN, id=13)
    decision = decide(view(node=node, latest=(answer, silent, usage(in_use=True)), tickets=(ticket,)), TIMING, NOW)
    names = {type(action).__name__ for action in decision.actions}
    return {name for name in names if name.startswith(("Close", "Clear"))}


def test_a_test_that_was_skipped_changes_nothing() -> None:
    """It closes no ticket, as a pass does, and ends no waiver."""
    assert closes(Verdict.PASS) == {"CloseTicket"}
    assert closes(Verdict.SKIPPED) == set()


def test_a_test_that_was_skipped_clears_no_remedy_for_another_fault() -> None:
    """The reboot goes on waiting for the node to be idle."""
    skipped = stored(check="gpu_burn", verdict=Verdict.SKIPPED, observed={"preempted": True}, id=12)
    fault = stored(a_finding(Remedy.REBOOT))
    pending = a_node(conditions={Condition.PENDING: held("Xid 79", "runner", detail="REBOOT")})
    decision = decide(view(node=pending, latest=(fault, skipped, usage(in_use=True))), TIMING, NOW)
    assert "ClearCondition" not in {type(action).__name__ for action in decision.actions}


def test_tests_that_a_person_asked_for_in_triage_are_looked_at_to_their_end() -> None:
    """Nothing else happens there by itself."""
    collected = a_run(Stage.COLLECT)
    resting = a_view(a_node(State.TRIAGE), runs=(collected, a_look(Outcome.WORKING)))
    assert decide(resting, TIMING, NOW).wake_at == NOW + 50
    assert opens(decide(resting, TIMING, NOW + 50)) is Stage.HEALTH_ACTIVE
    ended = replace(resting, runs=(collected, a_look(Outcome.PASSED)))
    assert decide(ended, TIMING, NOW + 50).actions == ()


@pytest.mark.parametrize(
    "node",
    [
        a_node(management=Management.CUSTOMER),
        *(a_node(conditions=conditions(each)) for each in Condition if each in TAKEN - {Condition.PENDING}),
    ],
)
def test_tests_are_not_begun_again_where_something_else_is_to_happen(node: Node) -> None:
    """A look begins again what gave way; what has ended meanwhile is told by the next round."""
    used = usage(in_use=Condition.IN_USE in node.conditions)
    seen = view(a_look(Outcome.WORKING), node=node, latest=(used,))
    decision = watch(seen, TIMING, NOW + 50)
    assert (opens(decision), decision.waiting) == (None, "")


def test_nothing_is_begun_again_in_triage_under_maintenance() -> None:
    """Somebody works on the node."""
    node = a_node(State.TRIAGE, conditions=conditions(Condition.MAINTENANCE))
    assert decide(a_view(node, runs=(a_look(Outcome.WORKING),)), TIMING, NOW + 50).actions == ()


def tired(count: int, *others: Run, **values: object) -> View:
    """A node whose last rounds all gave way, after some others."""
    detail = "dcgm: it gave way to nvidia-cuda-mps (7); gemm: it gave way to nvidia-cuda-mps (7)"
    rounds = [a_look(Outcome.SKIPPED, id=10 + n, detail=detail) for n in range(count)]
    return view(*rounds[-1:], **{"rounds": (*others, *rounds)[-ROUNDS:]} | values)


def test_a_node_whose_tests_always_give_way_is_told_of() -> None:
    """With what they gave way to, and what to do if that is nobody's work."""
    burnt = stored(check="gpu_burn", stage=Stage.BURN_IN, at=NOW - 90.0)
    other = stored(check="dcgm", verdict=Verdict.UNKNOWN, at=NOW)
    decision = watch(tired(ROUNDS, latest=(IDLE, burnt, other, stored(check="xid", at=NOW))), TIMING, NOW)
    assert decision.waiting == (
        "not tested since 1970-01-12 13:45 UTC; dcgm: it gave way to nvidia-cuda-mps (7); if that only watches, name"
        " it in active_ignored"
    )
    assert watch(tired(ROUNDS, node=a_node(since=NOW - 7200.0)), TIMING, NOW).waiting.startswith(
        "not tested since 1970-01-12 11:46 UTC"
    )


@pytest.mark.parametrize(
    "seen",
    [
        tired(ROUNDS - 1),
        tired(ROUNDS - 1, a_look(Outcome.PASSED)),
        tired(ROUNDS, latest=(IDLE, stored(check="gpu_burn", stage=Stage.HEALTH_ACTIVE, at=NOW))),
        tired(ROUNDS, latest=(IDLE, stored(a_finding(Remedy.RECORD), check="dcgm", stage=Stage.CHECK, at=NOW))),
    ],
    ids=["too few", "one answered", "one test has passed", "one has failed"],
)
def test_a_node_that_was_tested_of_late_is_not(seen: View) -> None:
    assert watch(seen, TIMING, NOW).waiting == ""


def test_rounds_are_asked_for_only_where_the_last_one_gave_way() -> None:
    assert gave_way(view(a_look(Outcome.SKIPPED)))
    assert not any(map(gave_way, (view(), view(a_look(Outcome.PASSED)), view(a_look(Outcome.SKIPPED), tested=False))))


def late(*runs: Run) -> Decision:
    """What follows of a node whose burn-in is long over."""
    at = NOW + 60 * 3600.0
    looks = [
        a_run(
            Stage.BURN_IN, Outcome.WORKING, id=-number, opened_at=at - number * 3000.0, ended_at=at - number * 3000.0
        )
        for number in range(80, 0, -1)
    ]
    last = a_run(Stage.BURN_IN, Outcome.UNKNOWN, opened_at=at - 20.0, ended_at=at - 10.0)
    return decide(a_view(a_node(State.BURN_IN), runs=(*looks, last, *runs)), TIMING, at)


def test_an_overdue_burn_in_is_ended_on_the_node_before_hands_touch_it() -> None:
    """Whether that works or not: the node may be off."""
    assert opens(late()) is Stage.DRAIN
    for outcome in (Outcome.PASSED, Outcome.UNKNOWN, Outcome.LOST):
        (move,) = late(a_run(Stage.DRAIN, outcome, id=8)).actions
        assert isinstance(move, Move)
        assert move.transition.to is State.TRIAGE


def test_tests_that_were_ended_so_are_not_begun_again() -> None:
    """The play that ended them took long, and nobody has looked since."""
    looks = (a_run(Stage.BURN_IN, Outcome.WORKING), a_run(Stage.DRAIN, id=8))
    (move,) = decide(a_view(a_node(State.BURN_IN), runs=looks), TIMING, NOW + 60 * 3600.0).actions
    assert isinstance(move, Move)
    assert (move.transition.to, move.because) == (State.TRIAGE, "Its time was over, and its tests were ended.")


def test_only_a_burn_in_that_is_overdue_is_ended() -> None:
    """Not one that passed, nor what else is overdue."""
    burnt = a_view(a_node(State.BURN_IN), runs=(a_run(Stage.BURN_IN),))
    assert opens(decide(burnt, TIMING, NOW)) is None
    late = NOW + 60 * 3600.0
    looks = [a_run(Stage.VERIFY, Outcome.UNKNOWN, id=number, ended_at=late - 60.0) for number in range(9)]
    stuck = a_view(a_node(State.VERIFY), runs=tuple(looks))
    assert opens(decide(stuck, TIMING, late)) is None
