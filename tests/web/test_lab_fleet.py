"""Pages and dashboards of a real fleet in the lab: its loop, its plays and its checks are the product's own.

The tests are one story and go on where the one before ended: two servers arrive, one with two cables exchanged; it is
put right, both serve, one is held and released, and loses a GPU later.
"""

import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Browser, Page, expect

from fleet_runner.core.access.roles import Role
from fleet_runner.core.lifecycle.runs import Node, Ticket
from fleet_runner.core.lifecycle.states import Condition, State
from fleet_runner.lab import faults, technician
from tests.waiting import until
from tests.web.lab_fleet import TENANT, LabSite, lab_fleet
from tests.web.looking import DESKTOP, PHONE, accessible, fits, opened, shot
from tests.web.metrics.prometheus import RULES, Prometheus, scraping
from tests.web.metrics.test_prometheus import DASHBOARDS, filled, panels
from tests.web.test_node_asks import tabbed_to

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(600)]

MISCABLED, HEALTHY = "gpu-01", "gpu-02"
FABRIC = "infiniband.lab"
STORY = "15m"
"""As far back as rates are asked for: what moved in the story counts, however long ago by now."""

LONG = 180_000.0
"""Milliseconds that a page is given to show what the runner does."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabSite]:
    with lab_fleet(tmp_path_factory.mktemp("pages"), 2) as found:
        faults.inject(found.fleet.lab, "swapped_cables", MISCABLED, {"rail": 2, "with_rail": 5})
        yield found


@pytest.fixture(scope="module")
def prometheus(site: LabSite, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """One that sees the story from its beginning."""
    with scraping(site, Role.VIEWER, tmp_path_factory.mktemp("prometheus")) as found:
        yield found


@pytest.fixture(autouse=True)
def _scraped(prometheus: Prometheus) -> None:
    """It scrapes while the others look."""


def node(site: LabSite, name: str) -> Node:
    with site.fleet.store() as store:
        found = store.node(name)
    assert found is not None
    return found


def tickets(site: LabSite) -> tuple[Ticket, ...]:
    with site.fleet.store() as store:
        return store.tickets(open_only=False)


def stays(page: Page) -> None:
    """Mark a page, so that it is known to be the same one later."""
    page.evaluate("window.mark = 1")


def stayed(page: Page) -> None:
    """Hold that a page was not loaded anew since it was marked."""
    assert page.evaluate("window.mark") == 1


def test_a_run_goes_on_in_an_open_page(site: LabSite, browser: Browser) -> None:
    """A boot, from the list of what runs to its end; who looks did not load a page anew for it."""
    with opened(browser, site, Role.VIEWER) as page:
        page.goto(f"{site.url}/runs")
        begun = page.locator("#now a[id^=run-]", has_text="provision").first
        expect(begun).to_be_visible(timeout=LONG)
        number = str(begun.get_attribute("id")).removeprefix("run-")
        page.goto(f"{site.url}/runs/{number}")
        stays(page)
        tasks = page.locator("#one .tasks")
        expect(tasks).to_be_visible(timeout=LONG)
        first = str(tasks.text_content())
        expect(tasks).not_to_have_text(first, timeout=LONG)
        stayed(page)
        expect(page.locator("#one .outcome")).to_have_text("passed", timeout=LONG)
        expect(page.locator("#one")).to_contain_text("network_boot")
        stayed(page)
        accessible(page)
        shot(page, "lab-run")


def test_a_technician_certifies_what_has_arrived(site: LabSite, browser: Browser) -> None:
    with opened(browser, site, Role.TECHNICIAN, size=PHONE) as page:
        for name in (MISCABLED, HEALTHY):
            until(lambda name=name: node(site, name).state is State.ONBOARD, f"{name} arrives")
            page.goto(f"{site.url}/nodes/{name}")
            tabbed_to(page, "Certify")
            page.keyboard.press("Enter")
            expect(page.locator("#asked")).to_contain_text("certify", timeout=LONG)
            expect(page.locator("#asked .note.good")).to_contain_text("yes.", timeout=LONG)
        fits(page)


def test_a_ticket_is_done_when_its_check_says_so(site: LabSite, browser: Browser) -> None:
    """The technician says it too early once: the check sees the fault still, and the ticket stays open."""
    until(lambda: tickets(site), "a ticket of the exchanged cables")
    [ticket] = tickets(site)
    until(lambda: node(site, MISCABLED).state is State.ONBOARD, "it waits for hands")
    with opened(browser, site, Role.TECHNICIAN, size=PHONE) as page:
        page.goto(f"{site.url}/tickets")
        page.locator("a.open", has_text=f"#{ticket.id}").click()
        expect(page.locator(".spots")).to_contain_text("leaf-3")
        expect(page.locator(".steps li").first).to_be_visible()
        accessible(page)
        fits(page)
        shot(page, "lab-ticket")
        page.get_by_role("button", name="Done: check it now").click()
        expect(page.locator("#standing")).to_contain_text("Still seen", timeout=LONG)
        until(lambda: node(site, MISCABLED).state is State.ONBOARD, "it waits for hands again")
        assert technician.repair(site.fleet.lab, ticket)
        page.goto(f"{site.url}/tickets/{ticket.id}")
        page.fill("#did", "put both plugs where they belong")
        tabbed_to(page, "Done: check it now")
        page.keyboard.press("Enter")
        expect(page.locator("#standing .note.good")).to_contain_text("Closed", timeout=LONG)
        page.goto(f"{site.url}/tickets/{ticket.id}")
        expect(page.locator(".ticket > .note.good")).to_contain_text("nothing is to be done here any more")
        shot(page, "lab-ticket-closed")
    [closed] = tickets(site)
    assert closed.closed_at is not None


def test_an_operator_holds_and_releases_what_serves(site: LabSite, browser: Browser) -> None:
    until(lambda: node(site, HEALTHY).state is State.PRODUCTION, "it serves", 300.0)
    with opened(browser, site) as page:
        page.goto(f"{site.url}/nodes/{HEALTHY}")
        page.fill("#reason", "its fans are looked at")
        page.get_by_role("button", name="Hold").click()
        expect(page.locator("#asked")).to_contain_text("hold, asked by operator: yes", timeout=LONG)
        expect(page.locator("#head")).to_contain_text("held")
        assert Condition.HELD in node(site, HEALTHY).conditions
        page.goto(f"{site.url}/fleet?condition=held")
        expect(page.locator("body")).to_contain_text(HEALTHY)
        page.goto(f"{site.url}/nodes/{HEALTHY}")
        page.get_by_role("button", name="Release").click()
        expect(page.locator("#asked")).to_contain_text("Released: automation continues.", timeout=LONG)
    assert Condition.HELD not in node(site, HEALTHY).conditions


def test_a_gpu_that_falls_off_the_bus_is_told_in_an_open_page(site: LabSite, browser: Browser) -> None:
    """From production through a reboot and back, in the fleet's page, which keeps itself up to date."""
    until(
        lambda: all(node(site, name).state is State.PRODUCTION for name in (MISCABLED, HEALTHY)), "both serve", 300.0
    )
    with opened(browser, site) as page:
        page.goto(f"{site.url}/fleet")
        stays(page)
        faults.inject(site.fleet.lab, "xid", HEALTHY, {"code": 79, "gpu": 3})
        expect(page.locator("#content")).to_contain_text("Xid 79", timeout=LONG)
        shot(page, "lab-fleet")
        until(lambda: _returned(site), "it has come back", 300.0)
        stayed(page)
        page.goto(f"{site.url}/nodes/{HEALTHY}")
        expect(page.locator("#past")).to_contain_text("Xid 79")
        expect(page.locator("#way")).to_contain_text("reboot")
        shot(page, "lab-node")


