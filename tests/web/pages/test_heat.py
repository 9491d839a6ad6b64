"""What a fabric's links counted, drawn by rail and leaf."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from fleet_runner.adapters.store import Store
from fleet_runner.core.access.roles import Role
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.lifecycle.actions import OpenTicket
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import Stage
from tests.web.hall import NOW, act, described, made
from tests.web.looking import PHONE, accessible, fits, opened, shot
from tests.web.served import Served, served
from tests.web.sweeping import known
from tests.web.test_fabric import FABRIC, RAILS, railed, spined, told_of_ports

BAD = Finding(
    "cabling.symbol_errors", "gpu-00003 ib2 to leaf-2 p3",
    "The link gpu-00003 ib2 to leaf-2 p3 counted 300 symbol errors at leaf-2 p3 in 5 h, allowed 7.2.", Remedy.RECABLE,
    "cabling/quality/1", (FABRIC, "gpu-00003"), (), ("gpu-00003", "leaf-2"),
)  # fmt: skip

COUNTED = [["gpu-00003", "ib2", "leaf-2", "p3", 300], ["gpu-00004", "ib2", "leaf-2", "p4", 3]]


def looked(store: Store, at: float, observed: dict[str, object]) -> None:
    found = (BAD,) if observed else ()
    said = Result("fabric_counters", Verdict.FAIL if found else Verdict.PASS, BAD.message, found, observed)
    store.record_by_hand(Stage.FABRIC, "runner", [Judged(FABRIC, at, said)], at)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A hall whose InfiniBand was looked at twice, and whose rails' switches were asked."""
    folder: Path = tmp_path_factory.mktemp("heat")
    with Store.create(f"sqlite:///{folder / 'fleet.db'}") as store:
        made(store)
        fleet = railed(spined(described(32)))
        known(store, fleet, NOW - 9_000)
        told_of_ports(store)
        looked(store, NOW - 900, {"seconds": 18_000.0, "counted": COUNTED})
        act(store, FABRIC, OpenTicket(BAD.fault, "fabric_counters", "t", "b", (FABRIC,), "RECABLE"), at=NOW - 500)
        with served(store, fleet, folder) as found:
            yield found


@pytest.fixture
def viewer(site: Served) -> Iterator[httpx.Client]:
    with site.client(Role.VIEWER) as client:
        yield client


def test_a_cell_has_its_worst_link_and_leads_to_its_ticket(viewer: httpx.Client) -> None:
    text = viewer.get(f"/fabric/{FABRIC}").text
    assert f'<a class="h3" href="/fabric/{FABRIC}?leaf=leaf-2#links">leaf-2 <b>60/h 1 bad</b></a>' in text
    assert f'<a class="h0" href="/fabric/{FABRIC}?leaf=leaf-1#links">leaf-1 <b>0</b></a>' in text
    assert "between switches" in text
    links = viewer.get(f"/fabric/{FABRIC}?leaf=leaf-2").text.split('id="links"')[1]
    first, second = links.split("<tbody>")[1].split("</tr>")[:2]
    assert '<td class="number">60</td>' in first
    assert 'href="/tickets/' in first
    assert '<td class="number">0.6</td>' in second


def test_ethernet_counts_what_fec_did_not_correct_against_what_each_links_speed_allows(viewer: httpx.Client) -> None:
    text = viewer.get(f"/fabric/{RAILS}").text.split('id="heat"')[1]
    assert "(blocks that FEC did not correct); 144 to 360 are allowed; ? is not known" in text
    assert "rail-2 <b>145/h 2 bad</b>" in text
    assert '<a class="h1" href="/fabric/ethernet.hall-1?leaf=rail-1#links">rail-1 <b>12/h</b></a>' in text
    links = viewer.get(f"/fabric/{RAILS}?leaf=rail-1").text.split('id="links"')[1]
    first, *others = links.split("<tbody>")[1].split("</tr>")
    assert '<td class="number">12</td>' in first
    assert sum("not known" in each for each in others) == 1
    assert any('<td class="number">0</td>' in each for each in others)


def test_before_two_looks_nothing_is_known(tmp_path: Path) -> None:
    with Store.create(f"sqlite:///{tmp_path / 'fleet.db'}") as store:
        fleet = spined(described(4))
        known(store, fleet, NOW - 9_000)
        with served(store, fleet, tmp_path) as site, site.client() as client:
            assert 'id="heat"' not in client.get(f"/fabric/{FABRIC}").text
            looked(store, NOW - 900, {})
            assert "it takes two looks" in client.get(f"/fabric/{FABRIC}").text


def test_what_a_look_could_not_tell_is_not_zero(tmp_path: Path) -> None:
    with Store.create(f"sqlite:///{tmp_path / 'fleet.db'}") as store:
        fleet = spined(described(4))
        known(store, fleet, NOW - 9_000)
        counted = [["gpu-00003", "ib2", "leaf-2", "p3", 10**30]]
        odd: dict[str, object] = {
            "seconds": 3_600.0,
            "counted": counted,
            "unsure": ["leaf-1"],
            "unread": 1,
            "unknown": 2,
        }
        looked(store, NOW - 900, odd)
        with served(store, fleet, tmp_path) as site, site.client() as client:
            text = client.get(f"/fabric/{FABRIC}").text
            assert "leaf-1 <b>?</b>" in text
            assert "leaf-2 <b>1e+30/h" in text
            assert "Of 3 ports it is not known what they counted" in text
            assert '<td class="number">not known</td>' in client.get(f"/fabric/{FABRIC}?leaf=leaf-1").text


@pytest.mark.parametrize(
    ("size", "dark"), [(PHONE, False), ((768, 1024), True), ((1440, 900), False), ((2560, 1440), True)]
)
def test_heat_reads_well(site: Served, browser: Browser, size: tuple[int, int], dark: bool) -> None:
    with opened(browser, site, Role.VIEWER, size=size, dark=dark) as page:
        page.goto(f"{site.url}/fabric/{FABRIC}#heat")
        expect(page.locator(".heat .h3")).to_have_count(1)
        accessible(page)
        fits(page)
        shot(page, f"heat-{size[0]}-{dark}")
        page.focus(".heat .h3")
        page.keyboard.press("Enter")
        expect(page.locator("#links")).to_contain_text("leaf-2")
        accessible(page)
        fits(page)


def test_links_beyond_those_that_a_look_names_are_not_said_to_have_no_error(tmp_path: Path) -> None:
    with Store.create(f"sqlite:///{tmp_path / 'fleet.db'}") as store:
        fleet = spined(described(4))
        known(store, fleet, NOW - 9_000)
        looked(store, NOW - 900, {"seconds": 3_600.0, "counted": COUNTED, "counting": 3})
        with served(store, fleet, tmp_path) as site, site.client() as client:
            text = client.get(f"/fabric/{FABRIC}").text
    assert "Of 3 links that counted errors these are the 2 with most; of the others none counted more than 3" in text
