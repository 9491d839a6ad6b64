"""The pages of trends: who may, what is shown where nothing is known, hostile words, and how they look."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
from playwright.sync_api import Browser, expect
from sqlalchemy import insert

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.schema.trends import panels
from fleet_runner.core.access.roles import Role
from fleet_runner.core.reliability.forecasts import Foresight, Kind
from fleet_runner.core.reliability.trends import packing
from fleet_runner.core.reliability.trends.drift_words import day_name
from fleet_runner.core.reliability.trends.panel import Panel
from fleet_runner.core.reliability.trends.picture_pen import date
from fleet_runner.web.pages.trends import ANALYSES
from tests.web.foreseen import GPUS, HOT, LAST, METRIC, component, foreseen, parts
from tests.web.hall import NOW, Hall, made
from tests.web.looking import DESKTOP, PHONE, accessible, fits, opened, shot
from tests.web.served import Served, served

PATHS = (
    "/trends",
    f"/trends/metrics/{METRIC}",
    f"/trends/nodes/gpu-00001/metrics/{METRIC}",
    "/trends/checks",
    "/trends/lifetimes",
    "/trends/lemons",
    "/trends/weeks",
    "/trends/nodes/gpu-00001",
    "/nodes/gpu-00001",
    "/trends/bring-up",
)
NARROW = (PATHS[0], PATHS[2], PATHS[4], PATHS[5], PATHS[6], PATHS[7], PATHS[9])
"""Those with what is widest: heat, pictures, tables."""


ODD = {
    "weeks": [{"week": 3, "causes": [{"cause": None, "faults": "many"}], "lost": 4}],
    "repairs": [{"cause": "x", "times": []}],
    "waited": [{"state": "x", "nodes": "y"}],
}
"""Weeks that no version ever kept."""


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """A hall of whose tomorrow something is known."""
    path = tmp_path_factory.mktemp("hall") / "fleet.db"
    with Store.create(f"sqlite:///{path}") as store:
        found = made(store)
        foreseen(found)
        yield found


@pytest.fixture(scope="module")
def client(site: Served) -> Iterator[httpx.Client]:
    """Somebody who looks."""
    with site.client(Role.VIEWER) as found:
        yield found


@pytest.mark.parametrize("path", PATHS)
def test_everybody_who_sees_the_fleet_sees_trends_and_tenants_do_not(site: Served, path: str) -> None:
    for role, expected in ((Role.VIEWER, 200), (Role.TECHNICIAN, 200), (None, 401)):
        with site.client(role) as asked:
            assert asked.get(path).status_code == expected
    with site.client(Role.TENANT, "Acme") as asked:
        assert asked.get(path).status_code == 403


@pytest.mark.parametrize(("size", "dark"), [(DESKTOP, False), (PHONE, True)])
def test_every_page_reads_well(site: Served, browser: Browser, size: tuple[int, int], *, dark: bool) -> None:
    look = f"{'phone' if size == PHONE else 'desktop'}-{'dark' if dark else 'light'}"
    with opened(browser, site, size=size, dark=dark) as page:
        for at, path in enumerate(PATHS if size == DESKTOP else NARROW):
            page.goto(f"{site.url}{path}")
            shot(page, f"{at}-{look}")
            accessible(page)
            fits(page)


def test_a_phone_shows_the_newest_days_first_and_whose_row_it_is(site: Served, browser: Browser) -> None:
    ends = "each => [each.getBoundingClientRect().left, each.getBoundingClientRect().right, innerWidth]"
    with opened(browser, site, size=PHONE) as page:
        for path in PATHS[1:3]:
            page.goto(f"{site.url}{path}")
            left, right, width = page.locator(".wide > svg.trend").first.evaluate(ends)
            assert left < 0 < right <= width
        page.goto(f"{site.url}{PATHS[0]}")
        page.locator(".wide:has(table.heat)").first.evaluate("each => each.scrollTo(1000, 0)")
        assert page.locator("table.heat tbody th").first.evaluate(ends)[0] >= 0
        assert page.locator("table.heat tbody td").first.evaluate(ends)[0] < 0


def test_what_nodes_say_is_text_and_every_list_says_what_it_is(client: httpx.Client) -> None:
    for path in PATHS:
        text = client.get(path).text
        assert "<script>alert" not in text, path
        assert "\u202e" not in text, path
    assert "&lt;script&gt;" in client.get("/trends/lemons").text


def test_the_fleets_page_narrows_what_is_foreseen_to_a_kind(client: httpx.Client) -> None:
    text = client.get("/trends?kind=lemon").text
    assert "causes more work" in text
    assert "jumped from 31" not in text
    assert client.get("/trends?kind=nonsense").text.count("jumped from 31") == 1
    assert "rack R009 of hall-1" in text
    assert "4,200" in text


def test_what_a_job_has_to_expect_is_said_in_as_many_digits_as_are_known(client: httpx.Client) -> None:
    text = client.get("/trends/lifetimes").text
    assert '12 <span class="dim">(9.05 to 15.4)</span>' in text
    assert ">0.010 %</td>" in text


def test_a_picture_is_of_one_part_or_of_all_of_a_node(client: httpx.Client) -> None:
    path = f"/trends/nodes/gpu-00001/metrics/{METRIC}"
    assert client.get(path).text.count('<svg class="trend" ') == GPUS
    one = client.get(path, params={"component": component(HOT)}).text
    assert one.count('<svg class="trend" ') == 1
    assert "it is expected to reach that in 20 days (between 17 and 24 days)" in one
    assert "is kept" in client.get(path, params={"component": "GPU 9"}).text
    assert client.get("/trends/nodes/gpu-99999/metrics/gpu_core").status_code == 404
    assert client.get("/trends/metrics/nonsense").status_code == 404
    assert "first nightly analysis is still to come" in client.get("/trends/metrics/gpu_sm_clock").text


def test_a_picture_of_what_is_looked_at_in_weeks_shows_the_year(tmp_path: Path) -> None:
    """What began ten months ago is in it; of what is told daily three months are."""
    with Store.create(f"sqlite:///{tmp_path / 'fleet.db'}") as store:
        hall = made(store, 2)
        parts(store, hall.names)
        for day in range(LAST - 390, LAST + 1, 7):
            told = Panel(METRIC, day, *(np.ones(1, each) for each in ("u4", "u4", "f4", "f4")))
            with store._database.write() as connection:
                connection.execute(insert(panels).values(metric=METRIC, day=day, rows=1, body=packing.encode(told)))
        path, since = f"/trends/nodes/{hall.names[0]}/metrics/{METRIC}", LAST - 300
        with served(store, hall.fleet, tmp_path) as found, found.client(Role.VIEWER) as asked:
            for step, dots in ((1, 13), (7, 56)):
                numbers = {"since_day": day_name(since), "step_days": step}
                seen = Foresight(Kind.TREND, hall.names[0], component(0), "It falls.", METRIC, "", numbers)
                store.foresee(frozenset({Kind.TREND}), [seen], NOW)
                text = asked.get(path).text
                shown = text.count('class="dot"') - 1  # one is the legend's
                assert (shown, f"since {date(since)}<" in text) == (dots, step > 1)


def test_where_nothing_was_analysed_a_page_says_what_to_do(tmp_path: Path) -> None:
    with Store.create(f"sqlite:///{tmp_path / 'fleet.db'}") as store:
        hall = made(store, 2)
        with served(store, hall.fleet, tmp_path) as found, found.client(Role.VIEWER) as asked:
            for path in PATHS[:1] + PATHS[3:-2]:
                text = asked.get(path).text
                assert "will stand here after the first nightly analysis" in text, path
                assert "fleet-runner trends run" in text, path
            assert "To come: nodes that cost more work than others." in asked.get("/trends").text
            assert "Nothing is foreseen of it." in asked.get("/nodes/gpu-00001").text
            for name, *_ in ANALYSES:  # as some other version may have kept it
                store.keep_analysis(
                    name, {"metrics": [{"metric": "x"}], "kinds": 3, "lemons": [None], **ODD}, NOW, 0.1
                )
            assert {asked.get(path).status_code for path in PATHS} == {200}
            assert "Nothing was measured of it yet" in asked.get("/trends/nodes/gpu-00001").text


def test_pictures_come_to_a_nodes_page_when_somebody_scrolls_there(site: Served, browser: Browser) -> None:
    with opened(browser, site) as page:
        page.goto(f"{site.url}/nodes/gpu-00001")
        page.locator("#foreseen").scroll_into_view_if_needed()
        expect(page.locator("#foreseen svg.trend:not(.key)")).to_have_count(1)
        page.get_by_role("link", name="picture of").first.focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/metrics/**")
        expect(page.locator("svg.trend:not(.key)")).to_have_count(1)


def test_each_picture_of_weeks_has_its_table_and_its_spreadsheet(client: httpx.Client) -> None:
    text = client.get("/trends/weeks").text
    assert text.count('<svg class="weeks" ') == 2
    assert 'href="/trends"' in client.get("/", follow_redirects=True).text, "two clicks from the first page"
    assert 'href="/trends/weeks"' in client.get("/trends").text
    racks = text.split('id="racks-title"')[1].split("</section>")[0]
    assert racks.index('href="/fleet/racks/hall-1/R001"') < racks.index("1 ticket</span>")
    assert text.count("<table>") == 4
    assert "all others" in text
    assert "1 time; 1 still out" in text
    assert "2 still out, none serves again" in text
    assert text.count('class="number">percent in service<') == text.count('class="number">mean hours<') == 1
    assert '"\'=HYPERLINK(""x"")",0,,,,2' in client.get("/trends/weeks/repairs.csv").text
    for name, first in (
        ("failures", "2026-W34,xid.79,0"),
        ("service", "2026-W34,32,5277.78,0.0,"),
        ("repairs", "fan.failed,4,2.78,2.5,5.56,0"),
        ("bring-up", "onboard,9,8.33,16.67,30.0"),
    ):
        answer = client.get(f"/trends/weeks/{name}.csv")
        assert answer.headers["content-type"] == "text/csv; charset=utf-8"
        assert first in answer.text.splitlines()
    assert client.get("/trends/weeks/nonsense.csv").status_code == 404


def test_a_node_shows_each_number_by_its_worst_part(site: Served, client: httpx.Client, browser: Browser) -> None:
    path = f"/trends/nodes/gpu-00001/metrics/{METRIC}"
    worst = client.get(path, params={"only": "worst"}).text
    assert worst.count('<svg class="trend" ') == 1
    assert component(HOT) in worst
    assert "worst" not in client.get("/trends/nodes/gpu-00001/metrics/gpu_sm_clock?only=worst").text
    assert client.get("/trends/nodes/gpu-99999").status_code == 404
    with opened(browser, site) as page:
        page.goto(f"{site.url}/trends/nodes/gpu-00001")
        expect(page.locator(".small-pictures svg.trend")).to_have_count(3)
        page.get_by_role("link", name=METRIC).click()
        expect(page.locator("svg.trend:not(.key)")).to_have_count(GPUS)


def test_bring_up_says_of_how_many_nodes_it_tells(client: httpx.Client) -> None:
    assert "of more than 1,500 those that began last" in client.get("/trends/bring-up").text
