"""The fleet's page and a rack's: who may, what a filter leaves, what moves and waits, bad input, how they look."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import Browser, Page

from fleet_runner.adapters.store import Store
from fleet_runner.core.access.roles import Role
from fleet_runner.core.inventory.records import Device, Fleet, Rack, rack_key
from fleet_runner.core.lifecycle.actions import SetCondition
from fleet_runner.core.lifecycle.runs import Held
from fleet_runner.core.lifecycle.states import Condition, State
from tests.web.hall import HOSTILE, NOW, TYPES, Hall, act, described, made
from tests.web.looking import DESKTOP, PHONE, accessible, fits, opened, shot
from tests.web.served import Served, served

OVERFULL = (
    "[...document.querySelectorAll('.rack, .rack .node')].filter(e => e.scrollWidth > e.clientWidth).map(e => e.id)"
)
"""What holds more than it has room for: marks and a state stay within their rack."""

STRANGE = 'a/b"><img src=x onerror=alert(1)>'


@pytest.fixture(scope="module")
def client(site: Served) -> Iterator[httpx.Client]:
    """Somebody who looks."""
    with site.client(Role.VIEWER) as found:
        yield found


@pytest.mark.parametrize("url", ["/fleet", "/fleet/parts/now", "/fleet/parts/floor", "/fleet/racks/hall-1/R001"])
def test_who_may_see_the_fleet(site: Served, url: str) -> None:
    for role, expected in ((Role.OPERATOR, 200), (Role.TECHNICIAN, 200), (Role.VIEWER, 200), (None, 401)):
        with site.client(role) as asked:
            assert asked.get(url).status_code == expected
    with site.client(Role.TENANT, "Acme") as asked:
        assert asked.get(url).status_code == 403


def test_every_node_is_a_link_in_its_rack_with_its_state_and_marks(client: httpx.Client, hall: Hall) -> None:
    text = client.get("/fleet").text
    for name in hall.names:
        assert f'href="/nodes/{name}"' in text
    assert 'aria-label="gpu-00001, U1, production, held: nothing moves it"' in text
    assert text.index(">R001<") < text.index("<span>gpu-00004<") < text.index("<span>gpu-00001<")
    assert text.index("<span>gpu-00001<") < text.index(">R002<")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"rack": "r002"}, {"gpu-00005", "gpu-00006", "gpu-00007", "gpu-00008"}),
        ({"state": "triage"}, {"gpu-00023"}),
        ({"state": "moving", "rack": "R006"}, {"gpu-00021", "gpu-00022"}),
        ({"condition": "held"}, {"gpu-00001"}),
        ({"condition": "maintenance"}, {"gpu-00006"}),
        ({"fault": "cabling.swap"}, {"gpu-00005", "gpu-00006"}),
        ({"tenant": "Globex", "type": "hgx-b200"}, {"gpu-00005", "gpu-00020", "gpu-00030"}),
        ({"site": "hall-9"}, set()),
        ({"state": "'; DROP TABLE nodes; --"}, set()),
    ],
)
def test_a_filter_is_in_the_url(client: httpx.Client, hall: Hall, query: dict[str, str], expected: set[str]) -> None:
    text = client.get("/fleet/parts/floor", params=query).text
    assert {name for name in hall.names if f'id="n-{name}"' in text} == expected
    assert ("None of 32 nodes" in text) is not expected


def test_what_a_filter_asks_for_stays_in_the_form_and_is_escaped(client: httpx.Client) -> None:
    text = client.get("/fleet", params={"tenant": STRANGE, "rack": STRANGE}).text
    assert "<img" not in text
    assert "&lt;img src=x onerror=alert(1)&gt; (none is)" in text


def test_it_is_said_what_moves_and_why_the_rest_waits(client: httpx.Client) -> None:
    text = client.get("/fleet").text
    assert "gpu-00004 health_passive" in text
    assert 'value="3" max="6"' in text
    assert "<b>1 node:</b> drains; a job of 2 h runs on it" in text
    assert "Burn-in passed: the node enters production." in text
    assert "no runner serves: fleet-runner serve" in text


def test_it_is_said_what_needs_a_person_and_how_the_week_went(client: httpx.Client) -> None:
    text = client.get("/fleet").text
    triage, tickets = text.index('href="/fleet?state=triage"><b>1 node'), text.index('href="/tickets"><b>2 tickets')
    assert triage < tickets < text.index('href="/fleet?condition=held"><b>1 node')
    assert 'operator: <a href="/nodes/gpu-00001">gpu-00001</a>; rack R001; since 10 min' in text
    # Reset, reboot and triage began two hours ago; those in debug, RMA and wiping went to triage an hour before.
    assert "GPU hours lost</dt><dd>120<" in text
    filtered = client.get("/fleet", params={"rack": "R001"}).text
    assert 'href="/fleet?condition=held&amp;rack=R001"><b>1 node' in filtered
    assert 'href="/tickets"><b>1 ticket<' in filtered
    assert "since yesterday" in text
    assert "since yesterday" not in filtered


def test_a_fleet_that_is_well_asks_nothing_of_anybody(empty: Store, tmp_path: Path) -> None:
    empty.register([Device("n1", "h100", "gpu-server", "hall-1", "R1")], NOW)
    with served(empty, None, tmp_path) as site, site.client() as client:
        text = client.get("/fleet").text
    assert "no node waits for a person, and no ticket is open" in text
    assert "node hours lost" in text  # without the source of truth nobody knows the GPUs


def test_a_part_is_sent_again_only_when_something_changed(site: Served, client: httpx.Client, hall: Hall) -> None:
    text = client.get("/fleet").text
    for part in ("now", "floor"):
        begin = text.index(f'hx-get="/fleet/parts/{part}?') + len('hx-get="')
        url = text[begin : text.index('"', begin)]
        assert client.get(url).status_code == 204
        assert client.get(url.replace("seen=", "seen=0")).status_code == 200
    assert site.store is hall.store


def test_a_rack_shows_its_devices_and_what_its_nodes_wait_for(client: httpx.Client) -> None:
    answer = client.get("/fleet/racks/hall-1/R001")
    assert "drains; a job of 2 h runs on it" in answer.text
    assert 'aria-label="gpu-00002, U11, production, waits for its work to end' in answer.text
    assert "<script>alert" not in answer.text
    assert HOSTILE not in answer.text


@pytest.mark.parametrize(
    "url", ["/fleet/racks/hall-1/R999", f"/fleet/racks/x/{quote(STRANGE)}", "/fleet/racks/a/b/c"]
)
def test_a_rack_that_nobody_knows_is_not_found(client: httpx.Client, url: str) -> None:
    answer = client.get(url, headers={"accept": "text/html"})
    assert answer.status_code == 404
    assert "<img" not in answer.text


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Store]:
    """A store without nodes."""
    with Store.create(f"sqlite:///{tmp_path / 'fleet.db'}") as store:
        yield store


def test_an_empty_fleet_says_what_to_do(empty: Store, tmp_path: Path) -> None:
    with served(empty, None, tmp_path) as site, site.client() as client:
        text = client.get("/fleet").text
    assert "No node is registered yet" in text
    assert "could not be read yet" in text


def test_without_a_source_of_truth_nodes_are_shown_without_racks(empty: Store, tmp_path: Path) -> None:
    empty.register([Device("n1", "h100", "gpu-server", "hall-1", "R1")], NOW)
    with served(empty, None, tmp_path) as site, site.client() as client:
        text = client.get("/fleet").text
        assert client.get("/fleet/racks/hall-1/R1").status_code == 404
    assert "Not in the source of truth" in text
    assert "No rack known" in text
    assert 'href="/nodes/n1"' in text


def test_hostile_names_are_only_text(empty: Store, tmp_path: Path) -> None:
    device = Device(STRANGE, "h100", "gpu-server", STRANGE, STRANGE, 1.0, tenant=STRANGE)
    racks = {rack_key(STRANGE, STRANGE): Rack(STRANGE, STRANGE, location=STRANGE)}
    empty.register([device], NOW)
    fleet = Fleet((STRANGE,), racks, TYPES, {STRANGE: device}, ())
    with served(empty, fleet, tmp_path) as site, site.client() as client:
        pages = [
            client.get("/fleet"),
            client.get(f"/fleet/racks/{quote(STRANGE, safe='')}/{quote(STRANGE, safe='')}"),
        ]
    for answer in pages:
        assert answer.status_code == 200
        assert "<img" not in answer.text


def test_of_thousands_each_rack_is_a_link_and_each_node_a_cell(empty: Store, tmp_path: Path) -> None:
    fleet = described(1_600)
    nodes = [device for device in fleet.devices.values() if device.role == "gpu-server"]
    strangers = [Device(f"stranger-{number}", "h100", "gpu-server", "x") for number in range(5)]
    empty.register([*nodes, *strangers], NOW)
    with served(empty, fleet, tmp_path) as site, site.client() as client:
        text = client.get("/fleet").text
        few = client.get("/fleet", params={"site": "hall-1", "rack": "R001"}).text
    assert text.count("<i class=r></i>") == 1_605
    assert text.count("href=/fleet/racks/") == 400
    assert "<u>: 4 resting</u>" in text
    assert 'id="n-gpu-00001"' in few


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_the_fleet_reads_well(site: Served, browser: Browser, size: tuple[int, int]) -> None:
    for dark in (False, True):
        with opened(browser, site, size=size, dark=dark) as page:
            for url, name in (("/fleet?state=serving", "fleet"), ("/fleet/racks/hall-1/R001", "rack")):
                page.goto(f"{site.url}{url}")
                accessible(page)
                fits(page)
                assert not page.evaluate(OVERFULL)
                shot(page, f"{name}-{size[0]}-{'dark' if dark else 'light'}")


@pytest.mark.parametrize(("size", "screens"), [((1440, 900), 1), (PHONE, 3)], ids=["desk", "phone"])
def test_the_answer_is_on_the_first_screen(
    empty: Store, tmp_path: Path, browser: Browser, size: tuple[int, int], screens: int
) -> None:
    """All cards are, and the first racks of eight nodes; on a phone within a thumb's scroll."""
    hall = made(empty, 8)
    with served(empty, hall.fleet, tmp_path) as site, opened(browser, site, size=size) as page:
        page.goto(f"{site.url}/fleet")
        for what in (".bar", "#now .card", ".days", ".rack"):
            box = page.locator(what).last.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= screens * size[1], what
        shot(page, f"fleet-8-{size[0]}")


