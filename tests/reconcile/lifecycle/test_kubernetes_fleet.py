"""A thousand nodes of a real API server: what they cost, and that they are as the store has them after kills."""

import random
from collections.abc import Callable, Collection, Iterator
from typing import Any

import pytest

from fleet_runner.adapters.schedulers import kubernetes
from fleet_runner.adapters.schedulers.kubernetes import PAGE, Kubernetes
from fleet_runner.adapters.schedulers.kubernetes_events import KubernetesEvents
from fleet_runner.core.base.errors import SchedulerError
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.lifecycle import node_conditions
from fleet_runner.core.lifecycle.actions import Action, ClearCondition, Decision, Move
from fleet_runner.core.lifecycle.clusters import Names
from fleet_runner.core.lifecycle.node_conditions import CONDITIONS, LABELS
from fleet_runner.core.lifecycle.node_lifecycle import LIFECYCLE, lifecycle
from fleet_runner.core.lifecycle.pending import HOLDS, pend
from fleet_runner.core.lifecycle.runs import Held, Node
from fleet_runner.core.lifecycle.states import ENDED, TRANSITIONS, Condition
from fleet_runner.reconcile.lifecycle.node_conditions import LOOK, PULSE, ConditionsTeller
from fleet_runner.reconcile.lifecycle.node_events import EventsTeller
from fleet_runner.reconcile.loop.context import TickContext
from tests import kube
from tests.reconcile.scripted import a_fleet

pytestmark = [kube.needed, pytest.mark.nightly]

NODES = 1000
PAGES = NODES // PAGE
OTHERS = range(1, NODES + 1, 10)
"""Every tenth node has fields of another field manager."""

HOUR, CHANGES = 3600.0, 240


class Killed(BaseException):
    """The runner ended, as by a signal that nothing can catch."""


class Mortal(Kubernetes):
    """The cluster, with what it was asked, and whose asker may be killed before or after an answer comes."""

    def __init__(self, api: Any) -> None:
        super().__init__(api)
        self.asked: list[str] = []
        self.left = -1
        self.after = False

    def ask(self, call: Callable[..., Any], what: str, expected: Collection[int] = (), **asked: Any) -> Any:
        """Note what is asked, and ask it, or die."""
        self.asked.append(what)
        self.left -= 1
        if self.left == 0 and not self.after:
            raise Killed
        found = super().ask(call, what, expected, **asked)
        if self.left == 0:
            raise Killed
        return found


class Clock:
    """Time that the test moves."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        """Return the time."""
        return self.now


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[kube.ApiServer]:
    """An API server with a thousand nodes, as kubelets register them, and a user who has our roles."""
    with kube.running(tmp_path_factory.mktemp("kube")) as found:
        found.grant()
        ready = {"conditions": [{"type": "Ready", "status": "True"}]}
        for number in range(1, NODES + 1):
            meta = {"name": f"gpu-{number:02}", "labels": {"kubernetes.io/hostname": f"gpu-{number:02}"}}
            found.ask("POST", "/api/v1/nodes?fieldManager=kubelet", {"metadata": meta, "status": ready})
        for number in OTHERS:
            meta = {"name": f"gpu-{number:02}", "labels": {"team": "a"}}
            theirs = {"type": "KernelDeadlock", "status": "False", "reason": "R", "message": "theirs"}
            head = {"apiVersion": "v1", "kind": "Node", "metadata": meta}
            way, kind = f"/api/v1/nodes/gpu-{number:02}", "application/apply-patch+yaml"
            found.ask("PATCH", f"{way}?fieldManager=npd-labels", head, kind)
            status = head | {"metadata": {"name": meta["name"]}, "status": {"conditions": [theirs]}}
            found.ask("PATCH", f"{way}/status?fieldManager=npd", status, kind)
        yield found


@pytest.fixture
def world(make_world: Callable[..., TickContext], monkeypatch: pytest.MonkeyPatch) -> TickContext:
    """The nodes in a store, whose time the test moves."""
    made = make_world(count=NODES)
    made.store.register(list(a_fleet(NODES).devices.values()), 1.0)
    monkeypatch.setattr(made.store, "clock", Clock(made.store.clock()))
    return made


def started(server: kube.ApiServer, world: TickContext) -> tuple[ConditionsTeller, Mortal]:
    """Return what tells the cluster, as after a start."""
    cluster = Mortal(kubernetes.opened(server.kubeconfig(kube.DRAINER)).api)
    return ConditionsTeller(
        world.store, cluster, events=EventsTeller(world.store, KubernetesEvents(cluster))
    ), cluster


def wait(world: TickContext, seconds: float) -> None:
    assert isinstance(world.store.clock, Clock)
    world.store.clock.now += seconds


def nodes(server: kube.ApiServer) -> dict[str, Any]:
    return {each["metadata"]["name"]: each for each in server.ask("GET", "/api/v1/nodes")["items"]}


def said(raw: Any) -> tuple[dict[str, str], dict[str, tuple[str, str, str]]]:
    """Return our labels and conditions of a node."""
    ours = {*CONDITIONS, *LIFECYCLE}
    labels = {key: value for key, value in raw["metadata"]["labels"].items() if key in LABELS}
    found = {
        each["type"]: (each["status"], each["reason"], each["message"])
        for each in raw["status"]["conditions"]
        if each["type"] in ours
    }
    return labels, found


def wanted(world: TickContext, node: Node) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Return what the store has of it, by no way of the teller's."""
    want = node_conditions.wanted(node, world.store.latest_results(node.name), ())
    return dict(want.labels), {each.type: tuple(each[1:]) for each in (*want.conditions, *lifecycle(node))}


