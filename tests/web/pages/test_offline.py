"""Tickets without a connection: what was opened stays to be read, what is reported as done arrives later, once."""

from collections.abc import Iterator
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from fleet_runner.core.access.roles import Role
from fleet_runner.core.lifecycle.actions import OpenTicket
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.tickets.trackers.changes import Act, Change
from tests.waiting import PATIENCE
from tests.web.hall import NOW, Hall, act
from tests.web.looking import DESKTOP, PHONE, accessible, fits, opened, shot
from tests.web.served import Served

NONE_KEPT = """() => new Promise(told => {
  const asked = indexedDB.open('fleet-runner');
  asked.onsuccess = () => {
    const all = asked.result.transaction('reports').objectStore('reports').count();
    all.onsuccess = () => { asked.result.close(); told(all.result === 0); };
  };
})"""
"""Whether no report waits in a browser."""


@pytest.fixture
def number(hall: Hall, request: pytest.FixtureRequest) -> int:
    """A ticket of its own for each test, with two steps."""
    (name,) = hall.in_state(State.TRIAGE)[:1] or hall.in_state(State.ONBOARD)[:1]
    fault = f"own/{request.node.name}"
    body = f"{name}, hall-1.\n1. Pull GPU 2.\n2. Put a new GPU in.\nThen certify it: fleet-runner certify {name}."
    act(hall.store, name, OpenTicket(fault, "parts_gpu", "GPU 2 is missing", body, (name,), "TRIAGE"), at=NOW - 60)
    (found,) = (ticket.id for ticket in hall.store.tickets() if ticket.fault == fault)
    return found


@pytest.fixture
def page(browser: Browser, site: Served) -> Iterator[Page]:
    """A technician's phone."""
    context = browser.new_context(viewport={"width": PHONE[0], "height": PHONE[1]})
    context.set_default_timeout(PATIENCE * 1000)
    context.request.post(f"{site.url}/login", form={"token": site.token(Role.TECHNICIAN)}, max_redirects=0)
    yield context.new_page()
    context.close()


def said(hall: Hall, number: int) -> list[Change]:
    return [each for each in hall.store.ticket_changes(number) if each.act is Act.NOTED]


def kept(page: Page, site: Served, number: int) -> None:
    """Open a ticket, and wait until it is kept."""
    page.goto(f"{site.url}/tickets/{number}")
    expect(page.locator("[data-kept]")).to_be_attached()


def test_an_opened_ticket_and_its_pictures_stay_and_no_other_page(page: Page, site: Served, number: int) -> None:
    kept(page, site, number)
    page.goto(f"{site.url}/tickets")
    stored = page.evaluate("caches.open('tickets').then(all => all.keys()).then(all => all.map(one => one.url))")
    pages = {each.removeprefix(site.url) for each in stored if "/static/" not in each and "/htmx/" not in each}
    assert pages == {f"/tickets/{number}{part}" for part in ("", "/steps", "/rack.svg")}
    page.context.set_offline(True)
    page.goto(f"{site.url}/tickets/{number}")
    expect(page.locator("h1")).to_contain_text("GPU 2 is missing")
    page.get_by_role("link", name="One step at a time").click()
    expect(page.locator("#step-1")).to_be_visible()
    assert page.locator("#step-1 img").evaluate("each => each.complete && each.naturalWidth > 0")
    page.get_by_role("link", name="Here I am").click()
    expect(page.locator(".action:visible")).to_have_text("Pull GPU 2.")
    for path in ("/fleet", f"/tickets/{number + 1}"):
        with pytest.raises(Exception, match=r"ERR_INTERNET_DISCONNECTED|ERR_FAILED"):
            page.goto(f"{site.url}{path}")


def test_done_without_a_connection_is_sent_once_there_is_one(
    page: Page, site: Served, hall: Hall, number: int
) -> None:
    kept(page, site, number)
    page.context.set_offline(True)
    page.goto(f"{site.url}/tickets/{number}/steps#step-4")
    page.fill("#did", "a new GPU in slot 2")
    page.get_by_role("button", name="Done").click()
    expect(page.locator("#reports")).to_contain_text(f"Not sent yet: done, of ticket {number}.")
    assert said(hall, number) == []
    page.reload()
    expect(page.locator("#reports")).to_contain_text("Not sent yet")
    page.context.set_offline(False)
    expect(page.locator("#reports")).to_contain_text("is reported as done")
    (note,) = said(hall, number)
    assert "What was done: a new GPU in slot 2" in note.sentence
    assert note.by == "technician"
    page.goto(f"{site.url}/tickets/{number}")
    expect(page.locator("#proof")).to_contain_text("Check requested")
    assert len(said(hall, number)) == 1


