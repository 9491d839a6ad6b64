"""What is due to be told of nodes: told once, over restarts, refusals and silences; by a stand-in of the cluster."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fleet_runner.adapters.files.policy import stamp
from fleet_runner.adapters.schedulers.kubernetes_events import EventsRefusedError
from fleet_runner.core.base.errors import SchedulerError
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.faults.rules.rules import AtDeadline, Rules
from fleet_runner.core.lifecycle.actions import Decision, Move
from fleet_runner.core.lifecycle.clusters import Names
from fleet_runner.core.lifecycle.node_events import NOTICE, WINDOW, Allowance, NodeEvent, Rate
from fleet_runner.core.lifecycle.pending import pend
from fleet_runner.core.lifecycle.runs import RUNNER, Held
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event, Stage, State
from fleet_runner.reconcile.faults.policy import Policy
from fleet_runner.reconcile.lifecycle import node_conditions
from fleet_runner.reconcile.lifecycle.node_events import PAUSE, REST, EventsTeller
from fleet_runner.reconcile.loop.context import TickContext
from tests.reconcile.scripted import a_fleet

THERE = ("gpu-01", "gpu-02")


class Cluster:
    """Keeps events as an API server does, by name and occurrence."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], int] = {}
        self.told: list[tuple[str, NodeEvent]] = []
        self.raises: Exception | None = None

    def tell(self, there: str, event: NodeEvent) -> bool:
        """Tell an event, or fail."""
        if self.raises is not None:
            raise self.raises
        if self.kept.get((there, event.about), -1) >= event.occurrence:
            return False
        self.kept[there, event.about] = event.occurrence
        self.told.append((there, event))
        return True


@pytest.fixture
def world(make_world: Callable[..., TickContext]) -> TickContext:
    """Two nodes in a store."""
    made = make_world(count=2)
    made.store.register(list(a_fleet(2).devices.values()), 1.0)
    return made


@pytest.fixture
def cluster() -> Cluster:
    """An empty cluster."""
    return Cluster()


def teller(world: TickContext, cluster: Any, **more: Any) -> EventsTeller:
    """Return what tells, as after a start."""
    return EventsTeller(world.store, cluster, **more)


def found(world: TickContext, node: str, verdict: Verdict = Verdict.FAIL, code: str = "gpu.remap_failed") -> None:
    """Have a check find a fault now."""
    faults = [Finding(code, "GPU 1", "x", Remedy.RMA, f"{node}/{code}", (node,))] if verdict is Verdict.FAIL else []
    now = world.store.clock()
    judged = Judged(node, now, Result("gpu_errors", verdict, "as seen", tuple(faults)))
    world.store.record_by_hand(Stage.HEALTH_PASSIVE, "kim", [judged], now)


def visit(world: TickContext, given: EventsTeller, **more: Any) -> int:
    """Gather both nodes and tell, as each visit does."""
    for node in world.store.nodes():
        given.gather(node, world.store.latest_results(node.name), world.store.tickets(node=node.name))
    asked: dict[str, Any] = {"there": THERE, "theirs": Names(), "may": lambda _: True, "go_on": lambda: True} | more
    return given.tell(*asked.values())


def test_a_fault_is_told_once_over_restarts_and_again_when_it_comes_back(
    world: TickContext, cluster: Cluster
) -> None:
    given = teller(world, cluster)
    found(world, "gpu-01")
    assert [visit(world, given), visit(world, given), visit(world, teller(world, cluster))] == [1, 0, 0]
    found(world, "gpu-01")
    assert visit(world, given) == 0
    found(world, "gpu-01", Verdict.PASS)
    assert visit(world, given) == 0
    found(world, "gpu-01")
    assert [visit(world, given), visit(world, teller(world, cluster))] == [1, 0]
    first, second = (event for _, event in cluster.told)
    assert first.about == second.about
    assert first.occurrence < second.occurrence


