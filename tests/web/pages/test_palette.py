"""Going anywhere by keyboard: what is offered to whom, and the field that opens over every page."""

import re

import httpx
import pytest
from playwright.sync_api import Browser, Route, expect

from fleet_runner.core.access.roles import Role
from fleet_runner.core.lifecycle.states import State
from tests.web.hall import HOSTILE, Hall
from tests.web.looking import DESKTOP, PHONE, accessible, fits, opened, shot
from tests.web.served import Served


def urls(client: httpx.Client, text: str) -> list[str]:
    answer = client.get("/find/matches", params={"q": text})
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text
    return re.findall(r'href="([^"]*)"', answer.text)[:-1]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("gpu-00001", "/nodes/gpu-00001"),
        ("gpu-0000", "/nodes/gpu-00001"),
        ("sn000002", "/nodes/gpu-00002"),
        ("hall-1/R003", "/fleet/racks/hall-1/R003"),
        ("#1", "/tickets/1"),
        ("lemons", "/trends/lemons"),
        ("labels", "/labels"),
        ("bring-up", "/trends/weeks"),
    ],
)
def test_what_is_meant_stands_first(site: Served, text: str, first: str) -> None:
    with site.client() as client:
        assert urls(client, text)[0] == first


def test_a_node_comes_with_what_may_be_asked_of_it_by_whoever_asks(site: Served, hall: Hall) -> None:
    name = hall.in_state(State.PRODUCTION)[-1]
    with site.client() as operator, site.client(Role.VIEWER) as viewer, site.client(Role.TECHNICIAN) as technician:
        assert f"/nodes/{name}/requests/hold" in urls(operator, name)
        assert urls(operator, f"retire {name}")[0] == f"/nodes/{name}/requests/retire"
        assert urls(viewer, name) == [f"/nodes/{name}"]
        assert not [url for url in urls(technician, f"retire {name}") if "requests" in url]
        assert "/audit" in urls(operator, "audit")
        assert "/audit" not in urls(technician, "audit")
        assert "/labels" not in urls(viewer, "labels")
    with site.client(Role.TENANT, "Acme") as tenant:
        assert tenant.get("/find/matches", params={"q": name}).status_code == 403


@pytest.mark.parametrize("text", ["", " ", "'", "%", "nothing-like-it", "\t", "retire nothing"])
def test_what_is_nothing_offers_nothing(site: Served, text: str) -> None:
    with site.client() as client:
        answer = client.get("/find/matches", params={"q": text})
        assert (answer.status_code, answer.text.count('id="match-1"')) == (200, 0)


def test_whatever_is_typed_is_bounded_and_escaped(site: Served) -> None:
    with site.client() as client:
        assert client.get("/find/matches", params={"q": "x" * 101}).status_code == 422
        assert len(urls(client, "0")) <= 10
        assert urls(client, HOSTILE)[0].startswith("/tickets/"), "a ticket's title has it, escaped"


def test_without_scripts_the_page_finds_the_same(site: Served) -> None:
    with site.client() as client:
        for text, url in (("lemon", "/trends/lemons"), ("hold gpu-00002", "/nodes/gpu-00002/requests/hold")):
            assert f'href="{url}"' in client.get("/find", params={"q": text}).text


@pytest.mark.parametrize(("size", "dark"), [(DESKTOP, False), (DESKTOP, True), (PHONE, True), ((2560, 1440), False)])
def test_somebody_goes_to_a_node_without_a_mouse(
    site: Served, browser: Browser, size: tuple[int, int], dark: bool
) -> None:
    with opened(browser, site, size=size, dark=dark) as page:
        page.goto(f"{site.url}/tickets")
        for key in ("Control+k", "/"):
            page.keyboard.press(key)
            expect(page.locator("#goto")).to_be_focused()
            page.keyboard.press("Escape")
            expect(page.locator("#palette")).not_to_be_visible()
        page.keyboard.press("Control+k")
        page.keyboard.type("gpu-0000")
        expect(page.locator("#match-2")).to_be_visible()
        expect(page.locator("#match-1")).to_have_attribute("aria-selected", "true")
        expect(page.locator("#matched")).not_to_be_empty()
        page.keyboard.press("ArrowDown")
        expect(page.locator("#goto")).to_have_attribute("aria-activedescendant", "match-2")
        accessible(page)
        fits(page)
        shot(page, f"palette-{size[0]}-{dark}")
        page.keyboard.press("Enter")
        page.wait_for_url("**/nodes/gpu-00002")
        page.focus("#find")
        page.keyboard.type("/")
        expect(page.locator("#palette")).not_to_be_visible()


def test_what_is_listed_of_an_earlier_key_is_not_chosen(site: Served, browser: Browser) -> None:
    """Its answer comes when more was typed already, and Enter would go where nobody meant."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    with opened(browser, site) as page:
        page.goto(f"{site.url}/tickets")
        page.route("**/find/matches*", hold)
        page.keyboard.press("Control+k")
        with page.expect_request("**/find/matches*"):
            page.keyboard.type("gpu-0000")
        page.evaluate("document.getElementById('goto').value += '2'")
        (first,) = held
        first.continue_()
        expect(page.locator("#match-2")).to_be_visible()
        expect(page.locator("#goto")).not_to_have_attribute("aria-activedescendant", re.compile("match"))
