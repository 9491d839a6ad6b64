"""Fabrics: what is not as designed and where, by leaf, rail and rack, and what lies between two days."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from xml.etree import ElementTree as ET

import httpx
import pytest
from playwright.sync_api import Browser, expect

from fleet_runner.adapters.store import Store
from fleet_runner.core.access.roles import Role
from fleet_runner.core.cabling.topology.days import DAY, named
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.inventory.records import Cable, Device, Fleet, Interface, Termination
from fleet_runner.core.lifecycle.actions import Decision, OpenRun, OpenTicket
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.spool import Ended, Judged, PlayEnd
from fleet_runner.core.lifecycle.states import Stage
from tests.web.hall import HOSTILE, NOW, act, described, made
from tests.web.looking import PHONE, accessible, fits, opened, shot
from tests.web.served import Served, served
from tests.web.sweeping import findings, judged, known, links, swapped, swept

FABRIC, RAILS = "infiniband.hall-1", "ethernet.hall-1"


def spined(fleet: Fleet) -> Fleet:
    """Return a fleet whose leaves are joined to two spines, so that they are one fabric."""
    devices, cables = dict(fleet.devices), list(fleet.cables)
    leaves = [device for device in fleet.devices.values() if device.role == "leaf"]
    for number in range(2):
        ports = tuple(Interface(f"s{rail}", "infiniband-ndr") for rail in range(len(leaves)))
        devices[f"spine-{number}"] = Device(f"spine-{number}", "leaf", "spine", "hall-1", interfaces=ports)
    for rail, leaf in enumerate(leaves):
        up = tuple(Interface(f"up{number}", "infiniband-ndr") for number in range(2))
        devices[leaf.name] = replace(leaf, interfaces=(*leaf.interfaces, *up))
        cables += [
            Cable(Termination(leaf.name, f"up{number}"), Termination(f"spine-{number}", f"s{rail}"))
            for number in range(2)
        ]
    return replace(fleet, devices=devices, cables=tuple(cables))


def railed(fleet: Fleet) -> Fleet:
    """Return a fleet of which four nodes have two RoCE ports, at two leaves that a spine joins."""
    devices, cables = dict(fleet.devices), list(fleet.cables)
    asked = {"ansible_network_os": "sonic"}
    for name, ports in (("rail-1", 5), ("rail-2", 5), ("rail-spine", 2)):
        every = tuple(Interface(f"Ethernet{port}", "400gbase-x-osfp") for port in range(ports))
        devices[name] = Device(
            name, "leaf", "leaf", "hall-1", interfaces=every, primary_address="192.0.2.1/24", context=asked
        )
    for number, node in enumerate(sorted(name for name in devices if name.startswith("gpu-"))[:4]):
        more = tuple(Interface(f"eth{rail}", "400gbase-x-osfp") for rail in (1, 2))
        devices[node] = replace(devices[node], interfaces=(*devices[node].interfaces, *more))
        cables += [
            Cable(Termination(node, f"eth{rail}"), Termination(f"rail-{rail}", f"Ethernet{number}"))
            for rail in (1, 2)
        ]
    cables += [
        Cable(Termination(f"rail-{rail}", "Ethernet4"), Termination("rail-spine", f"Ethernet{rail - 1}"))
        for rail in (1, 2)
    ]
    return replace(fleet, devices=devices, cables=tuple(cables))


WRONG = (
    Finding("roce.switch_setting", "rail-1 PFC",
            "rail-1: PFC is off at Ethernet0, Ethernet1, expected 3 as the profile of the nodes"
            " there says; correct the switch's configuration", Remedy.WATCH, "roce/1", (RAILS,), (), ("rail-1",)),
    Finding("cabling.symbol_errors", "gpu-00002 eth2 to rail-2 Ethernet2",
            f"rail-2 Ethernet2 received 145 blocks from gpu-00002 eth2 that FEC could not correct {HOSTILE}",
            Remedy.RECABLE, "roce/2", (RAILS, "gpu-00002"), ("Clean both ends.", "Replace it."), ("rail-2",)),
)  # fmt: skip
"""What a sweep of switches' ports found, in part in a switch's own words."""

ERRORS: dict[str, object] = {
    "rates": [
        ["gpu-00003", "eth2", "rail-2", "Ethernet2", 145.0, 144.0],
        ["gpu-00001", "eth1", "rail-1", "Ethernet0", 12.0, 360.0],
    ],
    "counting": 2,
    "untold": [["rail-1", "Ethernet4", "rail-spine", "Ethernet0"]],
    "untelling": 1,
}
"""What it says of errors: two links counted any, and of one nobody told."""


def told_of_ports(store: Store) -> None:
    """Store a sweep of the rails: cables as designed, ports that are not as the nodes' profile says."""
    node, at = store.node(RAILS), NOW - 300
    assert node is not None
    (run,) = store.apply(node, Decision((OpenRun(Stage.FABRIC, "why", batch="rails"),), "", 0.0), at)
    links_well = Result("fabric_ethernet", Verdict.PASS, "10 links as designed", (), {"designed": 10, "matched": 10})
    ports = Result("fabric_roce", Verdict.FAIL, WRONG[0].message, WRONG, {"ports": 12, **ERRORS})
    told = (Judged(RAILS, at + 30, links_well), Judged(RAILS, at + 40, ports))
    store.ingest("rails", 0, 9, [*told, Ended(RAILS, at + 60, PlayEnd.OK)])
    store.close_run(run, Outcome.FAILED, "", at + 60)