def test_what_is_no_news_any_more_is_not_told(
    world: TickContext, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    found(world, "gpu-01")
    given = teller(world, cluster)
    assert visit(world, given, there=()) == 0
    clock = world.store.clock
    monkeypatch.setattr(world.store, "clock", lambda: clock() + WINDOW)
    assert [visit(world, given), visit(world, teller(world, cluster))] == [0, 0]
    assert given._due == given._told == {}


def test_work_that_is_to_be_ended_is_told_before_that_and_once(
    world: TickContext, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the policy ends it at the deadline; each look at the draining node brings it up again."""
    node, now = world.store.node("gpu-01"), world.store.clock()
    assert node is not None
    world.store.apply(node, Decision(pend(Remedy.REBOOT, Held(now, "Xid 79", RUNNER)), "", 0.0), now)
    rules = Rules(at_deadline=AtDeadline.ACT, deadline=7200.0)
    policy = Policy((stamp(world.settings.policy), rules))
    given = teller(world, cluster, deadline=lambda: node_conditions._deadline(world, policy))
    visit(world, given)
    assert [told.reason for _, told in cluster.told] == ["RemedyPending"]
    monkeypatch.setattr(world.store, "clock", lambda: now + 7200.0 - NOTICE + 1)
    assert [
        visit(world, given),
        visit(world, given),
        visit(world, teller(world, cluster, deadline=given.deadline)),
    ] == [1, 0, 0]
    assert cluster.told[-1][1].reason == "WorkEndsSoon"
    for other in (Rules(deadline=7200.0), replace(rules, observe=True)):
        assert node_conditions._deadline(world, Policy((stamp(world.settings.policy), other))) is None
    mine = replace(rules, deadline=None)
    asked = node_conditions._deadline(world, Policy((stamp(world.settings.policy), mine)))
    assert asked == world.settings.drain_deadline_seconds


def test_a_nodes_work_is_announced_to_end_though_nothing_changes_there_meanwhile(
    world: TickContext, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where each look at it fails; neither once it is called off, nor once the policy ends work no more."""
    node, now = world.store.node("gpu-01"), world.store.clock()
    assert node is not None
    world.store.apply(node, Decision(pend(Remedy.REBOOT, Held(now, "Xid 79", RUNNER)), "", 0.0), now)
    deadlines: list[float | None] = [7200.0, 7200.0, None, 7200.0]
    given = teller(world, cluster, deadline=lambda: deadlines.pop(0))
    visit(world, given)
    monkeypatch.setattr(world.store, "clock", lambda: now + 7200.0 - NOTICE + 1)

    def look(*, go_on: bool = True) -> list[str]:
        given.tell(THERE, Names(), lambda _: True, lambda: go_on)
        return [told.reason for _, told in cluster.told[1:]]

    assert look(go_on=False) == []
    assert look() == []  # the policy was changed
    assert look() == ["WorkEndsSoon"]
    cluster.kept.clear()
    pending = world.store.node("gpu-01")
    assert pending is not None
    given = teller(world, cluster, deadline=lambda: 7200.0)
    given.gather(pending, (), ())
    given.gather(replace(pending, conditions={}), (), ())
    assert look() == ["WorkEndsSoon"]


def test_a_move_is_told_from_the_history(world: TickContext, cluster: Cluster) -> None:
    node = world.store.node("gpu-01")
    assert node is not None
    move = Move(TRANSITIONS[State.REGISTERED, Event.START], "kim", "as on gpu-99")
    world.store.apply(node, Decision((move,), "", 0.0), world.store.clock())
    assert [visit(world, teller(world, cluster)), visit(world, teller(world, cluster))] == [1, 0]
    ((there, told),) = cluster.told
    assert (there, told.reason, told.note) == ("gpu-01", "Provision", move.transition.sentence)


def test_nodes_of_nobody_here_and_of_which_nothing_may_be_told_wait(world: TickContext, cluster: Cluster) -> None:
    found(world, "gpu-01")
    found(world, "gpu-02")
    given = teller(world, cluster)
    assert visit(world, given, go_on=lambda: False) == 0
    assert visit(world, given, may=lambda name: name == "gpu-02", theirs=Names({"gpu-02": "k-2"})) == 0
    assert visit(world, given, may=lambda name: name == "gpu-02") == 1
    assert visit(world, given) == 1
    assert [there for there, _ in cluster.told] == ["gpu-02", "gpu-01"]


def test_a_cluster_that_does_not_answer_is_told_later_and_that_event_after_the_others(
    world: TickContext, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that fails each time keeps no other back; nor does any of it keep the conditions back."""
    found(world, "gpu-01")
    given = teller(world, cluster)
    cluster.raises = SchedulerError("away")
    assert [visit(world, given), visit(world, given)] == [0, 0]
    assert capsys.readouterr().out.count("was not told") == 1
    cluster.raises = None
    found(world, "gpu-02")
    assert visit(world, given) == 0
    clock = world.store.clock
    monkeypatch.setattr(world.store, "clock", lambda: clock() + PAUSE)
    assert visit(world, given) == 2
    assert [there for there, _ in cluster.told] == ["gpu-02", "gpu-01"]
    assert visit(world, given) == 0
    assert given._late == set()


def test_a_cluster_that_refuses_them_all_is_logged_once_until_it_takes_one(
    world: TickContext, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock, passed = world.store.clock, [0.0]
    monkeypatch.setattr(world.store, "clock", lambda: clock() + passed[0])
    given = teller(world, cluster)
    for raises, node, count in (("no", "gpu-01", 1), ("no", "gpu-01", 0), (None, "gpu-01", 0), ("no", "gpu-02", 1)):
        found(world, node)
        cluster.raises = EventsRefusedError("event x", 403) if raises else None
        visit(world, given)
        assert capsys.readouterr().out.count("was refused") == count
        passed[0] += REST + 1.0


def test_a_refusal_of_all_rests_and_of_one_keeps_no_other_back(
    world: TickContext, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found(world, "gpu-01")
    given = teller(world, cluster)
    cluster.raises = EventsRefusedError("event x", 403)
    assert [visit(world, given), visit(world, given)] == [0, 0]
    assert capsys.readouterr().out.count("was refused") == 1
    cluster.raises = EventsRefusedError("event x", 422)
    clock = world.store.clock
    monkeypatch.setattr(world.store, "clock", lambda: clock() + REST)
    assert visit(world, given) == 0
    cluster.raises = None
    found(world, "gpu-02")
    assert visit(world, given) == 1
    assert [there for there, _ in cluster.told] == ["gpu-02"]


def test_more_than_the_pace_waits(world: TickContext, cluster: Cluster) -> None:
    found(world, "gpu-01")
    found(world, "gpu-02")
    given = teller(world, cluster, allowance=Allowance(Rate(1, 0.0), Rate(1, 0.0)))
    assert [visit(world, given), visit(world, given)] == [1, 0]
    given.allowance = Allowance()
    assert visit(world, given) == 1
    assert len(cluster.told) == 2
