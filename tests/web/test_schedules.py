"""What comes by the clock, in words; and how people pause it, resume it, and have it come now."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from fleet_runner.adapters.store import Store
from fleet_runner.core.access.roles import Role
from fleet_runner.core.base.printable import printable
from tests.web.hall import HOSTILE, Hall, made
from tests.web.looking import PHONE, accessible, fits, opened, shot
from tests.web.served import Served, served

PAGE = {"accept": "text/html"}


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """A hall of this module's own: its schedules are paused."""
    path = tmp_path_factory.mktemp("hall") / "fleet.db"
    with Store.create(f"sqlite:///{path}") as store:
        yield made(store)


@pytest.fixture(scope="module")
def site(hall: Hall, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """That hall, served; the fabric is swept by cron, in Berlin."""
    folder: Path = tmp_path_factory.mktemp("state")
    with served(hall.store, hall.fleet, folder, cabling_schedule="30 2 * * 1; Europe/Berlin; jitter 1h") as found:
        yield found


def test_every_schedule_is_told_in_words(site: Served) -> None:
    with site.client(Role.VIEWER) as client:
        text = client.get("/schedules", headers=PAGE).text
    assert "every 5 min, spread over 5 min<" in text
    assert "each node at its own time; of missed ones one is made up for" in text
    assert "every Monday at 02:30 (Europe/Berlin), spread over 60 min" in text
    assert "every day at 03:17 (UTC)" in text
    assert "No runner serves" in text
    assert "Run now" not in text


def test_only_operators_steer_and_only_schedules_that_there_are(site: Served, hall: Hall) -> None:
    for role in (Role.VIEWER, Role.TECHNICIAN):
        with site.client(role) as client:
            for act in ("pause", "resume", "run"):
                assert client.post(f"/schedules/passive/{act}", data={"reason": "x"}).status_code == 403
    with site.client(Role.TENANT, "Acme") as client:
        assert client.get("/schedules").status_code == 403
    with site.client() as client:
        for act in ("pause", "resume", "run"):
            assert client.post(f"/schedules/{HOSTILE}/{act}", data={"reason": "x"}).status_code in {404, 405}
            assert client.post(f"/schedules/nightly/{act}", data={"reason": "x"}).status_code == 404
    assert not hall.store.schedules()[2]


def test_a_schedule_is_paused_with_a_reason_and_resumed(site: Served, hall: Hall) -> None:
    with site.client() as client:
        assert client.post("/schedules/active/pause", data={"reason": " "}).status_code == 400
        assert client.post("/schedules/active/pause", data={"reason": HOSTILE}).status_code == httpx.codes.SEE_OTHER
        paused = hall.store.schedules()[2]["active"]
        assert (paused.by, paused.reason) == ("operator", printable(HOSTILE))
        text = client.get("/schedules", headers=PAGE).text
        assert "<script>alert" not in text
        assert "Paused by operator" in text
        refused = client.post("/schedules/active/run")
        assert refused.status_code == 409
        assert "is paused by operator" in refused.text
        assert client.post("/schedules/active/resume").status_code == httpx.codes.SEE_OTHER
    assert not hall.store.schedules()[2]


def test_a_schedule_is_asked_for_now(site: Served, hall: Hall) -> None:
    with site.client() as client:
        assert client.post("/schedules/retention/run").status_code == httpx.codes.SEE_OTHER
        assert "asked for" in client.get("/schedules", headers=PAGE).text
    assert hall.store.schedules()[1]["retention"].asked_at is not None


def test_schedules_read_well_and_are_paused_with_the_keyboard_alone(
    site: Served, hall: Hall, browser: Browser
) -> None:
    with opened(browser, site) as page:
        page.goto(f"{site.url}/schedules")
        page.locator("#pause-passive").focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/schedules/passive/pause")
        accessible(page)
        page.keyboard.type("new power in row 1")
        page.keyboard.press("Enter")
        page.wait_for_url("**/schedules")
        expect(page.get_by_text("new power in row 1")).to_be_visible()
        shot(page, "schedules-desktop")
    for name, size, dark in (("dark", (1280, 800), True), ("phone", PHONE, False)):
        with opened(browser, site, size=size, dark=dark) as page:
            page.goto(f"{site.url}/schedules")
            accessible(page)
            fits(page)
            shot(page, f"schedules-{name}")
    hall.store.resume_schedule("passive")
