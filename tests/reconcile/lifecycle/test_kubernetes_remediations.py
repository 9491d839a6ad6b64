"""NodeRemediations from the request to its end: with every change on a stand-in, by night on a real API server.

There with the rights of docs/examples, and no others.
"""

import contextlib
import urllib.error
from collections.abc import Callable, Collection, Iterator
from math import ceil
from typing import Any

import pytest

from fleet_runner.adapters.schedulers import kubernetes
from fleet_runner.adapters.schedulers.kubernetes import Kubernetes
from fleet_runner.adapters.schedulers.kubernetes_remediations import MANAGER, PAGE, Remediations
from fleet_runner.core.base.errors import SchedulerError
from fleet_runner.core.budgets.modes import Mode, Scope, Setting
from fleet_runner.core.lifecycle import node_remediations
from fleet_runner.core.lifecycle.node_remediations import (
    MACHINE,
    MACHINE_NAMESPACE,
    NODE_NAME,
    TIMED_OUT,
    WAITING,
    Asked,
)
from fleet_runner.core.lifecycle.runs import Intent, IntentKind, Node
from fleet_runner.core.lifecycle.states import Condition, State
from fleet_runner.reconcile.lifecycle import node_remediations as taking
from fleet_runner.reconcile.lifecycle.node_remediations import AGAIN, CALLS, PULSE, RemediationTaker
from fleet_runner.reconcile.loop.context import TickContext
from tests import kube, kube_machines, kube_standin
from tests.reconcile.loop.test_draining import FREE, WORKS, scripted
from tests.reconcile.scripted import in_service, pass_time

REAL = pytest.param("real", marks=[kube.needed, pytest.mark.nightly])
Server = kube.ApiServer | kube_standin.StandIn

WAY = "/apis/fleet-runner.dev/v1alpha1/namespaces/fleet-runner/noderemediations"


class Clock:
    """Time that the test moves."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        """Return the time."""
        return self.now


class Counting(Kubernetes):
    """The cluster, with what it was asked."""

    asked: list[str]

    def ask(self, call: Callable[..., Any], what: str, expected: Collection[int] = (), **asked: Any) -> Any:
        """Note what is asked, and ask it."""
        self.asked.append(what)
        return super().ask(call, what, expected, **asked)


@pytest.fixture(scope="module", params=["standin", REAL])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """An API server with three nodes, the third one not ours, and a user who has our roles."""
    where = tmp_path_factory.mktemp("kube")
    with kube.running(where) if request.param == "real" else kube_standin.running(where) as found:
        if isinstance(found, kube.ApiServer):
            found.grant()
            found.extend()
        for name in ("gpu-01", "gpu-02", "elsewhere"):
            found.add_node(name)
        yield found


@pytest.fixture(autouse=True)
def _none(server: Server) -> None:
    """Take away what an earlier test made."""
    server.ask("DELETE", WAY)


@pytest.fixture
def world(make_world: Callable[..., TickContext], monkeypatch: pytest.MonkeyPatch) -> TickContext:
    """Three nodes in service, one of them in no cluster."""
    made = make_world(count=3)
    made.settings = made.settings.model_copy(update={"scheduler": "kubernetes"})
    monkeypatch.setattr(made.store, "clock", Clock(in_service(made)))
    scripted(made, FREE)
    return made


def go_on(world: TickContext, seconds: float = 30.0) -> None:
    """Have the runner work for so long."""
    assert isinstance(world.store.clock, Clock)
    world.store.clock.now = pass_time(world, world.store.clock.now, seconds)


def until_state(world: TickContext, is_so: Callable[[State], bool]) -> None:
    """Have the runner work until gpu-01 is in such a state, for an hour at most."""
    for _ in range(360):
        if is_so(row(world, "gpu-01").state):
            return
        go_on(world, 10.0)
    pytest.fail("it never came there")


def row(world: TickContext, name: str) -> Node:
    """Return a node as the store has it."""
    found = world.store.node(name)
    assert found is not None
    return found


def started(server: Server, world: TickContext) -> tuple[RemediationTaker, list[str]]:
    """Return what takes them, as after a start, and what it asks of the API server."""
    cluster = Counting(kubernetes.opened(server.kubeconfig(kube.DRAINER)).api)
    cluster.asked = []
    return RemediationTaker(world.store, Remediations(cluster, cluster, "fleet-runner")), cluster.asked


def ask(server: Server, name: str, remedy: str = "Reboot", spec: Any = None, **meta: Any) -> Any:
    """Make a NodeRemediation, as an administrator."""
    return server.ask(
        "POST",
        WAY,
        {
            "apiVersion": "fleet-runner.dev/v1alpha1",
            "kind": "NodeRemediation",
            "metadata": {"name": name, **meta},
            "spec": {"remedy": remedy} | (spec or {}),
        },
    )


def said(server: Server, name: str) -> dict[str, tuple[str, str, str]]:
    """Return the conditions of one, by their types."""
    found = server.ask("GET", f"{WAY}/{name}").get("status", {}).get("conditions", ())
    return {each["type"]: (each["status"], each["reason"], each["message"]) for each in found}


def states(server: Server, name: str) -> str:
    """Return the three statuses and the reason of one, in short."""
    found = said(server, name)
    return " ".join([*(found[each][0] for each in ("Accepted", "Processing", "Succeeded")), found["Succeeded"][1]])


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
    assert not world.store.asked_by([f"NodeRemediation fleet-runner/gpu-02 ({_uid(server, 'gpu-02')})"])


def _uid(server: Server, name: str) -> str:
    return str(server.ask("GET", f"{WAY}/{name}")["metadata"]["uid"])[:8]


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
    assert left.by.endswith(f"({_uid(server, 'gpu-01')})")


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


def test_a_name_that_two_of_our_nodes_have_in_the_cluster_is_nobodys(server: Server, world: TickContext) -> None:
    """But a retired one leaves it to its successor."""
    taker, _ = started(server, world)
    taker.theirs = lambda: {"gpu-03": "gpu-01"}
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
