"""NodeRemediations of a test: made, read and worked on, and what the API server is asked meanwhile."""

from collections.abc import Callable, Collection
from typing import Any

import pytest

from fleet_runner.adapters.schedulers import kubernetes
from fleet_runner.adapters.schedulers.kubernetes import Kubernetes
from fleet_runner.adapters.schedulers.kubernetes_remediations import Remediations
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import State
from fleet_runner.reconcile.lifecycle.node_remediations import RemediationTaker
from fleet_runner.reconcile.loop.context import TickContext
from tests import kube, kube_standin
from tests.reconcile.scripted import pass_time

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


def uid(server: Server, name: str) -> str:
    return str(server.ask("GET", f"{WAY}/{name}")["metadata"]["uid"])[:8]
