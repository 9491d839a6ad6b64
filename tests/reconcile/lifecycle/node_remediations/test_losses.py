"""NodeRemediations while something dies or is away, and hundreds at once: nothing is lost or done twice."""

import contextlib
from math import ceil
from typing import Any

import pytest

from fleet_runner.adapters.schedulers.kubernetes_remediations import PAGE
from fleet_runner.core.base.errors import SchedulerError
from fleet_runner.core.lifecycle import node_remediations
from fleet_runner.core.lifecycle.node_remediations import (
    WAITING,
    Asked,
)
from fleet_runner.core.lifecycle.runs import Intent, IntentKind
from fleet_runner.core.lifecycle.states import Condition, State
from fleet_runner.reconcile.lifecycle import node_remediations as taking
from fleet_runner.reconcile.lifecycle.node_remediations import AGAIN, CALLS, PULSE, RemediationTaker
from fleet_runner.reconcile.loop.context import TickContext
from tests import kube
from tests.reconcile.lifecycle.node_remediations.requests import (
    WAY,
    Clock,
    Server,
    ask,
    go_on,
    row,
    said,
    started,
    states,
    uid,
    until_state,
)
from tests.reconcile.loop.test_draining import FREE, WORKS, scripted


def answers(taker: RemediationTaker) -> bool:
    """Tell if an API server that was started just now knows our rights already; then they are dealt with."""
    with contextlib.suppress(SchedulerError):
        taker.visit()
        return True
    return False


def test_while_the_api_server_is_away_nothing_is_lost_and_nothing_is_withdrawn(
    server: Server, world: TickContext
) -> None:
    scripted(world, WORKS)
    taker, _ = started(server, world)
    ask(server, "gpu-01")
    taker.visit()
    go_on(world)
    server.kill()
    for _ in range(3):
        with pytest.raises(SchedulerError, match="does not answer"):
            taker.visit()
    scripted(world, FREE)
    until_state(world, lambda state: state is not State.PRODUCTION)
    until_state(world, lambda state: state is State.PRODUCTION)
    server.start()
    kube.until(lambda: answers(taker))
    assert states(server, "gpu-01") == "True False True InProduction"


def test_hundreds_of_requests_at_once_are_one_request_a_node_and_end_in_bounded_steps(
    server: Server, world: TickContext
) -> None:
    """Those for one node: the oldest is taken. While nothing changes they are only listed."""
    count, looks = 260, 20
    scripted(world, WORKS)
    for number in range(count):
        ask(server, f"r-{number:04}", "Replace", {"nodeName": "gpu-01" if number % 2 else f"none-{number}"})
    taker, asked = started(server, world)
    assert isinstance(world.store.clock, Clock)
    visits = 0
    while taker.visit():
        visits += 1
        assert len(asked) <= ceil(count / PAGE) + 2 * CALLS
        asked.clear()
    assert visits <= 2 * count / CALLS + 1
    every = server.ask("GET", WAY)["items"]
    reasons = [next(c["reason"] for c in each["status"]["conditions"] if c["type"] == "Succeeded") for each in every]
    assert {each: reasons.count(each) for each in set(reasons)} == {"UnknownNode": 130, "Busy": 129, "Waiting": 1}
    assert len(world.store.unanswered("NodeRemediation ")) == 1
    asked.clear()
    for _ in range(looks):
        world.store.clock.now += PULSE
        assert taker.visit() == 0
    assert set(asked) == {"the NodeRemediations in fleet-runner"}
    assert len(asked) == looks * 3 == looks * ceil(count / PAGE)


