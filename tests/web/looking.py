"""A page in a browser, as somebody sees it: no error on its console, nothing that axe-core finds, at two widths."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from fleet_runner.core.access.roles import Role
from tests.waiting import PATIENCE
from tests.web.served import Served

DESKTOP, PHONE = (1280, 800), (390, 844)

SHOTS = "FLEET_SHOTS"
"""Names a folder that pictures of the pages are kept in, for somebody to look at."""


@contextmanager
def opened(
    browser: Browser,
    site: Served,
    role: Role | str = Role.OPERATOR,
    tenant: str = "",
    *,
    size: tuple[int, int] = DESKTOP,
    dark: bool = False,
) -> Iterator[Page]:
    """Give a page of somebody who has logged in, blank as yet; at its end nothing has gone wrong on its console.

    The session comes by a request; `typed_in` fills in the form, where logging in is what is tested.
    """
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme="dark" if dark else "light"
    )
    context.set_default_timeout(PATIENCE * 1000)
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    try:
        said = context.request.post(f"{site.url}/login", form={"token": site.token(role, tenant)}, max_redirects=0)
        assert said.status == HTTPStatus.SEE_OTHER, said.text()
        yield page
        assert not wrong, wrong
    finally:
        context.close()


def typed_in(page: Page, site: Served, role: Role | str = Role.OPERATOR, tenant: str = "") -> None:
    """Log in by the form, with the keyboard."""
    page.goto(f"{site.url}/login")
    page.fill("#token", site.token(role, tenant))
    page.press("#token", "Enter")
    page.wait_for_url(lambda url: "/login" not in url)


def accessible(page: Page) -> None:
    """Hold a page against axe-core's rules."""
    found = Axe().run(page)
    assert not found.violations_count, found.generate_report()


def fits(page: Page) -> None:
    """Hold that nobody has to move a page sideways."""
    wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wider <= 0, f"{page.url} is {wider} px wider than its window"


def shot(page: Page, name: str) -> None:
    """Keep a picture of the whole page, where somebody wants to look at it."""
    folder = os.environ.get(SHOTS)
    if folder:
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=True)
