"""Streams of what happens: shared, bounded, and over when there is nothing more to tell or nobody left to tell it."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, expect

from fleet_runner.adapters.store import Store
from fleet_runner.core.access.roles import Role
from fleet_runner.core.lifecycle.actions import Decision, OpenRun
from fleet_runner.core.lifecycle.runs import Outcome, Run
from fleet_runner.core.lifecycle.spool import Progress
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.web.live import MOST_OF_ADDRESS, event
from tests.waiting import PATIENCE, until
from tests.web.hall import NOW, Hall, made, node
from tests.web.looking import accessible, opened, shot
from tests.web.served import Served, served


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    """A small hall for one test, whose service ends in it."""
    with Store.create(f"sqlite:///{tmp_path / 'fleet.db'}") as store:
        yield made(store, 8, (State.PRODUCTION,))


@pytest.fixture
def run(hall: Hall) -> Run:
    """A run that is under way."""
    name = hall.names[-1]
    opening = OpenRun(Stage.HEALTH_PASSIVE, "", batch="b")
    return hall.store.apply(node(hall.store, name), Decision((opening,), "", NOW), NOW - 30)[0]


@pytest.fixture
def site(hall: Hall, tmp_path: Path) -> Iterator[Served]:
    """That hall, served."""
    with served(hall.store, hall.fleet, tmp_path) as found:
        yield found


@contextmanager
def watching(site: Served, run: Run, address: str = "127.0.0.1") -> Iterator[httpx.Response]:
    """Open a stream of a run from an address of this machine."""
    token = {"authorization": f"Bearer {site.token(Role.VIEWER)}"}
    transport = httpx.HTTPTransport(local_address=address)
    with (
        httpx.Client(transport=transport, base_url=site.url, timeout=PATIENCE) as client,
        client.stream("GET", f"/runs/{run.id}/events", headers=token) as answer,
    ):
        yield answer


def test_an_event_is_one_whatever_lines_its_text_has() -> None:
    assert event("one", "<p>\r\na\n\nb</p>") == b"event: one\ndata: <p>\ndata: a\ndata: \ndata: b</p>\n\n"
    assert event("over", "") == b"event: over\ndata: \n\n"


def test_what_changes_is_told_until_the_run_is_over(site: Served, hall: Hall, run: Run) -> None:
    with watching(site, run) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["cache-control"] == "no-store"
        told = answer.iter_text()
        heard = ""
        while "has not reported yet" not in heard:
            heard += next(told)
        hall.store.ingest("b", 0, 9, (Progress(run.node, NOW, 2, 5, "fleet_collect : Read"),))
        while "2 of 5 tasks" not in heard:
            heard += next(told)
        hall.store.close_run(run, Outcome.PASSED, "1 check passed", NOW)
        heard += "".join(told)
    assert "1 check passed" in heard
    assert heard.endswith("event: over\ndata: \n\n")


def test_many_viewers_cost_one_look_a_second_and_gone_ones_nothing(site: Served, hall: Hall, run: Run) -> None:
    live = site.site.live
    with ExitStack() as stack:
        answers = [stack.enter_context(watching(site, run, f"127.0.0.{2 + number // 25}")) for number in range(50)]
        until(lambda: live.streams.total() == 50)
        began, before = time.monotonic(), live.looks(("run", run.id))
        until(lambda: live.looks(("run", run.id)) >= before + 2)
        looks = live.looks(("run", run.id)) - before
        assert looks <= time.monotonic() - began + 2
        assert len(answers) == 50
    until(lambda: live.streams.total() == 0)
    until(lambda: live.looks(("run", run.id)) == 0)
    assert not live.streams


def test_an_address_has_so_many_streams_and_gets_one_back_when_it_lets_one_go(site: Served, run: Run) -> None:
    live = site.site.live
    with ExitStack() as stack:
        first = ExitStack()
        first.enter_context(watching(site, run))
        for _ in range(MOST_OF_ADDRESS - 1):
            stack.enter_context(watching(site, run))
        until(lambda: live.streams["127.0.0.1"] == MOST_OF_ADDRESS)
        with watching(site, run) as refused:
            assert refused.status_code == httpx.codes.SERVICE_UNAVAILABLE
            assert refused.headers["retry-after"] == "30"
        with watching(site, run, "127.0.0.9") as other:
            assert other.status_code == httpx.codes.OK
        first.close()
        until(lambda: live.streams["127.0.0.1"] < MOST_OF_ADDRESS)
        with watching(site, run) as again:
            assert again.status_code == httpx.codes.OK


def test_a_client_that_is_gone_without_a_word_frees_its_slot(site: Served, run: Run) -> None:
    live, at = site.site.live, urlsplit(site.url)
    with socket.create_connection((at.hostname, at.port)) as gone:
        token = site.token(Role.VIEWER)
        head = f"GET /runs/{run.id}/events HTTP/1.1\r\nHost: {at.netloc}\r\nAuthorization: Bearer {token}\r\n\r\n"
        gone.sendall(head.encode())
        until(lambda: live.streams.total() == 1)
    until(lambda: live.streams.total() == 0)


def test_the_end_of_the_service_ends_its_streams(hall: Hall, run: Run, tmp_path: Path) -> None:
    with ExitStack() as stack:
        with served(hall.store, hall.fleet, tmp_path / "other") as site:
            for _ in range(5):
                stack.enter_context(watching(site, run))
            until(lambda: site.site.live.streams.total() == 5)
            site.site.stop.set()
            until(lambda: site.site.live.streams.total() == 0)
            for _ in range(3):
                answer = stack.enter_context(watching(site, run))
                assert "over" not in "".join(answer.iter_text())
            began = time.monotonic()
        assert time.monotonic() - began < PATIENCE  # not for as long as a stream may last


def test_nobody_without_the_right_is_told_anything(site: Served, run: Run) -> None:
    for role, tenant, status in ((None, "", 401), (Role.TENANT, "Acme", 403)):
        with site.client(role, tenant) as client:
            for path in (f"/runs/{run.id}/events", "/runs/events"):
                assert client.get(path).status_code == status


def renamed(store: Store, *names: str) -> None:
    """Give a table of the store another name, so that what reads it fails."""
    with store._database.write() as connection:
        connection.exec_driver_sql("ALTER TABLE {} RENAME TO {}".format(*names))


def test_whoever_is_told_hears_that_nothing_can_be_read_and_that_it_can_again(
    site: Served, hall: Hall, run: Run
) -> None:
    with watching(site, run) as answer:
        told, heard = answer.iter_text(), ""
        while "has not reported yet" not in heard:
            heard += next(told)
        assert "event: stale" not in heard
        renamed(hall.store, "runs", "elsewhere")
        while "event: stale\ndata: yes\n" not in heard:
            heard += next(told)
        renamed(hall.store, "elsewhere", "runs")
        while "event: stale\ndata: no\n" not in heard:
            heard += next(told)


def test_an_open_page_says_that_it_is_old_and_when_it_is_not(
    site: Served, hall: Hall, run: Run, browser: Browser
) -> None:
    with opened(browser, site) as page:
        page.goto(f"{site.url}/runs/{run.id}")
        expect(page.locator("#one .far")).to_contain_text("has not reported yet")
        until(lambda: site.site.live.streams.total() == 1)
        renamed(hall.store, "runs", "elsewhere")
        expect(page.locator("#stale")).to_contain_text("The store cannot be read now")
        accessible(page)
        shot(page, "stale")
        renamed(hall.store, "elsewhere", "runs")
        expect(page.locator("#stale")).to_have_count(0)


def test_an_open_page_says_that_the_service_is_gone(hall: Hall, run: Run, browser: Browser, tmp_path: Path) -> None:
    page = browser.new_page()
    page.set_default_timeout(PATIENCE * 1000)
    with served(hall.store, hall.fleet, tmp_path / "gone") as site:
        page.goto(f"{site.url}/login")
        page.fill("#token", site.token(Role.VIEWER))
        page.press("#token", "Enter")
        page.wait_for_url(lambda url: "/login" not in url)
        page.goto(f"{site.url}/runs/{run.id}")
        until(lambda: site.site.live.streams.total() == 1)
        expect(page.locator("#stale")).to_have_count(0)
    expect(page.locator("#stale")).to_contain_text("The connection is lost")
    page.close()
