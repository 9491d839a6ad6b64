"""NodeRemediations from the request to its end."""

import urllib.error
from typing import Any

import pytest

from fleet_runner.adapters.schedulers.kubernetes_remediations import MANAGER
from fleet_runner.core.budgets.modes import Mode, Scope, Setting
from fleet_runner.core.lifecycle.clusters import Names
from fleet_runner.core.lifecycle.node_remediations import (
    MACHINE,
    MACHINE_NAMESPACE,
    NODE_NAME,
    TIMED_OUT,
)
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Condition, State
from fleet_runner.reconcile.lifecycle.node_remediations import AGAIN
from fleet_runner.reconcile.loop.context import TickContext
from tests import kube, kube_machines
from tests.reconcile.lifecycle.node_remediations.requests import (
    REAL,
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


def test_a_reboot_is_asked_for_and_watched_to_its_end(server: Server, world: TickContext) -> None:
    """From NodeHealthCheck's request to a node back in production; each step is told, and nothing after the end."""
    scripted(world, WORKS)
    ask(server, "gpu-01-x1", annotations={NODE_NAME: "gpu-01"})
    taker, _ = started(server, world)
    assert taker.visit() == 1
    assert states(server, "gpu-01-x1") == "Unknown False Unknown Waiting"
    go_on(world)
    taker.visit()
    assert states(server, "gpu-01-x1") == "True True Unknown Pending"
    assert said(server, "gpu-01-x1")["Accepted"][2] == "REBOOT is pending: it waits until the node is idle."
    assert "REBOOT follows once the node's work has ended" in said(server, "gpu-01-x1")["Processing"][2]
    scripted(world, FREE)
    until_state(world, lambda state: state is not State.PRODUCTION)
    taker.visit()
    assert states(server, "gpu-01-x1") == "True True Unknown Reboot"
    until_state(world, lambda state: state is State.PRODUCTION)
    again, asked = started(server, world)  # whoever is started anew knows as much
    again.visit()
    assert states(server, "gpu-01-x1") == "True False True InProduction"
    found = server.ask("GET", f"{WAY}/gpu-01-x1")
    assert (found["status"]["node"], found["status"]["observedGeneration"], found["status"]["tickets"]) == (
        "gpu-01",
        1,
        [],
    )
    if isinstance(server, kube.ApiServer):
        assert MANAGER in {each["manager"] for each in found["metadata"]["managedFields"]}
    asked.clear()
    assert (again.visit(), again.visit()) == (0, 0)
    assert asked == ["the NodeRemediations in fleet-runner"] * 2
    assert [each.by for each in world.store.history("gpu-01") if "asks: reboot" in each.sentence] == [
        f"NodeRemediation fleet-runner/gpu-01-x1 ({found['metadata']['uid'][:8]})"
    ]


def test_a_request_that_is_deleted_is_withdrawn_and_waives_nothing(server: Server, world: TickContext) -> None:
    """Before it is answered, and while it is pending."""
    scripted(world, WORKS)
    taker, _ = started(server, world)
    for name in ("gpu-01", "gpu-02"):
        ask(server, name, "Reset")
    taker.visit()
    server.ask("DELETE", f"{WAY}/gpu-02")
    taker.visit()
    go_on(world)
    assert Condition.PENDING in row(world, "gpu-01").conditions
    assert Condition.PENDING not in row(world, "gpu-02").conditions
    server.ask("DELETE", f"{WAY}/gpu-01")
    taker.visit()
    taker.visit()
    go_on(world)
    assert not {Condition.PENDING, Condition.DRAINING, Condition.WAIVED} & row(world, "gpu-01").conditions.keys()
    assert row(world, "gpu-01").state is State.PRODUCTION


def test_requests_for_every_node_cordon_no_more_of_them_than_the_budget_has_room_for(
    server: Server, world: TickContext
) -> None:
    """The others wait for their answer; nobody's breaker opens."""
    scripted(world, WORKS)
    taker, _ = started(server, world)
    for name in ("gpu-01", "gpu-02"):
        ask(server, name)
    taker.visit()
    go_on(world)
    taker.visit()
    assert sorted(states(server, name) for name in ("gpu-01", "gpu-02")) == [
        "True True Unknown Pending",
        "Unknown False Unknown Waiting",
    ]
    assert sum(Condition.CORDONED in node.conditions for node in world.store.nodes()) == 1
    assert world.store.breaker() is None


def test_who_waits_no_more_is_told_that_it_is_cancelled(server: Server, world: TickContext) -> None:
    """NodeHealthCheck's word that its time is over."""
    scripted(world, WORKS)
    taker, _ = started(server, world)
    ask(server, "gpu-01")
    taker.visit()
    go_on(world)
    server.patch(f"{WAY}/gpu-01", {"metadata": {"annotations": {TIMED_OUT: "2026-11-30T00:00:00Z"}}})
    taker.visit()
    go_on(world)
    taker.visit()
    assert states(server, "gpu-01") == "True False False Cancelled"
    ask(server, "gpu-02", annotations={TIMED_OUT: "2026-11-30T00:00:00Z"})
    taker.visit()
    assert states(server, "gpu-02") == "False False False Withdrawn"
    assert not world.store.asked_by([f"NodeRemediation fleet-runner/gpu-02 ({uid(server, 'gpu-02')})"])


def test_a_mode_that_only_observes_refuses_it_with_the_sentence_that_a_person_gets(
    server: Server, world: TickContext
) -> None:
    now = world.store.clock()
    world.store.set_mode(Setting(Scope.FLEET, "", None, Mode.OBSERVE, now, "ann", "not yet"))
    world.store.leave_intent("gpu-01", IntentKind.REBOOT, "ann", now=now)
    taker, _ = started(server, world)
    ask(server, "gpu-02")
    taker.visit()
    go_on(world)
    taker.visit()
    assert states(server, "gpu-02") == "False False False Refused"
    answer = world.store.answer(1)
    assert answer is not None
    assert said(server, "gpu-02")["Succeeded"][2] == answer[1].replace("gpu-01", "gpu-02")


def test_a_node_that_is_not_there_or_not_ours_or_another_clusters_is_told_so(
    server: Server, world: TickContext
) -> None:
    """And nothing is left for the runner. gpu-03 is ours, and in no cluster; the Machine's node has another one."""
    taker, asked = started(server, world)
    kube_machines.serve(server)
    ask(server, "nowhere")
    ask(server, "elsewhere")
    ask(server, "gpu-03")
    for name, node in (("m-1", "gpu-01"), ("m-2", "gpu-02"), ("m-3", None)):
        kube_machines.add(server, name, node)
        ask(server, name, ownerReferences=[kube_machines.owner(server, name)])
    server.patch(
        "/api/v1/nodes/gpu-01", {"metadata": {"annotations": {MACHINE: "m-1", MACHINE_NAMESPACE: "fleet-runner"}}}
    )
    server.patch("/api/v1/nodes/gpu-02", {"metadata": {"annotations": {MACHINE: "m-2", MACHINE_NAMESPACE: "other"}}})
    assert taker.visit() == 6
    every = [each["metadata"]["name"] for each in server.ask("GET", WAY)["items"]]
    assert {name: said(server, name)["Accepted"][1] for name in every} == {
        "nowhere": "UnknownNode", "elsewhere": "UnknownNode", "gpu-03": "UnknownNode",
        "m-1": "Waiting", "m-2": "OtherCluster", "m-3": "UnknownMachine",
    }  # fmt: skip
    assert [each.node for each in world.store.unanswered("NodeRemediation ")] == ["gpu-01"]
    asked.clear()
    assert taker.visit() == 1  # the number of the request
    assert len(asked) == 2


@pytest.mark.parametrize("server", [REAL], indirect=True)
@pytest.mark.parametrize(
    "spec",
    [
        {"remedy": "Wipe"},
        {"remedy": ["Reboot"]},
        {"remedy": "Reboot", "nodeName": "../../secrets"},
        {"remedy": "Reboot", "nodeName": ""},
        {"remedy": "Reboot", "nodeName": "a" * 254},
        {"remedy": "Reboot", "reason": "x" * 501},
        {"nodeName": "gpu-01"},
    ],
)
def test_what_is_no_request_is_refused_by_the_api_server(server: Server, spec: Any) -> None:
    body = {"apiVersion": "fleet-runner.dev/v1alpha1", "kind": "NodeRemediation", "metadata": {"name": "x"}}
    with pytest.raises(urllib.error.HTTPError, match="422"):
        server.ask("POST", WAY, {**body, "spec": spec})


def test_a_name_that_two_of_our_nodes_have_in_the_cluster_is_nobodys(server: Server, world: TickContext) -> None:
    """But a retired one leaves it to its successor."""
    taker, _ = started(server, world)
    taker.theirs = lambda: Names({"gpu-03": "gpu-01"})
    ask(server, "gpu-01")
    taker.visit()
    assert said(server, "gpu-01")["Accepted"][1:] == ("UnknownNode", "fleet-runner has more than one node gpu-01.")
    world.store.leave_intent("gpu-01", IntentKind.RETIRE, "ann", now=world.store.clock())
    go_on(world)
    assert row(world, "gpu-01").state is State.RETIRED
    assert isinstance(world.store.clock, Clock)
    world.store.clock.now += AGAIN
    taker.visit()
    assert [each.node for each in world.store.unanswered("NodeRemediation ")] == ["gpu-03"]
