"""Several clusters, each with nodes of the same names: one that is away, or refuses, touches no node of another."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace

import pytest

from fleet_runner.adapters.schedulers import kubernetes
from fleet_runner.adapters.schedulers.kubernetes_remediations import Remediations
from fleet_runner.core.base.errors import SchedulerError, SettingsError
from fleet_runner.core.budgets.modes import Mode, Scope, Setting
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.clusters import names
from fleet_runner.core.lifecycle.node_conditions import STATE
from fleet_runner.reconcile.lifecycle import cluster_loops, node_conditions, node_remediations
from fleet_runner.reconcile.lifecycle.cluster_loops import ClusterLoop
from fleet_runner.reconcile.lifecycle.node_remediations import RemediationTaker
from fleet_runner.reconcile.loop import survive
from fleet_runner.reconcile.loop.context import TickContext
from tests import kube, kube_standin
from tests.commands import entered
from tests.reconcile.lifecycle.node_remediations.requests import REAL, Server, ask
from tests.reconcile.scripted import a_fleet
from tests.waiting import until

NODES = {"gpu-01": "east", "gpu-02": "west", "gpu-03": "north"}
"""Our nodes, and the cluster that each one names; nobody knows of north."""


@pytest.fixture(params=["standin", REAL])
def servers(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, Server]]:
    """The API servers of two clusters, each of which has a node of each name."""
    with ExitStack() as stack:
        found: dict[str, Server] = {}
        for name in ("east", "west"):
            (tmp_path / name).mkdir()
            where = tmp_path / name
            server: Server
            if request.param == "real":
                server = stack.enter_context(kube.running(where))
            else:
                server = stack.enter_context(kube_standin.running(where))
            found[name] = server
            if isinstance(server, kube.ApiServer):
                server.grant()
                server.extend()
            for node in NODES:
                server.add_node(node)
        yield found


@pytest.fixture
def fleet() -> Fleet:
    """Three nodes, each of a cluster of its own."""
    made = a_fleet(3)
    contexts = {name: {"kubernetes_cluster": cluster} for name, cluster in NODES.items()}
    return replace(made, devices={name: replace(made.devices[name], context=each) for name, each in contexts.items()})


@pytest.fixture
def world(make_world: Callable[..., TickContext], fleet: Fleet, servers: dict[str, Server]) -> TickContext:
    """They are in a store, of which may be told."""
    made = make_world(fleet=fleet)
    made.store.register(list(fleet.devices.values()), 1.0)
    made.store.set_mode(Setting(Scope.FLEET, "", None, Mode.ACT, 1.0, "kim"))
    files = {name: each.kubeconfig(kube.DRAINER) for name, each in servers.items()}
    away = files["east"].with_name("away")
    made.settings = made.settings.model_copy(
        update={"scheduler": "kubernetes", "kubernetes_clusters": {"away": away, **files}}
    )
    made.fleet, made.unaccepted, made.decides = fleet, "", lambda: True
    return made


def states(server: Server) -> dict[str, str]:
    """Return the states of which its nodes tell."""
    found = server.ask("GET", "/api/v1/nodes")["items"]
    labels = {each["metadata"]["name"]: each["metadata"].get("labels") or {} for each in found}
    return {name: said[STATE] for name, said in labels.items() if STATE in said}


def test_each_cluster_is_told_of_its_own_nodes_while_another_one_is_away(
    world: TickContext, servers: dict[str, Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One has no kubeconfig, and of another the API server is away for a while."""
    monkeypatch.setattr(node_conditions, "PULSE", 0.05)
    monkeypatch.setattr(cluster_loops, "pause", lambda *_: 0.05)
    servers["west"].kill()
    with node_conditions.telling(world):
        until(lambda: states(servers["east"]) == {"gpu-01": "registered"})
        servers["west"].start()
        until(lambda: states(servers["west"]) == {"gpu-02": "registered"})
    assert states(servers["east"]) == {"gpu-01": "registered"}


def test_what_one_cluster_asks_for_is_about_its_own_nodes_and_is_not_withdrawn_by_another(
    world: TickContext, servers: dict[str, Server], fleet: Fleet
) -> None:
    """Requests of one name, about nodes of one name."""
    for server in servers.values():
        ask(server, "gpu-01")
    takers = {
        name: RemediationTaker(
            world.store,
            Remediations(
                cluster := kubernetes.opened(server.kubeconfig(kube.DRAINER)), cluster, "fleet-runner", name
            ),
            partial(names, fleet, name, tuple(servers)),
        )
        for name, server in servers.items()
    }
    for _ in range(2):
        for taker in takers.values():
            taker.visit()
    (request,) = world.store.unanswered("NodeRemediation ")
    assert request.node == "gpu-01"
    assert request.by.startswith("NodeRemediation east:fleet-runner/gpu-01 (")
    way = "/apis/fleet-runner.dev/v1alpha1/namespaces/fleet-runner/noderemediations/gpu-01"
    reasons = {
        name: {each["reason"] for each in server.ask("GET", way)["status"]["conditions"]}
        for name, server in servers.items()
    }
    assert reasons == {"east": {"Waiting"}, "west": {"UnknownNode"}}
    servers["west"].ask("DELETE", way)
    takers["west"].visit()
    assert world.store.unanswered("NodeRemediation ") == (request,)
    servers["east"].ask("DELETE", way)
    takers["east"].visit()
    assert world.store.unanswered("NodeRemediation ") == ()


