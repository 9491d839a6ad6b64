"""Logging in, logging out, and what nobody and somebody of another site may not."""

import httpx
from playwright.sync_api import Browser

from fleet_runner.core.access.roles import Role
from tests.waiting import PATIENCE
from tests.web.looking import PHONE, accessible, fits, opened, shot, typed_in
from tests.web.served import Served


def test_whoever_has_not_logged_in_is_led_there_and_back(site: Served) -> None:
    with httpx.Client(base_url=site.url, headers={"accept": "text/html"}, timeout=PATIENCE) as client:
        answer = client.get("/")
        assert (answer.status_code, answer.headers["location"]) == (303, "/login")
        asked = client.post("/login", data={"token": site.token(Role.VIEWER), "next": "/login?x"})
        assert (asked.status_code, asked.headers["location"]) == (303, "/login?x")


def test_nobody_is_led_elsewhere_after_logging_in(site: Served) -> None:
    for to in ("//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)"):
        with httpx.Client(base_url=site.url, timeout=PATIENCE) as client:
            answer = client.post("/login", data={"token": site.token(Role.VIEWER), "next": to})
            assert answer.headers["location"] == "/fleet"


def test_a_token_that_is_not_good_begins_no_session(site: Served) -> None:
    with httpx.Client(base_url=site.url, timeout=PATIENCE) as client:
        answer = client.post("/login", data={"token": "frs_nonsense"})
        assert answer.status_code == 401
        assert "does not open pages" in answer.text
        assert not client.cookies


def test_another_sites_form_is_refused(site: Served) -> None:
    with site.browser_client() as client:
        assert client.post("/logout").status_code == 403
        assert client.post("/logout", headers={"origin": "https://evil.example"}).status_code == 403
        assert client.get("/").status_code == 303


def test_the_login_page_reads_well_on_a_phone(site: Served, browser: Browser) -> None:
    with opened(browser, site, size=PHONE) as page:
        typed_in(page, site)
        page.goto(f"{site.url}/login")
        accessible(page)
        fits(page)
        shot(page, "login-phone")
