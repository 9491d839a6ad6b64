"""What others say of nodes' health, kept as alarms that ask for nothing; by a store, and by a real API server."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.schedulers import kubernetes
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.rules import Rules
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.faults.signals.kubernetes import PREFIX, table
from fleet_runner.core.faults.signals.signal import Source
from fleet_runner.core.lifecycle.clusters import Names
from fleet_runner.reconcile.faults.policy import Policy
from fleet_runner.reconcile.lifecycle import node_conditions, node_health
from fleet_runner.reconcile.lifecycle.node_conditions import LOOK, ConditionsTeller
from fleet_runner.reconcile.loop.context import TickContext
from tests import kube
from tests.reconcile.scripted import a_fleet

DEAD = {"type": "KernelDeadlock", "status": "True", "reason": "DockerHung", "message": "task docker:7 is blocked"}
WELL = DEAD | {"status": "False"}


@pytest.fixture
def world(make_world: Callable[..., TickContext]) -> TickContext:
    """Two nodes in a store."""
    made = make_world(count=2)
    made.store.register(list(a_fleet(2).devices.values()), 1.0)
    return made


def hear(world: TickContext, found: dict[str, Any], *, go_on: bool = True, **changes: str) -> frozenset[str]:
    return node_health.hear(world.store, Rules(), found, table(changes), lambda: go_on)


def alarms(world: TickContext) -> dict[tuple[str, str], Alarm]:
    return {(each.node, each.code): each for each in world.store.standing_alarms()}


def test_a_condition_is_an_alarm_that_is_watched_until_it_is_over(world: TickContext) -> None:
    hear(world, {"gpu-01": [DEAD], "gpu-02": [WELL], "of nobody": [DEAD]})
    ((place, alarm),) = alarms(world).items()
    assert place == ("gpu-01", f"{PREFIX}KernelDeadlock")
    assert (alarm.source, alarm.remedy, alarm.authenticated) == (Source.CLUSTER, Remedy.WATCH, False)
    assert "task docker:7 is blocked" in alarm.message
    hear(world, {"gpu-01": [], "gpu-02": []})
    assert list(alarms(world)) == [place]
    hear(world, {"gpu-01": [WELL], "gpu-02": []})
    assert alarms(world) == {}


def test_a_condition_that_lasts_is_one_alarm_that_stands_and_has_no_node_looked_at(
    world: TickContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often it is heard, and by whichever runner; once it was well, it counts anew."""
    clock, passed = world.store.clock, [0.0]
    monkeypatch.setattr(world.store, "clock", lambda: clock() + passed[0])
    lasting = DEAD | {"lastTransitionTime": "2020-01-01T00:00:00Z"}
    woken = [hear(world, {"gpu-01": [lasting]})]
    first = alarms(world)["gpu-01", f"{PREFIX}KernelDeadlock"]
    for _ in range(20):
        passed[0] += LOOK
        woken.append(hear(world, {"gpu-01": [lasting]}))
    (last,) = alarms(world).values()
    assert (last.id, last.count, last.first_at) == (first.id, first.count, first.first_at)
    assert last.heard_at >= first.heard_at + 20 * LOOK
    assert woken[1:] == [frozenset()] * 20
    passed[0] += LOOK
    again = DEAD | {"lastTransitionTime": "2999-01-01T00:00:00Z"}
    hear(world, {"gpu-01": [again]})
    assert alarms(world)["gpu-01", f"{PREFIX}KernelDeadlock"].count == first.count + 1


def test_a_runner_that_no_longer_decides_hears_no_more(world: TickContext) -> None:
    assert hear(world, {"gpu-01": [DEAD]}, go_on=False) == frozenset()
    assert alarms(world) == {}


def test_a_setting_adds_a_condition_and_has_another_ignored(world: TickContext) -> None:
    gpud = {"type": "GpudUnhealthy", "status": "True"}
    hear(world, {"gpu-01": [DEAD, gpud]}, GpudUnhealthy="True", KernelDeadlock="")
    assert list(alarms(world)) == [("gpu-01", f"{PREFIX}GpudUnhealthy")]


@kube.needed
@pytest.mark.nightly
def test_serve_hears_them_from_the_list_that_it_reads_anyway(
    world: TickContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the node's name in the cluster; none of our own conditions is heard."""
    with kube.running(tmp_path / "kube") as server:
        server.grant()
        server.add_node("k-1")
        server.patch("/api/v1/nodes/k-1/status", {"status": {"conditions": [DEAD]}})
        heard: list[Any] = []

        def health(found: Any) -> None:
            heard.append(found)
            node_conditions._heard(world, Policy(), found)

        cluster = kubernetes.opened(server.kubeconfig(kube.DRAINER))
        teller = ConditionsTeller(world.store, cluster, lambda: Names({"gpu-01": "k-1"}), health=health)
        teller.visit()
        teller.visit()
        assert len(heard) == 1
        assert list(alarms(world)) == [("gpu-01", f"{PREFIX}KernelDeadlock")]
        clock = world.store.clock
        monkeypatch.setattr(world.store, "clock", lambda: clock() + LOOK)
        teller.visit()
        assert [sorted(found) for found in heard] == [["gpu-01"], ["gpu-01"]]
        assert {each["type"] for each in heard[1]["gpu-01"]} == {"KernelDeadlock"}
