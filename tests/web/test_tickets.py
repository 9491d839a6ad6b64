"""Tickets on a phone: the queue, one ticket with its pictures, and how it is proved done."""

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, expect

from fleet_runner.core.access.roles import Role
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from fleet_runner.core.lifecycle.actions import Answer, OpenTicket
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.core.tickets.trackers.changes import Act
from fleet_runner.core.tickets.work_orders import verification
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from fleet_runner.settings import Settings
from tests.reconcile.scripted import GOOD, IDLE, Scripted
from tests.web.hall import HOSTILE, NOW, Hall, act
from tests.web.looking import PHONE, accessible, fits, opened, shot, typed_in
from tests.web.served import Served
from tests.web.sweeping import findings, judged, known, links, swapped, swept


@pytest.fixture(scope="module")
def numbers(hall: Hall) -> dict[str, int]:
    """More tickets: a swap that a sweep saw, one without places, nodes in onboard, triage, retired."""
    store, fleet = hall.store, hall.fleet
    known(store, fleet, NOW - 9_000)
    fabric, mine = "infiniband.hall-1.leaf-1", links(fleet, "leaf-1")
    seen = swapped(mine, mine[4], mine[9])
    (swap,) = findings(fleet, judged(fleet, mine, seen))
    swept(store, fabric, [swap], NOW - 3_600, seen=seen)
    told = {
        "swap": (fabric, OpenTicket(
            swap.fault, "fabric_cabling", f"{fabric}: {swap.message}"[:200],
            "\n".join([f"{fabric}, 1 switch.", swap.message, *(f"{n}. {s}" for n, s in enumerate(swap.steps, 1)),
                       f"The next look closes it: fleet-runner run fabric --node {fabric}."]),
            (fabric, *swap.nodes, "leaf-1"), Remedy.RECABLE.value, NOW - 3_600)),
        "lost": (hall.names[0], OpenTicket(
            "x/lost", "xid", f"unknown-{HOSTILE}: it is lost {HOSTILE}", "", (f"nowhere-{HOSTILE}",), "RMA", NOW)),
    }  # fmt: skip
    for what, state in (("onboard", State.ONBOARD), ("triage", State.TRIAGE), ("retired", State.RETIRED)):
        (name,) = hall.in_state(state)[:1]
        body = f"{name}, hall-1.\n1. Reseat GPU 2.\nThen certify it: fleet-runner certify {name}."
        told[what] = (
            name,
            OpenTicket(f"g/{name}", "parts_gpu", f"{name}: GPU 2 is missing", body, (name,), "TRIAGE"),
        )
    for name, ticket in told.values():
        act(store, name, ticket, at=NOW - 3_600)
    by_fault = {ticket.fault: ticket.id for ticket in store.tickets()}
    found = {what: by_fault[ticket.fault] for what, (_, ticket) in told.items()}
    rest = {ticket.check: ticket.id for ticket in store.tickets() if ticket.id not in found.values()}
    return found | {"cable": rest["cabling_infiniband"], "log": rest["kernel_log"]}


@pytest.fixture
def technician(site: Served, numbers: dict[str, int]) -> Iterator[httpx.Client]:
    with site.client(Role.TECHNICIAN) as client:
        yield client


def test_the_queue_is_grouped_by_where_to_stand(technician: httpx.Client, numbers: dict[str, int]) -> None:
    text = technician.get("/tickets").text
    assert "row-1" in text
    assert 'rack">rack R00' in text
    assert "Place unknown" in text
    assert text.index("rack R001") < text.index("rack R002") < text.index("Place unknown")
    assert f"/tickets/{numbers['swap']}" in text


@pytest.mark.parametrize(
    ("asked", "shown", "hidden"),
    [
        ("?remedy=RMA", "lost", "cable"),
        ("?site=hall-1", "cable", "lost"),
        ("?q=LEAF-1", "swap", "lost"),
        ("?q=%23{lost}", "lost", "swap"),
    ],
)
def test_the_queue_is_narrowed(
    technician: httpx.Client, numbers: dict[str, int], asked: str, shown: str, hidden: str
) -> None:
    text = technician.get(f"/tickets{asked.format(**numbers)}").text
    assert f'/tickets/{numbers[shown]}"' in text
    assert f'/tickets/{numbers[hidden]}"' not in text


def test_what_fits_nothing_says_so(technician: httpx.Client) -> None:
    assert "None of the" in technician.get("/tickets", params={"q": HOSTILE * 2, "order": "nonsense"}).text
    assert technician.get("/tickets", params={"q": "x" * 101}).status_code == 422