def _returned(site: LabSite) -> bool:
    with site.fleet.store() as store:
        ways = [entry.to for entry in store.history(HEALTHY, kind="transition")]
    return State.REBOOT in ways and node(site, HEALTHY).state is State.PRODUCTION


def test_a_tenant_reads_in_plain_words_what_happened(site: LabSite, browser: Browser) -> None:
    with opened(browser, site, Role.TENANT, TENANT, size=PHONE) as page:
        page.goto(site.url)
        expect(page.locator("#content")).to_contain_text(HEALTHY)
        expect(page.locator("#content")).not_to_contain_text(MISCABLED)
        page.goto(f"{site.url}/mine/{HEALTHY}")
        expect(page.locator("#content")).not_to_contain_text("Xid")
        accessible(page)
        fits(page)
        shot(page, "lab-mine")


def test_another_ticket_is_open_when_pages_are_looked_at(site: LabSite) -> None:
    faults.inject(site.fleet.lab, "dead_fan", MISCABLED, {"fan": 4})
    site.push(node=MISCABLED, code="fan.noisy", component="fan 4", message="it rattles")
    until(lambda: any(ticket.closed_at is None for ticket in tickets(site)), "a ticket of the fan", 300.0)


def every_page(site: LabSite) -> list[str]:
    """Return a path of every kind of page that an operator can open, of what there is now."""
    with site.fleet.store() as store:
        result = max(store.latest_results(HEALTHY), key=lambda each: len(each.result.evidence))
        piece = f"{result.result.evidence[0]}?result={result.id}"
        run, ticket = store.runs(HEALTHY)[-1], store.tickets()[-1]
    return [
        "/fleet", "/fleet/racks/lab/A01", f"/nodes/{HEALTHY}", f"/nodes/{HEALTHY}/requests/triage",
        f"/nodes/{HEALTHY}/requests/rma", f"/nodes/{HEALTHY}/results/{result.id}",
        f"/nodes/{HEALTHY}/evidence/{piece}", "/tickets", f"/tickets/{ticket.id}",
        "/find?q=gpu", f"/labels?node={HEALTHY}", "/fabric", f"/fabric/{FABRIC}", "/runs", f"/runs/{run.id}",
        "/runs/queue", "/schedules", "/rollouts", "/audit",
    ]  # fmt: skip


