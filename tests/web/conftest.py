"""A hall that is served once for each module, and a browser that opens its pages."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from fleet_runner.adapters.store import Store
from tests.waiting import PATIENCE
from tests.web.hall import Hall, made
from tests.web.served import Served, served

expect.set_options(timeout=PATIENCE * 1000)  # instead of five seconds, which a busy computer may need for a page

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """A store with 32 nodes in every state."""
    path = tmp_path_factory.mktemp("hall") / "fleet.db"
    with Store.create(f"sqlite:///{path}") as store:
        yield made(store)


@pytest.fixture(scope="module")
def site(hall: Hall, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """That hall, served."""
    folder: Path = tmp_path_factory.mktemp("state")
    with served(hall.store, hall.fleet, folder) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, without a screen.

    It ends with its module: Playwright's event loop counts as running meanwhile, and no other can run beside it.
    """
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("chromium is not installed; scripts/debian-packages names it")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        yield running
        running.close()