@dataclass(frozen=True, slots=True)
class Swept:
    """The fleet that was swept, and the faults of its newest sweep."""

    fleet: Fleet
    faults: tuple[Finding, ...]


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Swept]]:
    """A hall whose fabric was swept three days: fine, a swap and a missing link, then the missing link and more."""
    with Store.create(f"sqlite:///{tmp_path_factory.mktemp('fabric') / 'fleet.db'}") as store:
        made(store)
        fleet = railed(spined(described(32)))
        assert set(known(store, fleet, NOW - 9 * DAY)) == {FABRIC, RAILS}
        told_of_ports(store)
        every = links(fleet)
        mine = links(fleet, "leaf-1")
        swap = swapped(every, mine[4], mine[9])
        gone = links(fleet, "leaf-5")[3]
        turned = swapped(every, *links(fleet, "gpu-00020")[2:4])
        two = findings(fleet, judged(fleet, every, [each for each in swap if each != gone]))
        now = findings(fleet, judged(fleet, every, [each for each in turned if each != gone]))
        odd = Finding(
            f"cabling.{HOSTILE}", f"x {HOSTILE}", f"odd {HOSTILE}", Remedy.RECABLE, "cabling/odd", (HOSTILE,)
        )
        swept(store, FABRIC, (), NOW - 2 * DAY, size=len(every))
        swept(store, FABRIC, two, NOW - DAY, size=len(every))
        swept(store, FABRIC, [*now, odd], NOW - 600, size=len(every))
        act(store, FABRIC, OpenTicket(now[0].fault, "fabric_cabling", "t", "b", (FABRIC,), "RECABLE"), at=NOW - 500)
        own = Finding("cabling.missing", "gpu-00002 ib7", "Designed and not there: gpu-00002 ib7 to leaf-7 p2.",
                      Remedy.RECABLE, "cabling/own", ("gpu-00002",), (), ("gpu-00002", "leaf-7"))  # fmt: skip
        said = Judged("gpu-00002", NOW - 60, Result("cabling_infiniband", Verdict.FAIL, "one", (own,)))
        store.record_by_hand(Stage.CABLING, "runner", [said], NOW - 60)
        yield store, Swept(fleet, now)


@pytest.fixture(scope="module")
def site(fabric: tuple[Store, Swept], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(fabric[0], fabric[1].fleet, tmp_path_factory.mktemp("state")) as found:
        yield found


@pytest.fixture
def viewer(site: Served) -> Iterator[httpx.Client]:
    with site.client(Role.VIEWER) as client:
        yield client


def test_fabrics_are_listed_with_their_newest_sweep(viewer: httpx.Client) -> None:
    text = viewer.get("/fabric").text
    assert f'href="/fabric/{FABRIC}"' in text
    assert "of 272 links as designed" in text
    assert f'src="/fabric/{FABRIC}/topology.svg"' in text
    assert "Ethernet" in text


def test_what_is_wrong_stands_with_both_ends_and_its_ticket(
    viewer: httpx.Client, fabric: tuple[Store, Swept]
) -> None:
    text = viewer.get(f"/fabric/{FABRIC}").text
    assert "Designed and not there: gpu-00004 ib5 to leaf-5 p4." in text
    assert "hall-1 · row-1 · rack R001 · U31" in text
    assert "wrong rail" in text
    assert "steps put it right" in text
    assert 'href="/tickets/' in text
    assert "gpu-00002 ib7 to leaf-7 p2" in text, "what a node sees that no sweep answers for"
    assert "<script>alert" not in text
    assert "leaf-5 <b>33/34</b>" in text


def test_what_switches_say_of_their_ports_stands_in_the_same_form(viewer: httpx.Client) -> None:
    """With its verdict and its faults, beside the cabling, which is as designed; and in the list of fabrics."""
    text = viewer.get(f"/fabric/{RAILS}").text
    cabling, ports = text.split('id="fabric_roce"')
    assert "The newest sweep found none." in cabling
    assert "RoCE at switches&#39; ports" in ports
    assert "PFC is off at Ethernet0, Ethernet1, expected 3" in ports
    assert "roce: switch setting" in ports
    assert "2 steps put it right" in ports
    assert "<b>rail-2</b>" in ports
    assert f"<b>{RAILS}</b>" not in ports, "a fabric is no place to go to"
    assert "<script>alert" not in text
    listed = viewer.get("/fabric").text
    assert "RoCE at switches&#39; ports: <b>2 faults</b>" in listed
    assert "fabric_roce" not in viewer.get(f"/fabric/{FABRIC}").text


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("by=rail", "rail 6 <b>31/32</b>"),
        ("by=rack", "hall-1/R001 <b>30/32</b>"),
        ("leaf=leaf-5", "Links of leaf leaf-5"),
        ("rail=6", "Links of rail 6"),
        ("rack=hall-1/R005", "Two rails are swapped"),
        ("kind=cabling.missing", "Designed and not there"),
        ("leaf=nothing", "No link is designed there."),
        (f"rack={HOSTILE}", "No link is designed there."),
        ("by=nonsense", "leaf-5 <b>33/34</b>"),
    ],
)
def test_a_fabric_is_looked_at_by_leaf_rail_and_rack(viewer: httpx.Client, asked: str, words: str) -> None:
    name, _, value = asked.partition("=")
    text = viewer.get(f"/fabric/{FABRIC}", params={name: value}).text
    assert words in text
    assert "<script>alert" not in text