@pytest.mark.parametrize(("size", "dark"), [(DESKTOP, False), (PHONE, True)], ids=["desktop", "phone in the dark"])
def test_every_kind_of_page_is_whole(site: LabSite, browser: Browser, size: tuple[int, int], dark: bool) -> None:
    with opened(browser, site, size=size, dark=dark) as page:
        for path in every_page(site):
            answer = page.goto(f"{site.url}{path}")
            assert answer is not None
            assert answer.ok, (path, answer.status)
            accessible(page)
            fits(page)
            shot(page, f"lab{re.sub('[^a-z]+', '-', path)}{'-dark' if dark else ''}")


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_every_panel_of_a_dashboard_shows_something_of_the_lab(path: Path, prometheus: Prometheus) -> None:
    for panel in panels(path):
        for target in panel["targets"]:
            query = filled(target["expr"].replace("$__rate_interval", STORY))
            until(lambda query=query: numbers(prometheus, query), f"{panel['title']}: {query}", 60.0)


def numbers(prometheus: Prometheus, query: str) -> list[float]:
    """Return what a query finds that can be drawn."""
    found = [float(row["value"][1]) for row in prometheus.ask(query)]
    return [value for value in found if math.isfinite(value)]


def test_no_alert_fires_of_a_fleet_that_is_looked_after(prometheus: Prometheus) -> None:
    """Each expression is one that Prometheus takes; a broken node has a ticket, and is no alert."""
    rules = yaml.safe_load(RULES.read_text())["groups"][0]["rules"]
    standing = {rule["alert"]: found for rule in rules if (found := prometheus.ask(rule["expr"]))}
    assert not standing
    assert not prometheus.ask('ALERTS{alertstate="firing"}')