def test_nothing_stays_after_somebody_has_logged_out(page: Page, site: Served, number: int) -> None:
    kept(page, site, number)
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login*")
    assert page.evaluate("caches.keys()") == []
    assert page.evaluate("indexedDB.databases()") == []
    assert page.evaluate("navigator.serviceWorker.getRegistrations().then(all => all.length)") == 0


def test_nothing_of_somebody_else_stays_whose_session_ended(
    page: Page, site: Served, hall: Hall, number: int
) -> None:
    kept(page, site, number)
    page.context.set_offline(True)
    page.get_by_role("button", name="Done: check it now").click()
    expect(page.locator("#reports")).to_contain_text("Not sent yet")
    page.context.clear_cookies()
    page.context.set_offline(False)
    page.context.request.post(f"{site.url}/login", form={"token": site.token(Role.OPERATOR)}, max_redirects=0)
    page.goto(f"{site.url}/fleet")
    page.wait_for_function("localStorage.getItem('who') === 'operator'")
    page.wait_for_function(NONE_KEPT)
    assert page.evaluate("caches.has('tickets')") is False
    assert said(hall, number) == []


def send(client: httpx.Client, number: int, key: str, words: str = "", *, waited: float = 3_600.0) -> str:
    told = {"key": key, "words": words, "waited": str(waited)}
    answer = client.post(f"/tickets/{number}/done", data=told, headers={"accept": "application/json"})
    assert answer.status_code == 200, answer.text
    sentence: str = answer.json()["sentence"]
    return sentence


def test_a_report_that_arrives_twice_counts_once(site: Served, hall: Hall, number: int) -> None:
    key = f"{uuid4()}"
    with site.client(Role.TECHNICIAN) as client:
        assert "is reported as done" in send(client, number, key)
        assert "here already" in send(client, number, key)
        (note,) = said(hall, number)
        assert "sent when there was a connection" in note.sentence
        assert "somebody had reported it before" in send(client, number, f"{uuid4()}", "me too")
        assert "me too" in said(hall, number)[-1].sentence
        for wrong in ({"key": "x"}, {"waited": "nan"}, {"waited": "-1"}, {"key": "0" * 60_000}, {"words": "x" * 501}):
            assert client.post(f"/tickets/{number}/done", data=wrong).status_code == 422
    with site.client(Role.OPERATOR) as other:
        assert "here already" not in send(other, number, key), "a key is its sender's own"


def test_a_report_that_arrives_after_the_ticket_closed_is_noted(site: Served, hall: Hall, number: int) -> None:
    assert hall.store.close_ticket(number, "done elsewhere", "ann", NOW)
    key = f"{uuid4()}"
    with site.client(Role.TECHNICIAN) as client:
        assert "it was closed by then" in send(client, number, key, "new GPU")
        assert "here already" in send(client, number, key, "new GPU")
    (note,) = said(hall, number)
    assert note.sentence.startswith(
        "technician reports it as done, too; it was closed by then. What was done: new GPU"
    )


def test_a_key_is_one_tickets(site: Served, hall: Hall, number: int) -> None:
    """Whoever sends it with another ticket's number reports another thing."""
    key = f"{uuid4()}"
    (other,) = [ticket.id for ticket in hall.store.tickets() if ticket.id != number][:1]
    with site.client(Role.TECHNICIAN) as client:
        assert "is reported as done" in send(client, number, key)
        assert "here already" not in send(client, other, key)
        assert "here already" in send(client, number, key)


def test_a_report_that_waited_too_long_is_noted_and_asks_for_nothing(site: Served, hall: Hall, number: int) -> None:
    with site.client(Role.TECHNICIAN) as client:
        assert "for more than 12 hours" in send(client, number, f"{uuid4()}", "new GPU", waited=90 * 86_400.0)
        (ticket,) = (each for each in hall.store.tickets() if each.id == number)
        assert hall.store.close_ticket(number, "elsewhere", "ann", NOW - 50)
        again = OpenTicket(ticket.fault, ticket.check, ticket.title, ticket.body, ticket.nodes, "TRIAGE", at=NOW - 40)
        act(hall.store, ticket.nodes[0], again, at=NOW - 40)
        assert "found again after that" in send(client, number, f"{uuid4()}", "new GPU", waited=3_600.0)
        assert [each for each in hall.store.intents(ticket.nodes[0]) if str(number) in each.reason.split()] == []
        assert "is reported as done" in send(client, number, f"{uuid4()}", "new GPU", waited=10.0)
    assert len(said(hall, number)) == 3


@pytest.mark.parametrize("role", [Role.VIEWER, Role.TENANT])
def test_whoever_may_not_mend_reports_nothing_whenever_it_was_made(
    site: Served, hall: Hall, number: int, role: Role
) -> None:
    with site.client(role, "Acme" if role is Role.TENANT else "") as client:
        answer = client.post(f"/tickets/{number}/done", data={"key": f"{uuid4()}", "waited": "3600"})
        assert answer.status_code == 403
    assert said(hall, number) == []


