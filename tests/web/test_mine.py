"""A tenant's nodes: theirs alone, in plain words, and nothing of anybody else's by any way."""

import csv
import io
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser

from fleet_runner.adapters.store import Store
from fleet_runner.core.access.roles import Role
from fleet_runner.core.inventory.records import Device, Fleet
from fleet_runner.core.jobs.cause import decide
from fleet_runner.core.jobs.event import Area, Event
from fleet_runner.core.jobs.event import Role as Part
from fleet_runner.core.jobs.job import Job
from fleet_runner.core.lifecycle.actions import OpenTicket, SetCondition
from fleet_runner.core.lifecycle.runs import Held
from fleet_runner.core.lifecycle.states import Condition, State
from tests.examples import UNHURRIED
from tests.web.hall import NOW, PATHS, TYPES, Hall, act, walk
from tests.web.looking import DESKTOP, PHONE, accessible, fits, opened, shot
from tests.web.served import Served, served


@pytest.fixture(scope="module")
def acme(site: Served) -> Iterator[httpx.Client]:
    """Somebody of Acme's."""
    with site.client(Role.TENANT, "Acme") as found:
        yield found


def test_only_tenants_have_nodes_of_their_own(site: Served) -> None:
    for url in ("/mine", "/mine.csv", "/mine/gpu-00001"):
        for role, expected in ((Role.OPERATOR, 403), (Role.VIEWER, 403), (Role.TECHNICIAN, 403), (None, 401)):
            with site.client(role) as client:
                assert client.get(url).status_code == expected


def test_a_tenant_sees_their_nodes_and_no_other(acme: httpx.Client, hall: Hall) -> None:
    text = acme.get("/mine").text
    for name, device in hall.fleet.devices.items():
        assert (f'href="/mine/{name}"' in text) is (device.tenant == "Acme")
    assert "Globex" not in text


def test_what_is_done_is_said_without_what_people_wrote(acme: httpx.Client) -> None:
    text = acme.get("/mine").text
    assert "when that has ended, it is restarted" in text  # gpu-00002, which drains
    for raw in ("GPU 3", "alert", "alice", "leaf-0", "R001", "fans"):
        assert raw not in text


def test_the_mean_says_what_it_is_of_where_some_came_into_service_later(acme: httpx.Client) -> None:
    """A node of three days has no month, and its share is in the mean."""
    text = acme.get("/mine").text
    assert "since it first came into service" in text
    assert "% of the last 30 days, or of the time since each first came into service.</p>" in text


def test_a_nodes_month_is_told(acme: httpx.Client) -> None:
    text = acme.get("/mine/gpu-00027").text
    assert "out of service for good" in text
    assert "It passed its tests and came into service." in text
    assert "triage" not in text.casefold()


def test_anothers_node_and_none_are_the_same(acme: httpx.Client) -> None:
    answers = [
        acme.get(f"/mine/{name}") for name in ("gpu-00005", "leaf-0", "no-such-node", "%3Cscript%3E", "GPU-00001")
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.text for answer in answers}) == 1


