"""What runs, as it happens: live progress, logs, what is over, and how people steer it."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from fleet_runner.adapters.store import Store
from fleet_runner.core.access.roles import Role
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.actions import Decision, OpenRun
from fleet_runner.core.lifecycle.runs import Outcome, Run
from fleet_runner.core.lifecycle.spool import Judged, Progress
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.reconcile.lifecycle.batches import NO_ROOM
from tests.waiting import until
from tests.web.hall import HOSTILE, NOW, Hall, made, node
from tests.web.looking import PHONE, accessible, fits, opened, shot
from tests.web.served import Served, served

PAGE = {"accept": "text/html"}


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """A hall of this module's own: it is steered."""
    path = tmp_path_factory.mktemp("hall") / "fleet.db"
    with Store.create(f"sqlite:///{path}") as store:
        yield made(store)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state of the service."""
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def site(hall: Hall, folder: Path) -> Iterator[Served]:
    """That hall, served."""
    with served(hall.store, hall.fleet, folder) as found:
        yield found


def begun(hall: Hall, stage: Stage = Stage.HEALTH_PASSIVE, *, batch: str = "", at: float = NOW - 40) -> Run:
    """Open a run on a node that has none, and return it."""
    busy = {run.node for run in hall.store.open_runs()}
    name = next(each for each in hall.in_state(State.PRODUCTION) if each not in busy)
    opening = OpenRun(stage, "the sweep of every five minutes", batch=batch or f"b-{name}-{stage}")
    (run,) = hall.store.apply(node(hall.store, name), Decision((opening,), "", NOW), at)
    return run


def test_what_runs_and_what_is_over_is_listed(site: Served, hall: Hall) -> None:
    with site.client(Role.VIEWER) as client:
        text = client.get("/runs", headers=PAGE).text
        assert "3 of 6 tasks" in text
        assert "every link is as designed" in text
        assert "Pause the queue" not in text
        cut = client.get("/runs", params={"stage": "cabling", "outcome": "passed"}, headers=PAGE).text
        assert "every link is as designed" in cut
        none = client.get("/runs", params={"outcome": "lost", "node": HOSTILE}, headers=PAGE).text
        assert "No such run has ended" in none
        assert "<script>alert" not in none
        assert client.get("/runs", params={"stage": HOSTILE}, headers=PAGE).status_code == 400


def test_who_stands_in_line_is_named_beside_what_runs(site: Served, hall: Hall) -> None:
    """A line has no batch yet."""
    waits = f"waits: 8 plays run, {NO_ROOM}"
    names = sorted(hall.in_state(State.PRODUCTION))[-4:]
    for name in names:
        hall.store.apply(node(hall.store, name), Decision((), waits, NOW + 900.0), NOW)
    with site.client() as client:
        text = " ".join(re.sub("<[^>]*>", "", client.get("/runs", headers=PAGE).text).split())
        assert f"In line: {', '.join(names[:3])} and 1 more, 8 plays run, as many as may at once" in text
    for name in names:
        hall.store.apply(node(hall.store, name), Decision((), "", NOW + 900.0), NOW)


@pytest.mark.parametrize("number", ["0", "-1", "999999", str(2**63), "9" * 400])
def test_a_run_that_is_not_there_is_said_so(site: Served, number: str) -> None:
    with site.client() as client:
        for path in (f"/runs/{number}", f"/runs/{number}/events", f"/runs/{number}/stop"):
            assert client.get(path, headers=PAGE).status_code in {404, 422}


def test_what_a_play_says_reaches_no_page_unescaped(site: Served, hall: Hall, folder: Path) -> None:
    run = begun(hall, batch="hostile")
    task = f"fleet_collect : {HOSTILE}"
    bad = Judged(run.node, NOW - 5, Result("kernel_log", Verdict.FAIL, f"it says {HOSTILE}"))
    hall.store.ingest("hostile", 0, 10, (Progress(run.node, NOW - 5, 1, 3, task), bad))
    log = folder / "batches" / "hostile" / "log"
    log.parent.mkdir(parents=True)
    log.write_text(f"ok: [{run.node}] {HOSTILE}\npassword: hunter22\n\x1b[31mred\n")
    with site.client() as client:
        for path in (f"/runs/{run.id}", "/runs"):
            text = client.get(path, headers=PAGE).text
            assert "<script>alert" not in text
            assert "\u202e" not in text
        text = client.get(f"/runs/{run.id}", headers=PAGE).text
        assert "&lt;script&gt;" in text
        assert "hunter22" not in text
        assert "\x1b" not in text
    hall.store.close_run(run, Outcome.FAILED, HOSTILE, NOW)
    with site.client() as client:
        assert "<script>alert" not in client.get(f"/runs/{run.id}", headers=PAGE).text


def test_a_long_log_is_cut_at_its_beginning_and_one_that_is_gone_is_said_so(
    site: Served, hall: Hall, folder: Path
) -> None:
    run = begun(hall, batch="long")
    log = folder / "batches" / "long" / "log"
    log.parent.mkdir(parents=True)
    log.write_text("".join(f"line {number:08d} of the play\n" for number in range(40_000)))
    with site.client() as client:
        answer = client.get(f"/runs/{run.id}", headers=PAGE)
        assert "line 00039999" in answer.text
        assert "line 00000001" not in answer.text
        assert "bytes before that are left out" in answer.text
        assert len(answer.text) < 250_000
        log.unlink()
        hall.store.close_run(run, Outcome.PASSED, "well", NOW)
        assert "It is not on this machine" in client.get(f"/runs/{run.id}", headers=PAGE).text


def test_only_operators_steer(site: Served, hall: Hall) -> None:
    run = begun(hall, batch="steered")
    for role in (Role.VIEWER, Role.TECHNICIAN):
        with site.client(role) as client:
            assert client.get(f"/runs/{run.id}/stop").status_code == 403
            assert client.post(f"/runs/{run.id}/stop", data={"reason": "x"}).status_code == 403
            assert client.post("/runs/queue/pause", data={"reason": "x"}).status_code == 403
    with site.client(Role.TENANT, "Acme") as client:
        for path in ("/runs", f"/runs/{run.id}", "/runs/events", f"/runs/{run.id}/events"):
            assert client.get(path).status_code == 403
    assert hall.store.queue_paused() is None
    hall.store.close_run(run, Outcome.PASSED, "", NOW)


def test_the_queue_is_paused_with_a_reason_and_resumed(site: Served, hall: Hall) -> None:
    with site.browser_client() as client:
        form = client.get("/runs/queue").text
        csrf = form.partition('name="csrf" value="')[2].partition('"')[0]
        assert client.post("/runs/queue/pause", data={"reason": "x"}).status_code == 403
        assert client.post("/runs/queue/pause", data={"reason": " ", "csrf": csrf}).status_code == 400
        asked = client.post("/runs/queue/pause", data={"reason": f"a move {HOSTILE}", "csrf": csrf})
        assert asked.status_code == httpx.codes.SEE_OTHER
        paused = hall.store.queue_paused()
        assert paused is not None
        assert paused.by == "operator"
        text = client.get("/runs").text
        assert "a move &lt;script&gt;" in text
        client.post("/runs/queue/resume", data={"csrf": csrf})
        assert hall.store.queue_paused() is None


def test_a_run_that_is_over_is_not_cancelled(site: Served, hall: Hall) -> None:
    run = begun(hall, batch="ended")
    hall.store.close_run(run, Outcome.PASSED, "", NOW)
    with site.client() as client:
        assert "has ended" in client.get(f"/runs/{run.id}/stop", headers=PAGE).text
        assert client.post(f"/runs/{run.id}/stop", data={"reason": "x"}).status_code == 409


def test_progress_is_seen_as_it_happens(site: Served, hall: Hall, browser: Browser) -> None:
    run = begun(hall, batch="watched")
    with opened(browser, site) as page:
        page.goto(f"{site.url}/runs/{run.id}")
        expect(page.locator("#one")).to_contain_text("its play has not reported yet")
        page.evaluate("window.same = true")
        hall.store.ingest("watched", 0, 10, (Progress(run.node, NOW, 1, 4, "fleet_collect : Read"),))
        expect(page.locator("#one progress")).to_have_attribute("value", "1")
        found = Judged(run.node, NOW, Result("time_sync", Verdict.PASS, "the clock follows ntp-1"))
        hall.store.ingest("watched", 10, 20, (Progress(run.node, NOW, 3, 4, "fleet_check : Judge"), found))
        expect(page.locator("#one progress")).to_have_attribute("value", "3")
        expect(page.locator("#one")).to_contain_text("the clock follows ntp-1")
        accessible(page)
        fits(page)
        shot(page, "run")
        hall.store.close_run(run, Outcome.PASSED, "1 check passed", NOW)
        expect(page.get_by_text("Ended")).to_be_visible()
        expect(page.get_by_text("Cancel this run")).to_have_count(0)
        assert page.evaluate("window.same")


def test_a_window_that_nobody_looks_at_holds_no_stream(site: Served, hall: Hall, browser: Browser) -> None:
    """A browser has six connections for all of its windows."""
    run = begun(hall, batch="hidden")
    hide = """hidden => {
        Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    streams = site.site.live.streams
    until(lambda: streams.total() == 0)  # those of pages that were just closed
    with opened(browser, site) as page:
        page.goto(f"{site.url}/runs/{run.id}")
        until(lambda: streams.total() == 1)
        page.evaluate(hide, arg=True)
        until(lambda: streams.total() == 0)
        hall.store.ingest("hidden", 0, 10, (Progress(run.node, NOW, 3, 4, "fleet_collect : Read"),))
        page.evaluate(hide, arg=False)
        expect(page.locator("#one progress")).to_have_attribute("value", "3")
        until(lambda: streams.total() == 1)
    hall.store.close_run(run, Outcome.PASSED, "", NOW)


def test_runs_read_well_everywhere(site: Served, hall: Hall, browser: Browser) -> None:
    run = begun(hall, Stage.CABLING, batch="seen")
    hall.store.ingest("seen", 0, 10, (Progress(run.node, NOW, 2, 9, "cabling : " + "a-very-long-name-" * 20),))
    for name, size, dark in (("desktop", (1280, 800), False), ("dark", (1280, 800), True), ("phone", PHONE, False)):
        with opened(browser, site, size=size, dark=dark) as page:
            for path, kind in (("/runs", "runs"), (f"/runs/{run.id}", "run"), (f"/runs/{run.id}/stop", "run-stop")):
                page.goto(f"{site.url}{path}")
                if dark or kind == "run-stop":  # colours are harder at night
                    accessible(page)
                fits(page)
                shot(page, f"{kind}-{name}")
    with opened(browser, site) as page:
        page.goto(f"{site.url}/runs")
        hall.store.ingest("seen", 10, 20, (Progress(run.node, NOW, 7, 9, "cabling : Judge"),))
        expect(page.locator("#now")).to_contain_text("7 of 9 tasks")
    hall.store.close_run(run, Outcome.PASSED, "", NOW)


def test_a_run_is_cancelled_with_the_keyboard_alone(site: Served, hall: Hall, browser: Browser) -> None:
    run = begun(hall, batch="cancelled")
    with opened(browser, site) as page:
        page.goto(f"{site.url}/runs/{run.id}")
        page.get_by_role("link", name="Cancel this run").focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/stop")
        page.keyboard.type("it hangs")
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/runs/{run.id}")
    hall.store.close_run(run, Outcome.CANCELLED, "", NOW)


def test_past_runs_are_paged_by_id(site: Served, hall: Hall) -> None:
    name = hall.in_state(State.TRIAGE)[0]
    for number in range(205):
        opening = OpenRun(Stage.DRAIN, "paged", batch=f"paged-{number}")
        (run,) = hall.store.apply(node(hall.store, name), Decision((opening,), "", NOW), NOW - 900 + number)
        hall.store.close_run(run, Outcome.PASSED, f"number {number}", NOW - 899 + number)
    with site.client() as client:
        first = client.get("/runs", params={"node": name, "stage": "drain"}, headers=PAGE)
        assert "number 204" in first.text
        assert "number 4<" not in first.text
        below = first.text.partition("below=")[2].partition('"')[0]
        older = client.get("/runs", params={"node": name, "stage": "drain", "below": below}, headers=PAGE)
        assert "number 4<" in older.text
        assert "There are no older ones" in older.text
