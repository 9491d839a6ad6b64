"""fleet-runner trends, and what node says of tomorrow, from afar: each byte as on the machine of the store."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.access.roles import Role
from fleet_runner.settings import Settings
from tests.cli.base.test_remote import shown
from tests.cli.conftest import Type
from tests.reconcile.reliability.test_nightly import METRIC, NOW, SLOT, look, name, small_fleet
from tests.web.served import Served, served

LOOKS = (
    "trends", "trends --limit 1", f"trends show {name(1)}", f"trends show {name(7)}", "trends metric",
    f"trends metric {METRIC}", f"trends metric {METRIC} --node {name(1)}", "trends metric gpu_watts",
    f"trends metric gpu_watts --node {name(1)}", "trends parts", "trends parts OLD-1", f"trends parts {SLOT[0]}",
    "trends parts NEVER/SEEN?&x=1", "trends lemons", "trends lifetimes", "trends lifetimes --nodes 64 --hours 72",
    "trends checks", "trends limits", f"node {name(1)}", f"node {SLOT[0]}", f"node {name(7)}",
)  # fmt: skip
"""Every subcommand that only looks, each also with --json."""

LATER = NOW + 7_000.0

REFUSED = (
    "trends show nobody", "trends metric nonsense", f"trends metric {METRIC} --node nobody",
    "trends lifetimes --nodes 64",
)  # fmt: skip
"""What neither a store nor a server can answer."""


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A small fleet in which one GPU warms up and one slot is bad, after a night's look; served."""
    folder = tmp_path_factory.mktemp("night")
    with Store.create(f"sqlite:///{folder / 'fleet.db'}") as store:
        small_fleet(store)
        settings = Settings(database_url=f"sqlite:///{folder / 'fleet.db'}", state_dir=folder)
        look(store, settings, NOW)
        with served(store, None, folder) as found:
            found.site.clock = lambda: LATER
            found.site.steady = iter(range(10**9)).__next__  # a second passes with each request
            yield found


@pytest.fixture
def here(typed: Type, night: Served, monkeypatch: pytest.MonkeyPatch) -> Type:
    """Commands over that fleet's store, with the settings of its server, a while after the night."""
    monkeypatch.setattr(time, "time", lambda: LATER)
    monkeypatch.setenv("FLEET_STATE_DIR", str(night.site.settings.state_dir))
    monkeypatch.setenv("FLEET_SOURCE", night.site.settings.source)
    monkeypatch.setenv("FLEET_DATABASE_URL", f"sqlite:///{night.store._database.where}")
    return typed


@pytest.fixture
def afar(here: Type, night: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Type:
    """The same commands, typed on a machine that knows nothing but where the server is."""
    shown(tmp_path, monkeypatch, night.token(Role.VIEWER))

    def run(*words: str) -> object:
        with monkeypatch.context() as patch:
            patch.setenv("FLEET_DATABASE_URL", "sqlite:////nowhere/fleet.db")
            patch.setenv("FLEET_STATE_DIR", str(tmp_path / "other"))
            return here("--server", night.url, *words)

    return run


@pytest.mark.parametrize("line", [*LOOKS, *(f"{each} --json" for each in LOOKS), *REFUSED])
def test_what_a_server_foresees_is_what_its_store_does(line: str, here: Type, afar: Type) -> None:
    local, distant = here(*line.split()), afar(*line.split())
    assert distant == local
    assert local.out or local.err


def test_a_node_says_what_is_foreseen_of_it_and_nothing_where_nothing_is(here: Type, night: Served) -> None:
    (drift,) = night.store.foresights(node=name(1))
    said = here("node", name(1))
    assert max(map(len, said.out.splitlines())) <= 80
    assert said.words.count(drift.what.sentence) == 1
    assert f"alarm foresight.trend of {drift.what.component}: see below (1 time" in said.words
    assert "trend for 117 min" in said.words
    assert "next: plan a look at" in said.words
    assert "OLD-1 failed with xid.79" in here("node", SLOT[0]).words
    assert "foreseen" not in here("node", name(7)).out
    told = json.loads(here("node", name(1), "--json").out)["foresight"]
    with night.client(Role.VIEWER) as asked:
        assert asked.get(f"/api/v1/nodes/{name(1)}/foresight").json() == told
        assert asked.get("/api/v1/nodes/nobody/foresight").status_code == 404
    assert told["foreseen"][0]["sentence"] == drift.what.sentence


def test_a_server_tells_of_so_much_and_no_more(night: Served) -> None:
    with night.client(Role.VIEWER) as asked:
        whole = asked.get("/api/v1/trends/parts", params={"of": SLOT[0], "limit": 1001}).json()
        assert asked.get("/api/v1/trends/parts", params={"of": SLOT[0], "limit": 2}).json() == whole[-2:]
        assert len(whole) > 2
        told = asked.get(f"/api/v1/trends/nodes/{name(1)}/metrics/{METRIC}").json()
        assert (told["metric"], told["unit"], len(told["parts"]), told["left_out"]) == (METRIC, "celsius", 8, 0)
        assert {len(each["numbers"]) for each in told["parts"]} == {len(told["peers"]["middle"])} == {60}
        for path, code in (
            ("/trends/parts", 422), ("/trends/parts?of=x&limit=1002", 422), ("/trends/parts?of=%07", 422),
            (f"/trends/nodes/{name(1)}/metrics/nonsense", 404), (f"/trends/nodes/nobody/metrics/{METRIC}", 404),
        ):  # fmt: skip
            assert asked.get(f"/api/v1{path}").status_code == code, path
    with night.client(Role.TENANT, "Acme") as asked:
        for path in ("/trends/parts?of=OLD-1", f"/trends/nodes/{name(1)}/metrics/{METRIC}"):
            assert asked.get(f"/api/v1{path}").status_code == 403, path


def test_only_a_look_now_needs_the_servers_machine(afar: Type) -> None:
    said = afar("trends", "run")
    assert (said.code, "run it there" in " ".join(said.err.split())) == (2, True)
    assert json.loads(afar("trends", "--json").out)["foresights"]