def test_the_table_has_their_nodes(acme: httpx.Client, hall: Hall) -> None:
    answer = acme.get("/mine.csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    mine = [name for name, device in hall.fleet.devices.items() if device.tenant == "Acme"]
    assert [row["node"] for row in rows] == mine
    served = [(float(row["served, percent"]), row["of"]) for row in rows if row["served, percent"]]
    assert {of.partition(" since ")[2] for _, of in served} == {"it first came into service"}
    assert all(0 <= share <= 100 for share, _ in served)
    assert answer.headers["content-disposition"] == 'attachment; filename="nodes.csv"'


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store without nodes."""
    with Store.create(f"sqlite:///{tmp_path / 'fleet.db'}") as found:
        yield found


def test_without_a_source_of_truth_nobody_has_any(store: Store, tmp_path: Path) -> None:
    store.register([Device("n1", "h100", "gpu-server", "hall", tenant="Acme")], NOW)
    with served(store, None, tmp_path) as site, site.client(Role.TENANT, "Acme") as client:
        assert "Your nodes cannot be read right now" in client.get("/mine").text
        assert client.get("/mine/n1").status_code == 404
        assert len(client.get("/mine.csv").text.splitlines()) == 1


def test_of_one_node_alone_the_mean_is_its_own(store: Store, tmp_path: Path) -> None:
    """Not of a month, where it came into service two hours ago."""
    device = Device("n1", "h100", "gpu-server", "hall", tenant="Acme")
    store.register([device], NOW - 90 * 86_400)
    walk(store, "n1", State.PRODUCTION, NOW)
    fleet = Fleet(("hall",), {}, TYPES, {"n1": device}, ())
    with served(store, fleet, tmp_path) as site, site.client(Role.TENANT, "Acme") as client:
        assert "It served 100.00 % of the 2 h since it first came into service.</p>" in client.get("/mine").text


def test_a_hostile_name_is_text_on_the_page_and_in_the_table(store: Store, tmp_path: Path) -> None:
    name = "=HYPERLINK(1)<b>"
    device = Device(name, "h100", "gpu-server", "hall", tenant="Acme")
    store.register([device], NOW)
    fleet = Fleet(("hall",), {}, TYPES, {name: device}, ())
    with served(store, fleet, tmp_path) as site, site.client(Role.TENANT, "Acme") as client:
        assert "<b>" not in client.get("/mine").text.split("<main")[1].replace("<b>0 of 1</b>", "").replace(
            "<b>Next:</b>", ""
        )
        assert f"'{name}" in client.get("/mine.csv").text


TENANTS = ("Acme", "acme", "Acme 2", None)
"""Such that one is found by nothing but its whole name, to the letter."""

NUMBERS = count(1)


@settings(max_examples=12, deadline=None, suppress_health_check=UNHURRIED)
@given(
    nodes=st.lists(st.tuples(st.sampled_from(TENANTS), st.sampled_from(sorted(PATHS))), min_size=1, max_size=6),
    condition=st.sampled_from((Condition.HELD, Condition.MAINTENANCE, Condition.PENDING)),
)
def test_nothing_of_anothers_is_ever_told(
    store: Store, tmp_path: Path, nodes: list[tuple[str | None, State]], condition: Condition
) -> None:
    """Every reason, ticket and sentence names every node, its serial number and its tenant."""
    devices: list[Device] = []
    for tenant, _ in nodes:
        number = next(NUMBERS)
        name = f"node-{number:06d}-x"
        devices.append(Device(name, "h100", "gpu-server", "hall", serial=f"SN{number:06d}Q", tenant=tenant))
    store.register(devices, NOW - 1e6)
    everybody = " ".join(f"{each.name} {each.serial} <{each.tenant}>" for each in devices)
    for device, (_, state) in zip(devices, nodes, strict=True):
        walk(store, device.name, state, NOW)
        why = SetCondition(condition, Held(NOW - 60, everybody, everybody, "REBOOT"))
        names = tuple(each.name for each in devices)
        ticket = OpenTicket(device.name, "check", everybody, everybody, names, "TRIAGE", NOW - 60)
        act(store, device.name, why, ticket, at=NOW - 60, waiting=everybody)
    fleet = Fleet(("hall",), {}, TYPES, {device.name: device for device in devices}, ())
    with served(store, fleet, tmp_path) as site:
        for tenant in filter(None, TENANTS):
            _only_theirs(site, tenant, devices)


def _only_theirs(site: Served, tenant: str, devices: list[Device]) -> None:
    site.tokens.clear()
    for token in site.store.tokens():
        site.store.revoke_token(token.name, NOW)
    others = [device for device in devices if device.tenant != tenant]
    with site.client(Role.TENANT, tenant) as client:
        mine = [f"/mine/{each.name}" for each in devices if each.tenant == tenant]
        answers = [client.get(url) for url in ("/mine", "/mine.csv", *mine)]
        assert {answer.status_code for answer in answers} == {200}
        refused = [client.get(f"/mine/{each.name}") for each in others]
        assert {answer.status_code for answer in refused} <= {404}
    for answer in (*answers, *refused):
        for other in others:
            assert other.name not in answer.text
            assert other.serial not in answer.text
            if other.tenant is not None:
                assert f"<{other.tenant}>" not in answer.text
                assert f"&lt;{other.tenant}" not in answer.text


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_a_tenants_pages_read_well(site: Served, browser: Browser, size: tuple[int, int]) -> None:
    for dark in (False, True):
        with opened(browser, site, Role.TENANT, "Acme", size=size, dark=dark) as page:
            page.goto(f"{site.url}/mine")
            accessible(page)
            fits(page)
            shot(page, f"mine-{size[0]}-{'dark' if dark else 'light'}")
            page.locator("#n-gpu-00025").focus()
            page.keyboard.press("Enter")
            page.wait_for_url("**/mine/gpu-00025")
            accessible(page)
            fits(page)
            shot(page, f"mine-node-{size[0]}-{'dark' if dark else 'light'}")


def test_jobs_that_died_are_told_to_whose_nodes_they_ran_on(store: Store, tmp_path: Path) -> None:
    devices = [
        Device(f"n{number}", "h100", "gpu-server", "hall", tenant=("Acme", "Globex")[number]) for number in (0, 1)
    ]
    store.register(devices, NOW - 90 * 86_400)
    fell_off = Event(NOW - 3_700, Area.HARDWARE, Part.CAUSE, "xid.79", "of leaf-7", "n0", component="GPU 3")
    for job, nodes, ended in (
        ("4711", ("n0",), NOW - 3_600),
        ("4712", ("n0", "n1"), NOW - 60),
        ("4", ("n0",), NOW - 1e7),
    ):
        answer = decide(Job(job, nodes, ended - 9_000, ended, state="FAILED"), (fell_off,))
        store.keep_answer(answer, NOW, "alice")
    fleet = Fleet(("hall",), {}, TYPES, {each.name: each for each in devices}, ())
    with served(store, fleet, tmp_path) as site:
        with site.client(Role.TENANT, "Acme") as client:
            text = client.get("/mine").text
        with site.client(Role.TENANT, "Globex") as client:
            assert "Your jobs" not in client.get("/mine").text
    assert "Job 4711: hardware" in text
    assert "It began on n0: Xid 79, the GPU has fallen off the bus." in text
    assert "4712" not in text
    assert "Job 4:" not in text
    assert "leaf-7" not in text