def test_two_days_are_compared(viewer: httpx.Client) -> None:
    before, after = named(NOW - DAY), named(NOW)
    text = viewer.get(f"/fabric/{FABRIC}", params={"from": before, "to": after}).text
    part = text[text.index('id="days"') :]
    gone, new, still = part.index("Gone"), part.index("New <small"), part.index("Still there")
    assert "Two cables are swapped" in part[gone:new]
    assert "Two rails are swapped" in part[new:still]
    assert "gpu-00004 ib5 to leaf-5 p4" in part[still:]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("2001-01-01", "2026-13-45", ("No sweep of 2001-01-01 with a result is stored", "2026-13-45 is no day")),
        ("", "2001-01-01", ("nothing is no day",)),
        ("9999-12-31", "0001-01-01", ("No sweep of 9999-12-31",)),
        (HOSTILE[:19], "x", ("is no day",)),
    ],
)
def test_a_day_that_is_none_says_so(viewer: httpx.Client, before: str, after: str, words: tuple[str, ...]) -> None:
    answer = viewer.get(f"/fabric/{FABRIC}", params={"from": before, "to": after})
    assert answer.status_code == 200
    for word in words:
        assert word in answer.text
    assert "<script" not in answer.text.split('id="days"')[1]


def test_the_topology_is_drawn(viewer: httpx.Client) -> None:
    answer = viewer.get(f"/fabric/{FABRIC}/topology.svg")
    assert "sandbox" in answer.headers["content-security-policy"]
    root = ET.fromstring(answer.text)  # noqa: S314  our own output
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"2 spines", "8 leaves", "32 nodes", "spine-0", "leaf-5"} <= set(texts)


def test_what_is_no_fabric_is_not_found(viewer: httpx.Client, site: Served) -> None:
    for name in ("nothing", "gpu-00001", HOSTILE):
        for path in ("", "/topology.svg"):
            assert viewer.get(f"/fabric/{httpx.URL(path=name).path}{path}").status_code == 404
    with site.client(Role.TENANT, "Acme") as tenant:
        for path in ("", f"/{FABRIC}", f"/{FABRIC}/topology.svg"):
            assert tenant.get(f"/fabric{path}").status_code == 403


@pytest.mark.parametrize("half", [None, Fleet((), {}, {}, {}, ())])
def test_half_a_source_of_truth_is_enough_for_the_faults(
    fabric: tuple[Store, Swept], site: Served, half: Fleet | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    token = site.token(Role.VIEWER)
    with served(fabric[0], half, tmp_path_factory.mktemp("half")) as blind:
        blind.tokens[Role.VIEWER.value] = token
        with blind.client(Role.VIEWER) as client:
            text = client.get(f"/fabric/{FABRIC}").text
            assert "so its design cannot be drawn" in text
            assert ("topology.svg" in client.get("/fabric").text) is (half is not None)
            assert "Two rails are swapped" in text
            assert "Nothing is designed" in client.get(f"/fabric/{FABRIC}/topology.svg").text


@pytest.mark.parametrize("dark", [False, True])
def test_a_fabric_reads_well(site: Served, browser: Browser, dark: bool) -> None:
    """And somebody comes from a leaf to its fault's ticket by keyboard."""
    for size, name in ((PHONE, "phone"), ((1280, 800), "desk")):
        with opened(browser, site, Role.TECHNICIAN, size=size, dark=dark) as page:
            for number, path in enumerate(
                (
                    "",
                    f"/{FABRIC}",
                    f"/{FABRIC}?leaf=leaf-5",
                    f"/{FABRIC}?from={named(NOW - DAY)}&to={named(NOW)}",
                    f"/{RAILS}",
                )
            ):
                page.goto(f"{site.url}/fabric{path}")
                accessible(page)
                fits(page)
                shot(page, f"fabric-{number}-{name}-{'dark' if dark else 'light'}")
            page.goto(f"{site.url}/fabric/{FABRIC}")
            page.locator(".tiles a").first.focus()
            page.keyboard.press("Enter")
            expect(page.locator("#links")).to_contain_text("Links of leaf")