def test_a_ticket_says_where_to_stand_and_what_to_move(technician: httpx.Client, numbers: dict[str, int]) -> None:
    text = technician.get(f"/tickets/{numbers['swap']}").text
    assert "Where to stand" in text
    assert "U1" in text
    assert "<li>Unplug leaf-1 port" in text
    assert f"/tickets/{numbers['swap']}/picture.svg" in text
    assert "Every link of infiniband.hall-1.leaf-1 is checked now." in text


def test_the_cable_to_move_is_two_clicks_from_the_first_page(
    technician: httpx.Client, numbers: dict[str, int]
) -> None:
    first = technician.get("/", follow_redirects=True).text
    assert 'href="/tickets"' in first
    assert f'href="/tickets/{numbers["swap"]}"' in technician.get("/tickets").text
    steps = technician.get(f"/tickets/{numbers['swap']}").text.split('<ol class="steps">')[1].split("</ol>")[0]
    assert "leaf-1" in steps


def test_a_cable_is_drawn_as_the_sweep_saw_it(technician: httpx.Client, numbers: dict[str, int]) -> None:
    answer = technician.get(f"/tickets/{numbers['swap']}/picture.svg")
    assert answer.headers["content-type"].startswith("image/svg+xml")
    assert answer.headers["content-security-policy"] == "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    assert "1. swap" in answer.text
    rack = technician.get(f"/tickets/{numbers['cable']}/picture.svg").text
    assert "Where to stand" in rack
    assert "No place in a rack is known." in technician.get(f"/tickets/{numbers['lost']}/rack.svg").text


def test_both_ends_of_a_cable_stand_among_their_ports(technician: httpx.Client, numbers: dict[str, int]) -> None:
    answer = technician.get(f"/tickets/{numbers['swap']}/ports.svg")
    assert answer.headers["content-security-policy"] == "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    assert answer.text.count('class="arrow"') > 1
    for path in ("", "/steps"):
        text = technician.get(f"/tickets/{numbers['swap']}{path}").text
        assert "Ports in order of number. leaf-1: " in text
        assert " of 32." in text
    assert technician.get(f"/tickets/{numbers['lost']}/ports.svg").status_code == 404
    assert "ports.svg" not in technician.get(f"/tickets/{numbers['lost']}").text


def test_nothing_hostile_is_part_of_a_page(technician: httpx.Client, numbers: dict[str, int]) -> None:
    for path in ("/tickets", *(f"/tickets/{number}" for number in numbers.values())):
        text = technician.get(path).text
        assert "<script>alert" not in text
        assert "\u202e" not in text


@pytest.mark.parametrize("number", ["0", "-1", "99999", "99999999999999999999", "x"])
def test_a_ticket_that_is_not_there_is_no_error(technician: httpx.Client, number: str) -> None:
    for path in ("", "/picture.svg", "/rack.svg", "/ports.svg"):
        assert technician.get(f"/tickets/{number}{path}").status_code in {404, 422}
    assert technician.post(f"/tickets/{number}/done").status_code in {404, 422}


def test_who_only_looks_says_nothing(site: Served, numbers: dict[str, int]) -> None:
    with site.client(Role.VIEWER) as viewer:
        assert "report here that it is done" in viewer.get(f"/tickets/{numbers['swap']}").text
        for path in ("done", "notes"):
            assert viewer.post(f"/tickets/{numbers['swap']}/{path}", data={"words": "x"}).status_code == 403
    for role, tenant in ((None, ""), (Role.TENANT, "Acme")):
        with site.client(role, tenant) as nobody:
            for path in (
                "",
                f"/{numbers['swap']}",
                f"/{numbers['swap']}/picture.svg",
                f"/{numbers['swap']}/rack.svg",
                f"/{numbers['swap']}/ports.svg",
            ):
                assert nobody.get(f"/tickets{path}").status_code in {401, 403}


def test_done_asks_once_for_what_proves_it(technician: httpx.Client, hall: Hall, numbers: dict[str, int]) -> None:
    """And nothing closes a ticket but a check."""
    store, number = hall.store, numbers["triage"]
    (name,) = hall.in_state(State.TRIAGE)[:1]
    for _ in range(2):
        assert technician.post(f"/tickets/{number}/done", data={"words": "a new\nGPU"}).status_code == 303
    assert [intent.kind for intent in store.intents(name)] == [IntentKind.REPAIRED, IntentKind.CERTIFY]
    assert {intent.by for intent in store.intents(name)} == {"technician"}
    said = [change for change in store.ticket_changes(number) if change.act is Act.NOTED]
    assert len(said) == 1
    assert said[0].sentence.endswith("What was done: a new GPU")
    assert number in {ticket.id for ticket in store.tickets()}
    page = technician.get(f"/tickets/{number}").text
    assert "Check requested" in page
    assert "check it now" not in page
    assert 'hx-target="#proof"' in page
    assert "Done, waiting for proof" in technician.get("/tickets").text
    for intent in store.intents(name):
        act(store, name, Answer(intent.id, accepted=False, sentence="no: it is held"), at=NOW)
    page = technician.get(f"/tickets/{number}").text
    assert 'id="did"' in page
    assert 'hx-target="#standing"' in page
    assert 'hx-target="#proof"' not in page, "what somebody types there would be gone"