def test_another_answer_than_ours_takes_no_report_and_a_login_page_is_no_ticket(
    page: Page, site: Served, hall: Hall, number: int
) -> None:
    kept(page, site, number)
    page.context.set_offline(True)
    page.get_by_role("button", name="Done: check it now").click()
    expect(page.locator("#reports")).to_contain_text("Not sent yet")
    page.route(
        "**/done", lambda route: route.fulfill(body="<html>pay for this network</html>", content_type="text/html")
    )
    page.context.set_offline(False)
    expect(page.locator("#reports")).to_contain_text("could not be sent (200); it is kept")
    page.context.clear_cookies()
    page.goto(f"{site.url}/tickets/{number}")
    assert "/login" in page.url
    page.context.set_offline(True)
    page.goto(f"{site.url}/tickets/{number}")
    expect(page.locator("h1")).to_contain_text("GPU 2 is missing")
    assert said(hall, number) == []


def test_a_kept_ticket_is_reported_from_twice_and_both_arrive(
    page: Page, site: Served, hall: Hall, number: int
) -> None:
    """Its page has one key, which stays the same however often it is opened without a connection."""
    kept(page, site, number)
    for words in ("first", "second"):
        page.context.set_offline(True)
        page.goto(f"{site.url}/tickets/{number}/steps#step-4")
        page.fill("#did", words)
        page.get_by_role("button", name="Done").click()
        expect(page.locator("#reports")).to_contain_text("Not sent yet")
        page.context.set_offline(False)
        expect(page.locator("#reports")).not_to_contain_text("Not sent yet")
    assert [words in each.sentence for each, words in zip(said(hall, number), ("first", "second"), strict=True)] == [
        True,
        True,
    ]


def test_what_is_kept_for_longer_than_a_session_is_gone(page: Page, site: Served, number: int) -> None:
    kept(page, site, number)
    page.evaluate(
        "async path => { const all = await caches.open('tickets'); const old = await all.match(path);"
        "const headers = new Headers(old.headers); headers.set('x-kept-at', String(Date.now() - 13 * 3600 * 1000));"
        "await all.put(path, new Response(await old.text(), { headers })); }",
        f"/tickets/{number}",
    )
    page.goto(f"{site.url}/fleet")
    page.wait_for_function(
        "path => caches.open('tickets').then(all => all.match(path)).then(one => !one)", arg=f"/tickets/{number}"
    )


@pytest.mark.parametrize(("size", "dark"), [(PHONE, False), (PHONE, True), ((768, 1024), False), (DESKTOP, True)])
def test_steps_read_well(browser: Browser, site: Served, number: int, size: tuple[int, int], dark: bool) -> None:
    with opened(browser, site, Role.TECHNICIAN, size=size, dark=dark) as page:
        for step in ("", "#step-2", "#step-4"):
            page.goto(f"{site.url}/tickets/{number}/steps{step}")
            accessible(page)
            fits(page)
            shot(page, f"steps-{size[0]}-{dark}-{step.strip('#')}")


def test_words_that_follow_a_report_whose_answer_was_lost_arrive_too(
    page: Page, site: Served, hall: Hall, number: int
) -> None:
    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    kept(page, site, number)
    page.goto(f"{site.url}/tickets/{number}/steps#step-4")
    page.route("**/done", lose)
    page.fill("#did", "first")
    page.get_by_role("button", name="Done").click()
    expect(page.locator("#reports")).to_contain_text("Not sent yet")
    page.unroute("**/done")
    page.fill("#did", "second")
    page.get_by_role("button", name="Done").click()
    page.wait_for_url(f"**/tickets/{number}#proof")
    assert ["second" in each.sentence for each in said(hall, number)] == [False, True]


def test_a_report_that_the_server_refuses_is_shown_until_somebody_forgets_it(
    page: Page, site: Served, hall: Hall, number: int
) -> None:
    kept(page, site, number)
    page.goto(f"{site.url}/tickets/{number}/steps#step-4")
    page.route("**/done", lambda route: route.fulfill(status=404, body="no", content_type="text/html"))
    page.fill("#did", "a new GPU")
    page.get_by_role("button", name="Done").click()
    expect(page.locator("#reports")).to_contain_text("could not be sent (404); it is kept")
    page.route("**/done", lambda route: route.fulfill(status=422, json={"detail": "x"}))
    page.reload()
    expect(page.locator("#reports")).to_contain_text('refuses your report (422). You wrote: "a new GPU".')
    expect(page.locator("#reports")).not_to_contain_text("Not sent yet")
    page.unroute("**/done")
    page.reload()
    page.get_by_role("button", name="Forget it").click()
    expect(page.locator("#reports")).to_be_empty()
    page.wait_for_function(NONE_KEPT)
    assert said(hall, number) == []