def test_marks_are_dots_whose_letters_come_with_the_focus(site: Served, browser: Browser) -> None:
    with opened(browser, site, Role.VIEWER) as page:
        page.goto(f"{site.url}/fleet")
        letter = "getComputedStyle(document.querySelector('#n-gpu-00001 .mark'), '::before').content"
        assert page.evaluate(letter) == "none"
        page.locator("#n-gpu-00001").hover()
        assert page.evaluate(letter) == '"H"'
        assert "held" in (page.locator("#n-gpu-00001").get_attribute("title") or "")


def test_a_filter_is_set_by_keyboard_and_what_comes_anew_keeps_the_focus(
    site: Served, hall: Hall, browser: Browser
) -> None:
    with opened(browser, site, Role.VIEWER) as page:
        page.goto(f"{site.url}/fleet")
        page.locator(".sieve summary").focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.name") == "state"
        page.keyboard.type("production")
        page.locator("#f-rack").focus()
        page.keyboard.type("R003")
        page.keyboard.press("Enter")
        page.wait_for_url("**state=production**")
        assert page.locator(".node").count() == 4
        _changes_under_focus(page, hall)


def _changes_under_focus(page: Page, hall: Hall) -> None:
    """Hold a node while somebody's focus is on another: the page shows it by itself, and the focus stays."""
    page.locator("#n-gpu-00010").focus()
    page.evaluate("window.scrollTo(0, 40)")
    before = page.evaluate("window.scrollY")
    held = SetCondition(Condition.HELD, Held(NOW, "a fan", "alice"))
    act(hall.store, "gpu-00009", held, at=NOW, waiting="held by alice")
    page.wait_for_selector("#n-gpu-00009 .mark")
    assert page.evaluate("document.activeElement.id") == "n-gpu-00010"
    assert page.evaluate("window.scrollY") == before
    assert hall.store.node("gpu-00009").state is State.PRODUCTION  # type: ignore[union-attr]  it is there
