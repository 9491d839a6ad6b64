"""Pages on paper: dark on white, nothing that only a screen can do, and all that is folded away."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.hall import Hall
from tests.web.looking import opened, shot
from tests.web.served import Served

SHEET = (800, 1_100)


def shown_dark_on_white(page: Page) -> None:
    """Hold that paper is white, although its reader's screen is dark."""
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"


@pytest.mark.parametrize("path", ["/tickets/1", "/fleet", "/labels?node=gpu-00001"])
def test_a_page_is_a_sheet_of_paper(hall: Hall, site: Served, browser: Browser, path: str) -> None:
    assert hall.store.ticket(1) is not None
    with opened(browser, site, size=SHEET, dark=True) as page:
        page.goto(f"{site.url}{path}")
        expect(page.locator("header")).to_be_visible()
        expect(page.locator(".paper").first).to_be_hidden() if path != "/labels?node=gpu-00001" else None
        page.emulate_media(media="print")
        shown_dark_on_white(page)
        expect(page.locator("header")).to_be_hidden()
        for form in page.locator("form").all():
            expect(form).to_be_hidden()
        shot(page, f"paper-{path.split('/')[1][:6]}")
        if path == "/tickets/1":
            expect(page.get_by_text("Done by, when, and what was done:")).to_be_visible()
            expect(page.get_by_text("/tickets/1 of fleet-runner, as of")).to_be_visible()
            expect(page.get_by_role("heading", name="Comment")).to_be_hidden()
        if path.startswith("/labels"):
            assert page.locator(".paper").count() == 0


def test_what_is_folded_away_is_printed(site: Served, browser: Browser) -> None:
    with opened(browser, site, size=SHEET) as page:
        page.goto(f"{site.url}/fleet")
        table = page.locator(".days details table")
        expect(table).to_be_hidden()
        page.emulate_media(media="print")
        expect(table).to_be_visible()