def test_one_that_is_made_anew_in_the_middle_of_a_look_is_told_nothing_of_the_other_ones_end(
    server: Server, world: TickContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would count as told, and nobody would ever do what it asks for."""
    taker, _ = started(server, world)
    ask(server, "gpu-01")
    say = taker.cluster.say

    def made_anew(asked: Asked, status: dict[str, Any]) -> str | None:
        server.ask("DELETE", f"{WAY}/gpu-01")
        ask(server, "gpu-01")
        return say(asked, status)

    with monkeypatch.context() as patched:
        patched.setattr(taker.cluster, "say", made_anew)
        assert taker.visit() == 0
    assert said(server, "gpu-01") == {}
    assert taker.visit() == 1
    assert states(server, "gpu-01") == "Unknown False Unknown Waiting"
    (left,) = world.store.unanswered("NodeRemediation ")
    assert left.by.endswith(f"({uid(server, 'gpu-01')})")


def test_what_a_restored_store_does_not_know_is_not_done_a_second_time(server: Server, world: TickContext) -> None:
    """Its status says that it was left once; the store was restored from a backup of before, or is a new one."""
    taker, _ = started(server, world)
    ask(server, "gpu-01")
    (raw,) = taker.cluster.listed()
    mine = node_remediations.read(raw, "fleet-runner")
    assert mine is not None
    assert taker.cluster.say(mine, node_remediations.status(mine, WAITING, None, "2026-11-30T00:00:00Z")) == ""
    assert (taker.visit(), taker.visit()) == (1, 0)
    assert states(server, "gpu-01") == "Unknown False False Forgotten"
    assert world.store.unanswered("NodeRemediation ") == ()


class Killed(BaseException):
    """The runner's process is ended."""


@pytest.mark.parametrize("is_done", [False, True])
@pytest.mark.parametrize("way", ["leave_once", "say", "withdraw_request"])
def test_a_runner_that_is_killed_anywhere_leaves_and_withdraws_once(
    server: Server, world: TickContext, monkeypatch: pytest.MonkeyPatch, way: str, *, is_done: bool
) -> None:
    """Before and after each write; the next one goes on from what there is."""
    scripted(world, WORKS)

    def visited() -> None:
        taker, _ = started(server, world)
        place: Any = taker.cluster if way == "say" else world.store
        write = getattr(place, way)

        def dies(*asked: Any) -> None:
            if is_done:
                write(*asked)
            raise Killed

        with monkeypatch.context() as patched, contextlib.suppress(Killed):
            patched.setattr(place, way, dies)
            taker.visit()
        again, _ = started(server, world)
        while again.visit():
            pass

    ask(server, "gpu-01")
    visited()
    go_on(world)
    visited()
    assert states(server, "gpu-01") == "True True Unknown Pending"
    server.ask("DELETE", f"{WAY}/gpu-01")
    visited()
    go_on(world)
    visited()
    asks = [
        each.sentence.partition("asks: ")[2][:6]
        for each in world.store.history("gpu-01")
        if "asks: " in each.sentence
    ]
    assert sorted(asks) == ["cancel", "reboot"]
    assert not {Condition.PENDING, Condition.CORDONED} & row(world, "gpu-01").conditions.keys()


def test_whoever_asks_is_left_once_whatever_the_spec_says_by_now(world: TickContext) -> None:
    """Two runners may have read it before and after a change, where the API server lets it be changed."""
    every = (IntentKind.RESET, IntentKind.REBOOT, IntentKind.CANCEL, IntentKind.CANCEL)
    asked = [Intent(0, "gpu-01", kind, "NodeRemediation x/y (1)", 1.0, "", "") for kind in every]
    assert [world.store.leave_once(each) for each in asked] == [True, False, True, False]


def test_requests_for_nodes_that_are_not_there_keep_no_other_from_its_turn(
    server: Server, world: TickContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even when all are due to be looked for again at every look."""
    monkeypatch.setattr(taking, "CALLS", 4)
    taker, _ = started(server, world)
    for number in range(6):
        ask(server, f"none-{number}")
    assert [taker.visit() for _ in range(4)] == [2, 2, 2, 0]
    assert isinstance(world.store.clock, Clock)
    world.store.clock.now += AGAIN
    ask(server, "gpu-01", creationTimestamp="2099-01-01T00:00:00Z")
    taker.visit()
    assert [each.node for each in world.store.unanswered("NodeRemediation ")] == ["gpu-01"]
