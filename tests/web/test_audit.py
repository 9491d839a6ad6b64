"""The audit log: what is written around every request, what never is, and the page that shows it."""

import time
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Browser

from fleet_runner.adapters.store import Store
from fleet_runner.core.access.roles import AuditLine, Role
from fleet_runner.core.base.errors import StoreError
from tests.waiting import PATIENCE
from tests.web.hall import HOSTILE, NOW
from tests.web.looking import DESKTOP, PHONE, accessible, fits, opened, shot
from tests.web.served import Served


@pytest.fixture(autouse=True)
def _fresh(site: Served) -> None:
    """What one test asks is not held against the next: each looks from its own hour."""
    moved = site.site.steady() + 3_600.0
    site.site.steady = lambda: moved


def newest(site: Served, good: Callable[[AuditLine], bool]) -> AuditLine:
    """Return the newest line that is as expected: it is written behind the answer."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        for line in site.store.asked(limit=50):
            if good(line):
                return line
        time.sleep(0.02)
    raise AssertionError([(line.name, line.path, line.detail) for line in site.store.asked()])


def test_a_login_and_a_logout_are_written_and_no_token(site: Served) -> None:
    with site.browser_client(Role.TECHNICIAN) as client:
        line = newest(site, lambda each: each.detail == "logged in")
        assert (line.name, line.role, line.source) == ("technician", "technician", "127.0.0.1")
        assert (line.method, line.path, line.status, line.at) == ("POST", "/login", 303, NOW)
        token = client.get("/fleet").text.partition('name="csrf" value="')[2].partition('"')[0]
        client.post("/logout", data={"csrf": token})
        assert newest(site, lambda each: each.detail == "logged out").name == "technician"
    with httpx.Client(base_url=site.url, timeout=PATIENCE) as client:
        client.post("/login?secret=in-a-query", data={"token": "frs_mistyped"})
    refused = newest(site, lambda each: each.detail == "login refused: wrong token")
    assert (refused.name, refused.role, refused.status) == ("", "", 401)
    written = repr(site.store.asked())
    assert not any(secret in written for secret in ("frs_", "in-a-query", token))


def test_what_is_asked_and_what_is_refused_is_written(site: Served) -> None:
    with site.client(Role.VIEWER) as client:
        assert client.get("/audit").status_code == 403
        assert client.get("/fleet").status_code == 200
        client.post("/nowhere", content=b"a body")
    with site.client(Role.TECHNICIAN) as client:
        intent = {"kind": "hold", "reason": "a reason"}
        assert client.post("/api/v1/nodes/gpu-00001/requests", json=intent).status_code == 403
        assert client.post("/nodes/gpu-00001/requests", data=intent).status_code == 403
    for path in ("/api/v1/nodes/gpu-00001/requests", "/nodes/gpu-00001/requests"):
        find_intent = newest(site, lambda each: each.detail == "hold" and each.path == path)  # noqa: B023  called at once
        assert (find_intent.name, find_intent.status) == ("technician", 403)
    assert "a reason" not in repr(site.store.asked())
    line = newest(site, lambda each: each.path == "/nowhere")
    assert (line.method, line.status, line.detail) == ("POST", 404, "")
    assert newest(site, lambda each: each.path == "/audit").name == "viewer"
    assert not any(each.path == "/fleet" for each in site.store.asked() if each.method == "GET")


def test_who_hammers_gets_a_bounded_number_of_lines_and_is_counted(site: Served) -> None:
    before = len(site.store.asked(limit=1_000))
    with httpx.Client(base_url=site.url, timeout=PATIENCE) as client:
        for number in range(60):
            assert client.get(f"/api/v1/nodes?{number}").status_code == 401
        newest(site, lambda each: each.path == "/api/v1/nodes")
        assert len(site.store.asked(limit=1_000)) - before <= 31
        later = site.site.steady() + 3_600.0
        site.site.steady = lambda: later
        client.get("/fleet")
    assert "30 refusals before this one" in newest(site, lambda each: each.path == "/fleet").detail


def test_nobody_is_refused_because_it_cannot_be_written(site: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines wait for the store."""
    with monkeypatch.context() as broken, site.client(Role.VIEWER) as client:

        def fails(*_: object) -> None:
            raise StoreError("the disk is full")

        broken.setattr(Store, "note_asked", fails)
        assert client.get("/audit").status_code == 403
        assert client.post("/waits").status_code == 404
        assert client.post("/waits-too").status_code == 404
    with site.client(Role.VIEWER) as client:
        client.post("/written-again")
    newest(site, lambda each: each.path == "/written-again")
    newest(site, lambda each: each.path == "/waits")
    newest(site, lambda each: each.path == "/waits-too")


def test_when_a_token_was_used_is_written_once_a_minute(site: Served) -> None:
    with site.client(Role.OPERATOR) as client:
        client.get("/fleet")
        newest(site, lambda _: any(each.used_at == NOW for each in site.store.tokens() if each.name == "operator"))


def test_operators_alone_read_it_by_name_and_by_page(site: Served) -> None:
    lines = [
        AuditLine(NOW - 60, f"{HOSTILE}{number % 2}", "operator", "::1", "POST", f"/x/{HOSTILE}", 200, HOSTILE)
        for number in range(230)
    ]
    site.store.note_asked(lines, {})
    for role in (Role.VIEWER, Role.TECHNICIAN):
        with site.client(role) as client:
            assert client.get("/audit").status_code == 403
    with site.client(Role.OPERATOR) as client:
        first = client.get("/audit", params={"name": f"{HOSTILE}1"})
        assert first.text.count("<tr>") == 101
        assert "<script>alert" not in first.text
        assert "\u202e" not in first.text
        older = first.text.partition("before=")[2].partition('"')[0]
        second = client.get("/audit", params={"name": f"{HOSTILE}1", "before": older})
        assert second.text.count("<tr>") == 16
        assert "Older ones" not in second.text
        assert "has made no requests" in client.get("/audit", params={"name": "zoe"}).text
        for wrong in ({"before": "0"}, {"before": "x"}, {"before": str(2**64)}, {"name": "x" * 101}):
            assert client.get("/audit", params=wrong).status_code == 422, wrong


@pytest.mark.parametrize(("size", "dark"), [(DESKTOP, False), (PHONE, True)])
def test_it_reads_well(site: Served, browser: Browser, size: tuple[int, int], *, dark: bool) -> None:
    name = "dora" if dark else "alice"
    intent = AuditLine(NOW - 30, name, "operator", "192.0.2.7", "POST", "/nodes/gpu-00001/requests", 303, "hold")
    site.store.note_asked([intent], {})
    with opened(browser, site, size=size, dark=dark) as page:
        page.goto(f"{site.url}/audit")
        accessible(page)
        fits(page)
        shot(page, f"audit-{'phone' if size == PHONE else 'desktop'}")
        page.focus("#name")
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/audit?name={name}")
        assert page.locator("tbody tr").count() == 1
        assert "hold" in page.locator("tbody").inner_text()