def change(world: TickContext, node: Node, chance: random.Random) -> bool:
    """Have something happen to a node; tell if it moved."""
    now = world.store.clock()
    rows = [row for (state, _), row in TRANSITIONS.items() if state is node.state and row.to not in ENDED]
    actions: tuple[Action, ...]
    if Condition.PENDING in node.conditions:
        actions = tuple(ClearCondition(each, "runner", "gone") for each in HOLDS)
    elif rows and chance.random() < 0.6:
        actions = (Move(chance.choice(rows), "kim"),)
    else:
        actions = pend(Remedy.REBOOT, Held(now, "Xid 79", "runner"))
    world.store.apply(node, Decision(actions, "", 0.0), now)
    return isinstance(actions[0], Move)


def test_a_thousand_nodes_that_do_not_change_cost_their_listing(server: kube.ApiServer, world: TickContext) -> None:
    """Twelve requests an hour for all of them, 0.012 for each; and two for each node at first."""
    teller, cluster = started(server, world)
    assert teller.visit() == NODES
    assert len(cluster.asked) == PAGES + 2 * NODES
    cluster.asked.clear()
    for number in range(int(HOUR / PULSE)):
        wait(world, PULSE)
        if number % 24 == 0:  # kubelets go on meanwhile
            server.patch(
                f"/api/v1/nodes/gpu-{number + 1:02}/status",
                {"status": {"nodeInfo": {"kubeletVersion": f"v1.{number}"}}},
            )
        assert teller.visit() == 0
    assert set(cluster.asked) == {"the nodes"}
    assert len(cluster.asked) == PAGES * HOUR / LOOK
    again, other = started(server, world)
    assert again.visit() == 0
    assert len(other.asked) == PAGES
    teller.clear()


def test_one_of_several_clusters_is_asked_about_its_own_nodes_alone(
    server: kube.ApiServer, world: TickContext
) -> None:
    """Half of the nodes are another cluster's, though this one has nodes of their names."""
    teller, cluster = started(server, world)
    others = {node.name: "" for node in world.store.nodes()[::2]}
    teller.theirs = lambda: Names(others)
    assert teller.visit() == NODES - len(others) == NODES / 2
    assert len(cluster.asked) == PAGES + NODES
    cluster.asked.clear()
    for _ in range(int(HOUR / PULSE)):
        wait(world, PULSE)
        assert teller.visit() == 0
    assert len(cluster.asked) == PAGES * HOUR / LOOK
    there = nodes(server)
    assert {name for name in there if said(there[name]) != ({}, {})} == {*there} - others.keys()
    teller.clear()


def test_after_kills_on_either_side_the_nodes_are_as_the_store_has_them(
    server: kube.ApiServer, world: TickContext
) -> None:
    """Each move is an Event that is told once; what another field manager has set is there, and still its own."""
    chance = random.Random(27)
    moves = kills = 0
    teller, cluster = started(server, world)
    teller.visit()
    for number in range(CHANGES):
        moves += change(world, chance.choice(world.store.nodes()), chance)
        wait(world, 2.0)
        if number % 8:
            continue
        cluster.left, cluster.after = chance.randrange(1, 60), chance.random() < 0.5
        if number == CHANGES // 2:
            server.kill()
            with pytest.raises(SchedulerError, match="does not answer"):
                started(server, world)[0].visit()
            server.start()
        try:
            teller.visit()
        except Killed:
            kills += 1
            teller, cluster = started(server, world)
        cluster.left = -1
    assert kills > 5
    for _ in range(10):  # Events keep to their pace
        wait(world, PULSE)
        teller.visit()
    wait(world, LOOK)
    teller.visit()
    assert teller.visit() == 0
    there = nodes(server)
    for node in world.store.nodes():
        assert said(there[node.name]) == wanted(world, node), node.name
    assert told(server) == moves
    for number in OTHERS:
        found = there[f"gpu-{number:02}"]
        assert found["metadata"]["labels"]["team"] == "a"
        assert {"Ready", "KernelDeadlock"} <= {each["type"] for each in found["status"]["conditions"]}
        assert {"npd", "npd-labels"} <= {each["manager"] for each in found["metadata"]["managedFields"]}
    assert teller.clear() == NODES
    assert {str(said(each)) for each in nodes(server).values()} == {"({}, {})"}


def told(server: kube.ApiServer) -> int:
    """Return how often a move was told, by all Events together."""
    found = server.ask("GET", "/api/v1/namespaces/default/events")["items"]
    return sum(each.get("count") or 1 for each in found if each["reason"] != "RemedyPending")