def test_where_nothing_can_be_asked_it_is_noted(
    technician: httpx.Client, hall: Hall, numbers: dict[str, int]
) -> None:
    for what, why in (("retired", "it is retired"), ("lost", "is known any more")):
        assert why in technician.get(f"/tickets/{numbers[what]}").text
        technician.post(f"/tickets/{numbers[what]}/done")
        claim = verification.claim(hall.store.ticket_changes(numbers[what]))
        assert claim is not None
        assert claim.intents == ()


def test_why_it_cannot_be_done_stands_in_the_queue(technician: httpx.Client, numbers: dict[str, int]) -> None:
    number = numbers["log"]
    assert technician.post(f"/tickets/{number}/notes", data={"words": " \n "}).status_code == 400
    assert technician.post(f"/tickets/{number}/notes", data={"words": "x" * 501}).status_code == 422
    assert technician.post(f"/tickets/{number}/notes", data={"words": "a\0b"}).status_code == 400
    technician.post(f"/tickets/{number}/notes", data={"words": f"no key {HOSTILE}", "kind": "stuck"})
    text = technician.get("/tickets").text
    assert "technician: Cannot be done: no key &lt;script&gt;" in text


def played(node: str, stage: Stage) -> tuple[Result, ...]:
    """Every check passes, the cables as well."""
    del node
    cables = Result("cabling_infiniband", Verdict.PASS, "InfiniBand links as designed: 8")
    return (GOOD, IDLE, cables) if stage in {Stage.HEALTH_PASSIVE, Stage.CABLING} else (GOOD,)


def test_a_ticket_to_its_end_on_a_phone(
    site: Served, hall: Hall, browser: Browser, numbers: dict[str, int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """By keyboard alone: the queue, the ticket, done; a check passes, and the page says what closed it."""
    number = numbers["cable"]
    settings = Settings(state_dir=tmp_path_factory.mktemp("runner"))
    world = TickContext(settings, hall.store, lambda: hall.fleet, Scripted(played))
    with opened(browser, site, Role.TECHNICIAN, size=PHONE) as page:
        typed_in(page, site, Role.TECHNICIAN)
        expect(page).to_have_title("Tickets · fleet-runner")
        accessible(page)
        fits(page)
        shot(page, "tickets-phone")
        entry = page.locator(f'a.open[href="/tickets/{number}"]')
        for _ in range(60):
            page.keyboard.press("Tab")
            if entry.evaluate("each => each === document.activeElement"):
                break
        page.keyboard.press("Enter")
        expect(page.locator("#proof")).to_contain_text("Nobody has reported it as done yet.")
        accessible(page)
        fits(page)
        small = page.evaluate(
            "[...document.querySelectorAll("
            "'main a, main button, main input:not([type=hidden]), main textarea, main summary')]"
            ".filter(each => each.getBoundingClientRect().height < 44).map(each => each.outerHTML)"
        )
        assert small == [], small
        shot(page, "ticket-phone")
        page.focus("#did")
        page.keyboard.type("exchanged the two plugs")
        page.keyboard.press("Tab")
        expect(page.locator("#taken")).to_be_focused()
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator("#proof")).to_contain_text("Check requested")
        shot(page, "ticket-phone-asked")
        for after in range(5, 60, 5):
            tick(world, NOW + after)
        expect(page.locator("#proof .note")).to_contain_text("InfiniBand links as designed: 8")
        expect(page.locator("#proof .note")).to_contain_text("Closed")
        shot(page, "ticket-phone-closed")
        accessible(page)


@pytest.mark.parametrize("dark", [False, True])
def test_tickets_read_well_at_a_desk_and_in_the_dark(
    site: Served, browser: Browser, numbers: dict[str, int], dark: bool
) -> None:
    with opened(browser, site, Role.TECHNICIAN, dark=dark) as page:
        for path in ("/tickets", f"/tickets/{numbers['swap']}", f"/tickets/{numbers['lost']}"):
            page.goto(f"{site.url}{path}")
            accessible(page)
            fits(page)
            shot(page, f"{path.strip('/').replace('/', '-')}-{'dark' if dark else 'light'}")
