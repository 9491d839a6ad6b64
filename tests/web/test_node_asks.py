"""Asking a node for something in a page, answered by a real reconciler beside it, by keyboard alone."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Self

import pytest
from playwright.sync_api import Browser, Page, expect

from fleet_runner.adapters.store import Store
from fleet_runner.core.access.roles import Role
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Condition, State
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from tests.reconcile.scripted import Scripted, all_good
from tests.waiting import PATIENCE, until
from tests.web.hall import NOW, Hall, made, node
from tests.web.looking import PHONE, accessible, fits, opened
from tests.web.served import Served, served

ONBOARD, SERVING, SECOND = "gpu-00001", "gpu-00002", "gpu-00003"
STATES = (State.ONBOARD, State.PRODUCTION, State.ONBOARD, State.TRIAGE)


class Reconciler:
    """A thread that ticks on a store while it is not paused; every tick is five seconds after the one before."""

    def __init__(self, world: TickContext) -> None:
        self._world = world
        self._over = Event()
        self.going = Event()
        self._thread = Thread(target=self._tick)
        self.trouble: list[BaseException] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.going.set()
        self._thread.join(PATIENCE)
        assert not self.trouble, self.trouble

    def _tick(self) -> None:
        now = NOW
        try:
            while self.going.wait() and not self._over.wait(0.2):
                now += 5.0
                tick(self._world, now)
        except BaseException as error:  # noqa: BLE001  the test that waits says what it was
            self.trouble.append(error)


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """A hall of four nodes."""
    path = tmp_path_factory.mktemp("small") / "fleet.db"
    with Store.create(f"sqlite:///{path}") as store:
        yield made(store, len(STATES), STATES)


@pytest.fixture(scope="module")
def site(hall: Hall, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """That hall, served."""
    with served(hall.store, hall.fleet, tmp_path_factory.mktemp("state")) as found:
        yield found


@pytest.fixture
def reconciler(site: Served, hall: Hall, tmp_path: Path) -> Iterator[Reconciler]:
    """A reconciler on that store, which waits until a test has it begin."""
    settings = site.site.settings.model_copy(update={"state_dir": tmp_path})
    with Reconciler(TickContext(settings, hall.store, lambda: hall.fleet, Scripted(all_good))) as found:
        yield found


def tabbed_to(page: Page, words: str) -> None:
    """Go on with the Tab key until something with these words has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if str(page.evaluate("document.activeElement.textContent")).strip() == words:
            return
    raise AssertionError(f"no Tab leads to {words!r}")


def test_a_technician_certifies_by_keyboard_and_sees_the_answer(
    site: Served, hall: Hall, browser: Browser, reconciler: Reconciler
) -> None:
    with opened(browser, site, Role.TECHNICIAN, size=PHONE) as page:
        page.goto(f"{site.url}/nodes/{ONBOARD}")
        tabbed_to(page, "")  # the reason, which is empty
        page.focus("#reason")
        page.keyboard.type("all plugs are in")
        tabbed_to(page, "Certify")
        page.keyboard.press("Enter")
        expect(page.locator("#asked")).to_contain_text("certify by technician")
        expect(page.locator("#asked")).to_contain_text("not answered yet. Because: all plugs are in")
        accessible(page)
        fits(page)
        page.evaluate("window.mark = 1")
        reconciler.going.set()
        expect(page.locator("#asked")).to_contain_text("A technician certified it as built")
        expect(page.locator("#head .state")).not_to_have_text("onboard")
        expect(page.locator("#actions")).not_to_contain_text("Certify")
        assert page.evaluate("window.mark") == 1  # the page was not loaded anew
        accessible(page)
    moves = hall.store.history(ONBOARD, kind="transition")
    assert State.VERIFY in {move.to for move in moves}


def test_an_operator_holds_and_releases_a_node(
    site: Served, hall: Hall, browser: Browser, reconciler: Reconciler
) -> None:
    reconciler.going.set()
    with opened(browser, site) as page:
        page.goto(f"{site.url}/nodes/{SERVING}")
        tabbed_to(page, "Hold")
        page.keyboard.press("Enter")
        expect(page.locator("#asked")).to_contain_text("hold, asked by operator: yes")
        expect(page.locator("#head")).to_contain_text("held")
        assert Condition.HELD in node(hall.store, SERVING).conditions
        accessible(page)
        page.get_by_role("button", name="Release").click()
        expect(page.locator("#asked")).to_contain_text("Released: automation continues.")
    assert Condition.HELD not in node(hall.store, SERVING).conditions


def test_what_is_refused_says_why(site: Served, hall: Hall, browser: Browser, reconciler: Reconciler) -> None:
    with opened(browser, site) as page:
        page.goto(f"{site.url}/nodes/{SECOND}/requests/certify")
        # Between the page and the answer somebody else holds it.
        hall.store.leave_intent(SECOND, IntentKind.HOLD, "bob", now=NOW)
        tabbed_to(page, f"Certify {SECOND}")
        page.keyboard.press("Enter")
        reconciler.going.set()
        expect(page.locator("#asked .note.bad")).to_contain_text("The node is held; release it")


def test_what_costs_something_is_asked_for_on_its_own_page(
    site: Served, hall: Hall, browser: Browser, reconciler: Reconciler
) -> None:
    name = hall.in_state(State.TRIAGE)[0]
    reconciler.going.set()
    with opened(browser, site) as page:
        page.goto(f"{site.url}/nodes/{name}")
        tabbed_to(page, "Retire…")
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_contain_text(f"Retire {name}?")
        tabbed_to(page, f"Retire {name}")
        page.keyboard.press("Enter")
        expect(page.locator("#asked")).to_contain_text("retire, asked by operator: yes")
        expect(page.locator("#actions")).to_contain_text("takes no requests")
    assert node(hall.store, name).state is State.RETIRED


def test_without_scripts_the_answer_comes_with_the_next_load(
    site: Served, hall: Hall, reconciler: Reconciler
) -> None:
    with site.browser_client() as client:
        token = client.get(f"/nodes/{SERVING}").text.partition('name="csrf" value="')[2].partition('"')[0]
        asked = {"kind": "run", "stage": "cabling", "csrf": token}
        answer = client.post(f"/nodes/{SERVING}/requests", data=asked)
        assert answer.status_code == 303
        path = answer.headers["location"]
        assert "not answered yet" in client.get(path).text
        part = client.get(path, headers={"hx-request": "true"}).text
        assert "not answered yet" in part
        assert "Timeline" not in part  # who asks every two seconds is given no whole page
        reconciler.going.set()
        number = int(path.partition("?asked=")[2])
        until(lambda: hall.store.answer(number) is not None)
        assert "cabling starts." in client.get(path).text
        assert "cabling starts." not in client.get(f"/nodes/{SECOND}?asked={number}").text  # it is another's
