"""A stand-in for an API server, by night a real one, with the rights of docs/examples alone; and nodes."""

from collections.abc import Callable, Iterator

import pytest

from fleet_runner.reconcile.loop.context import TickContext
from tests import kube, kube_standin
from tests.reconcile.lifecycle.node_remediations.requests import REAL, WAY, Clock, Server
from tests.reconcile.loop.test_draining import FREE, scripted
from tests.reconcile.scripted import in_service


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
