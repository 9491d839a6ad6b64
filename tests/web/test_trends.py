"""The pages of trends: who may, what is shown where nothing is known, hostile words, and how they look."""

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser

from fleet_runner.adapters.store import Store
from fleet_runner.core.access import Role
from tests.web.foreseen import METRIC, foreseen
from tests.web.hall import Hall, made
from tests.web.looking import DESKTOP, PHONE, accessible, fits, opened, shot
from tests.web.served import Served

PAGE = {"accept": "text/html"}
PATHS = (
    "/trends",
    f"/trends/metrics/{METRIC}",
    f"/trends/nodes/gpu-00001/metrics/{METRIC}",
    "/trends/checks",
    "/trends/lifetimes",
    "/nodes/gpu-00001",
)


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
        for at, path in enumerate(PATHS):
            page.goto(f"{site.url}{path}")
            shot(page, f"{at}-{look}")
            accessible(page)
            fits(page)
