"""How far automation may go, on every page; and how an operator says otherwise."""

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser

from fleet_runner.adapters.store import Store
from fleet_runner.core.access.roles import Role
from fleet_runner.core.base.printable import printable
from fleet_runner.core.budgets import modes
from fleet_runner.core.budgets.modes import Kind, Mode, Scope, Setting, Where
from tests.web.hall import HOSTILE, Hall, made
from tests.web.looking import PHONE, accessible, fits, opened, shot
from tests.web.served import Served, served

PAGE = {"accept": "text/html"}


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """A hall of this module's own: its modes are set."""
    path = tmp_path_factory.mktemp("hall") / "fleet.db"
    with Store.create(f"sqlite:///{path}") as store:
        store.set_mode(Setting(Scope.FLEET, "", None, Mode.ACT, 1.0, "tests", "because"))
        yield made(store)


@pytest.fixture(scope="module")
def site(hall: Hall, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """That hall, served."""
    with served(hall.store, hall.fleet, tmp_path_factory.mktemp("state")) as found:
        yield found


def said(hall: Hall, node: str, kind: Kind) -> Mode:
    """What holds for a node."""
    return modes.modes(hall.store.modes(), Where.of(hall.fleet, node)).mode(kind)


@pytest.mark.parametrize("path", ["/fleet", "/tickets", "/runs", "/schedules", "/modes", "/trends"])
def test_every_page_says_at_its_top_what_mode_holds(site: Served, path: str) -> None:
    with site.client(Role.VIEWER) as client:
        text = client.get(path, headers=PAGE).text
    assert text.index("Mode: act everywhere.") < text.index("<main")
    assert "Set it" not in text


def test_only_operators_set_modes_and_only_of_places_that_there_are(site: Served, hall: Hall) -> None:
    before = hall.store.modes()
    wanted = {"scope": "fleet", "mode": "observe", "reason": "x"}
    for role in (Role.VIEWER, Role.TECHNICIAN):
        with site.client(role) as client:
            assert client.post("/modes", data=wanted).status_code == 403
    with site.client(Role.TENANT, "Acme") as client:
        assert client.get("/modes").status_code == 403
        assert "Mode:" not in client.get("/mine", headers=PAGE).text
    with site.client() as client:
        for wrong in (
            {"reason": " "},
            {"scope": "node", "name": HOSTILE},
            {"scope": "rack"},
            {"mode": "x"},
            {"kind": "x"},
        ):
            assert client.post("/modes", data=wanted | wrong).status_code == 400
        assert client.post("/modes", data=wanted | {"scope": "x"}).status_code == 422
    assert hall.store.modes() == before


def test_a_mode_is_lowered_for_a_kind_at_a_node_and_forgotten_again(site: Served, hall: Hall) -> None:
    node = hall.store.nodes()[0].name
    wanted = {"scope": "node", "name": node, "kind": "reboot", "mode": "observe", "reason": HOSTILE}
    with site.client() as client:
        assert client.post("/modes", data=wanted).status_code == httpx.codes.SEE_OTHER
        assert (said(hall, node, Kind.REBOOT), said(hall, node, Kind.RESET)) == (Mode.OBSERVE, Mode.ACT)
        last = hall.store.modes()[-1]
        assert (last.scope, last.by, last.reason) == (Scope.NODE, "operator", printable(HOSTILE))
        text = client.get("/modes", headers=PAGE).text
        assert "<script>alert" not in text
        assert f"Mode: observe for reboot at node {node}, act everywhere else." in text
        assert client.post("/modes", data=wanted | {"mode": "forget"}).status_code == httpx.codes.SEE_OTHER
    assert said(hall, node, Kind.REBOOT) is Mode.ACT


def test_the_page_of_modes_reads_well(site: Served, browser: Browser) -> None:
    for name, size, dark in (("desktop", (1280, 800), False), ("dark", (1280, 800), True), ("phone", PHONE, False)):
        with opened(browser, site, size=size, dark=dark) as page:
            page.goto(f"{site.url}/modes")
            accessible(page)
            fits(page)
            shot(page, f"modes-{name}")