def test_requests_of_another_cluster_would_be_about_nobody_knows_which_nodes(world: TickContext) -> None:
    file = world.settings.kubernetes_clusters["east"]
    world.settings = world.settings.model_copy(update={"kubernetes_remediations_kubeconfig": file})
    with (
        pytest.raises(SettingsError, match="kubernetes_remediations_kubeconfig cannot be used"),
        node_remediations.taking(world),
    ):
        pass


@pytest.mark.parametrize("wrong", ["kubeconfig", "kubernetes_remediations_kubeconfig"])
def test_of_one_cluster_what_cannot_be_used_is_told_at_the_start(world: TickContext, wrong: str) -> None:
    """Nobody waits for it then: serve does not begin, and says why."""
    known = world.settings.kubernetes_clusters
    files = dict.fromkeys(("kubeconfig", "kubernetes_remediations_kubeconfig"), known["east"])
    world.settings = world.settings.model_copy(update={"kubernetes_clusters": {}, **files, wrong: known["away"]})
    with pytest.raises(SettingsError, match="away cannot be used"), node_remediations.taking(world):
        pass


@pytest.mark.parametrize(("asked", "kept"), [(700.0, 700.0), (float("inf"), 6 * 3600.0)])
def test_a_cluster_is_left_alone_for_as_long_as_it_asks(
    monkeypatch: pytest.MonkeyPatch, asked: float, kept: float
) -> None:
    """For six hours at most, and at least as long as after another error; the first visit that succeeds ends that."""
    rests: list[float] = []
    errors = [SettingsError("no file"), SchedulerError("away"), SchedulerError("busy"), None, SchedulerError("away")]
    assert isinstance(errors[2], SchedulerError)
    errors[2].seconds = asked
    stop = Event()

    def visit() -> None:
        if (error := errors.pop(0)) is not None:
            raise error

    def wait(rest: float) -> bool:
        rests.append(rest)
        if not errors:
            stop.set()
        return True

    made: list[str] = []

    def begin(_: Event) -> Callable[[], object]:
        made.append("begun")
        if len(made) == 1:
            visit()
        return visit

    monkeypatch.setattr(stop, "wait", wait)
    cluster_loops.run(ClusterLoop("east", 15.0, "Kubernetes was not told of its nodes", begin), stop)
    assert rests[2:4] == [kept, 15.0]
    assert rests[0] == rests[4] <= rests[1]
    assert len(made) == 2  # the first one could not be made


def test_the_end_waits_for_all_clusters_together_and_not_for_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of twenty that are away none answers in time; one that has come to its end is not waited for."""
    clock, waited, held = [0.0], list[float](), Event()

    class Hung(Thread):
        def join(self, timeout: float | None = None) -> None:
            assert timeout is not None
            waited.append(timeout)
            clock[0] += timeout

    monkeypatch.setattr(cluster_loops, "Thread", Hung)
    monkeypatch.setattr(survive, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    loops = [ClusterLoop(str(each), 15.0, "no", lambda _: held.wait) for each in range(20)]
    with cluster_loops.running(loops):
        pass
    held.set()
    assert (len(waited), sum(waited)) == (20, cluster_loops.GRACE)


def test_a_person_is_told_of_each_cluster_that_cannot_be_asked_and_of_nodes_of_none(
    servers: dict[str, Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the site of the examples, whose nodes name no cluster: they are told of in that of kubeconfig alone."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FLEET_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("FLEET_SOURCE", str(kube.RBAC.parent / "site"))
    monkeypatch.setenv("FLEET_SCHEDULER", "kubernetes")
    files = {"west": str(tmp_path / "gone"), "east": str(servers["east"].kubeconfig(kube.DRAINER))}
    monkeypatch.setenv("FLEET_KUBERNETES_CLUSTERS", json.dumps(files))
    assert entered(monkeypatch, capsys, "tick").code == 0
    assert entered(monkeypatch, capsys, "mode", "advise", "--fleet", "-r", "tests").code == 0
    shown = entered(monkeypatch, capsys, "kubernetes", "show")
    assert (shown.code, shown.out) == (3, "0 nodes to be corrected; nothing was written\n")
    assert f"cluster west: kubeconfig {tmp_path}/gone cannot be used" in shown.err
    assert "gpu-01 is no cluster's: kubernetes_cluster is not set in its context, expected east, west" in shown.err
    monkeypatch.setenv("FLEET_KUBECONFIG", str(servers["west"].kubeconfig(kube.DRAINER)))
    shown = entered(monkeypatch, capsys, "kubernetes", "show")
    assert (shown.code, "gpu-01: fleet-runner.dev/state=registered" in shown.out) == (3, True)
    cleared = entered(monkeypatch, capsys, "kubernetes", "clear", "--check")
    assert (cleared.code, cleared.out) == (3, "0 nodes would be cleared\n")


def test_a_single_cluster_that_cannot_be_used_is_an_error_at_once(world: TickContext, tmp_path: Path) -> None:
    world.settings = world.settings.model_copy(update={"kubeconfig": tmp_path / "gone", "kubernetes_clusters": {}})
    with pytest.raises(SettingsError, match="gone cannot be used"), node_conditions.telling(world):
        pass
