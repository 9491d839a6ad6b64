"""Kubernetes' own words on nodes of a real API server: ours go when they are no longer true, others' stay."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fleet_runner.adapters.schedulers import kubernetes
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from fleet_runner.core.lifecycle.actions import Action, ClearCondition, Decision
from fleet_runner.core.lifecycle.node_lifecycle import DRAIN_IN_PROGRESS, LIFECYCLE, MAINTENANCE_PLANNED
from fleet_runner.core.lifecycle.pending import HOLDS, pend
from fleet_runner.core.lifecycle.runs import Held
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.reconcile.lifecycle.node_conditions import LOOK, ConditionsTeller
from fleet_runner.reconcile.loop.context import TickContext
from tests import kube
from tests.reconcile.scripted import a_fleet

pytestmark = [kube.needed, pytest.mark.nightly]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[kube.ApiServer]:
    """An API server with a node, and a user who has our role."""
    with kube.running(tmp_path_factory.mktemp("kube")) as found:
        found.grant()
        found.add_node("gpu-01")
        yield found


@pytest.fixture
def world(make_world: Callable[..., TickContext]) -> TickContext:
    """A node in a store."""
    made = make_world(count=1)
    made.store.register(list(a_fleet(1).devices.values()), 1.0)
    return made


@pytest.fixture
def teller(server: kube.ApiServer, world: TickContext) -> Iterator[ConditionsTeller]:
    """What tells the cluster; all that it said goes at the end."""
    found = ConditionsTeller(world.store, kubernetes.opened(server.kubeconfig(kube.DRAINER)))
    yield found
    found.clear()
    assert said(server) == {}


def said(server: kube.ApiServer) -> dict[str, Any]:
    """Return the four conditions as far as they are there."""
    found = server.node("gpu-01")["status"]["conditions"]
    return {each["type"]: each for each in found if each["type"] in LIFECYCLE}


def change(world: TickContext, *actions: Action) -> None:
    """Carry something out on the node."""
    node = world.store.node("gpu-01")
    assert node is not None
    world.store.apply(node, Decision(actions, "", 0.0), world.store.clock())


def pending(world: TickContext) -> None:
    change(world, *pend(Remedy.REBOOT, Held(world.store.clock(), "Xid 79", "runner")))


def healed(world: TickContext) -> None:
    change(world, *(ClearCondition(each, "runner", "gone") for each in HOLDS))


def look_again(teller: ConditionsTeller) -> None:
    teller._looked -= LOOK


def drained(world: TickContext, **observed: Any) -> None:
    """Keep what the scheduler says of the drained node."""
    now = world.store.clock()
    said = Result("scheduler", Verdict.PASS, "as told", observed={"in_use": True, "ours": True, **observed})
    world.store.record_by_hand(Stage.DRAIN, "kim", [Judged("gpu-01", now, said)], now)


def test_they_are_there_while_a_remedy_is_pending_and_gone_after(
    server: kube.ApiServer, world: TickContext, teller: ConditionsTeller
) -> None:
    assert teller.visit() == 1
    assert said(server) == {}
    pending(world)
    assert [teller.visit(), teller.visit()] == [1, 0]
    assert set(said(server)) == {MAINTENANCE_PLANNED}
    drained(world)
    assert [teller.visit(), teller.visit()] == [1, 0]
    found = said(server)
    assert set(found) == {DRAIN_IN_PROGRESS, MAINTENANCE_PLANNED}
    assert {each["status"] for each in found.values()} == {"True"}
    healed(world)
    assert [teller.visit(), teller.visit()] == [1, 0]
    assert said(server) == {}


def test_one_of_an_earlier_runner_goes_after_a_restart(
    server: kube.ApiServer, world: TickContext, teller: ConditionsTeller
) -> None:
    pending(world)
    teller.visit()
    healed(world)
    ConditionsTeller(world.store, teller.cluster).visit()
    assert said(server) == {}


def test_what_kubectl_drain_says_stays_and_keeps_nothing_else_back(
    server: kube.ApiServer, world: TickContext, teller: ConditionsTeller
) -> None:
    """It is written under another name; ours of its type is left out, and told at a look after theirs has gone."""
    theirs = {"type": DRAIN_IN_PROGRESS, "status": "True", "reason": "AdminRequested", "message": "kubectl drain"}
    head = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "gpu-01"}}
    way = "/api/v1/nodes/gpu-01/status?fieldManager=kubectl-drain"
    server.ask("PATCH", way, head | {"status": {"conditions": [theirs]}}, "application/apply-patch+yaml")
    pending(world)
    drained(world)
    assert [teller.visit(), teller.visit()] == [1, 0]
    assert said(server)[DRAIN_IN_PROGRESS]["message"] == "kubectl drain"
    assert said(server)[MAINTENANCE_PLANNED]["message"].startswith("fleet-runner: REBOOT is pending")
    conditions = {each["type"]: each for each in server.node("gpu-01")["status"]["conditions"]}
    assert conditions["UnderRemediation"]["reason"] == "Pending"
    teller.clear()
    assert set(said(server)) == {DRAIN_IN_PROGRESS}
    server.ask("PATCH", way, head | {"status": {"conditions": []}}, "application/apply-patch+yaml")
    look_again(teller)
    assert teller.visit() == 1
    assert set(said(server)) == {DRAIN_IN_PROGRESS, MAINTENANCE_PLANNED}
