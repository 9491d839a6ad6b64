"""Photos of a ticket: what is taken, what is kept of it, and who sees it."""

import asyncio
import struct
import zlib
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from socket import create_connection
from time import time

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from fleet_runner.adapters.store.tickets import photos as kept
from fleet_runner.core.access.roles import Role
from fleet_runner.core.lifecycle.actions import OpenTicket
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.tickets.photos import MOST, MOST_BYTES, picture
from fleet_runner.web.pages import photos
from tests.core.tickets.test_photos import LONGEST, PLACE, PLAIN, SCAN, START, frame
from tests.waiting import PATIENCE
from tests.web.hall import NOW, Hall, act
from tests.web.looking import PHONE, accessible, fits, opened, shot
from tests.web.served import Served

KEEP = ("operator", "technician")


@pytest.fixture
def number(hall: Hall, request: pytest.FixtureRequest) -> int:
    """An open ticket of the test's own."""
    name, fault = hall.in_state(State.DEBUG)[0], f"photos/{request.node.name}"
    opened = OpenTicket(fault, "parts_gpu", "GPU 2 is missing", "1. Pull GPU 2.", (name,), "TRIAGE")
    act(hall.store, name, opened, at=NOW - 60)
    (found,) = (ticket.id for ticket in hall.store.tickets() if ticket.fault == fault)
    return found


def drawing(path: Path, wide: int = 2_000, high: int = 1_000) -> Path:
    """A picture as PNG, with a place in its text, that a browser can read."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    head = struct.pack(">IIBBBBB", wide, high, 8, 2, 0, 0, 0)
    rows = (b"\0" + b"\xc0\x40\x20" * wide) * high
    parts = (chunk(b"IHDR", head), chunk(b"tEXt", b"GPS\0N51.5W0"), chunk(b"IDAT", zlib.compress(rows)))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts) + chunk(b"IEND", b""))
    return path


def sent(client: httpx.Client, number: int, body: bytes) -> httpx.Response:
    return client.post(f"/tickets/{number}/photos", content=body, headers={"content-type": "image/jpeg"})


def test_a_photo_is_shown_to_those_who_mend_and_to_nobody_else(site: Served, hall: Hall, number: int) -> None:
    with site.client(Role.TECHNICIAN) as client:
        assert sent(client, number, START + PLACE + PLAIN[2:]).json() == {
            "sentence": f"Ticket {number}: your photo is there."
        }
        assert sent(client, number, PLAIN).status_code == 200, "the same once more is one"
    (photo,) = hall.store.photos(number)
    assert (photo.digest, photo.by) == (sha256(PLAIN).hexdigest(), "technician"), "without its place"
    url = f"/tickets/{number}/photos/{photo.digest}.jpg"
    for role in KEEP:
        with site.client(role) as client:
            answer = client.get(url)
            assert answer.content == PLAIN
            assert answer.headers["content-type"] == "image/jpeg"
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
            assert answer.headers["cache-control"] == "no-store"
            assert url in client.get(f"/tickets/{number}").text
            assert client.get(url.replace(photo.digest, "0" * 64)).status_code == 404
            assert client.get(f"/tickets/{number + 1}/photos/{photo.digest}.jpg").status_code == 404
    for role, tenant in ((Role.VIEWER, ""), (Role.TENANT, "Acme"), (None, "")):
        with site.client(role, tenant) as client:
            assert client.get(url).status_code == (401 if role is None else 403)
            assert sent(client, number, PLAIN).status_code == (401 if role is None else 403)
            assert photo.digest not in client.get(f"/tickets/{number}").text or role is Role.VIEWER
    with site.client(Role.VIEWER) as client:
        assert url not in client.get(f"/tickets/{number}").text


def test_the_audit_log_has_its_hash(site: Served, number: int) -> None:
    body = START + frame(8, 8) + SCAN + b"\xff\xd9"
    with site.client(Role.TECHNICIAN) as client:
        assert sent(client, number, body).status_code == 200
    with site.client(Role.OPERATOR) as client:
        text = client.get("/audit").text
    assert f"photo, SHA-256 {sha256(body).hexdigest()}" in text


@pytest.mark.parametrize(("body", "status"), [
    (b"<html><script>alert(1)</script></html>", 400),
    (b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>', 400),
    (b"\x89PNG\r\n\x1a\n", 400), (PLAIN[:-30], 400), (b"", 400),
    (START + frame(65_535, 65_535) + SCAN + b"\xff\xd9", 400),
    (START + frame(LONGEST + 1, 1) + SCAN + b"\xff\xd9", 400), (PLAIN + bytes(MOST_BYTES), 413),
], ids=range(8))  # fmt: skip
def test_what_is_no_photo_is_not_kept(site: Served, hall: Hall, number: int, body: bytes, status: int) -> None:
    before = hall.store.photos(number)
    with site.client(Role.TECHNICIAN) as client:
        assert sent(client, number, body).status_code == status
    assert hall.store.photos(number) == before


CHUNK = b"8000\r\n" + bytes(0x8000) + b"\r\n"


@pytest.mark.parametrize("long", [b"content-length: 50000000", b"transfer-encoding: chunked"])
@pytest.mark.parametrize("role", [None, Role.VIEWER, Role.TECHNICIAN])
def test_fifty_megabytes_are_not_read_whoever_sends_them(
    site: Served, hall: Hall, number: int, role: Role | None, long: bytes
) -> None:
    shown = f"authorization: Bearer {site.token(role)}\r\n" if role else ""
    head = f"POST /tickets/{number}/photos HTTP/1.1\r\nhost: here\r\n{shown}".encode()
    with create_connection(("127.0.0.1", httpx.URL(site.url).port or 0), timeout=PATIENCE) as line:
        line.sendall(head + long + b"\r\n\r\n")
        if b"chunked" in long and role is Role.TECHNICIAN:
            line.sendall(CHUNK * 65)  # 2 MiB and one more
        answer = line.recv(1_000)
        assert answer.split()[1] == {None: b"401", Role.VIEWER: b"403", Role.TECHNICIAN: b"413"}[role]
        with suppress(ConnectionError):
            for _ in range(1_500):
                line.sendall(CHUNK)
            pytest.fail("somebody reads all of it")
    assert hall.store.photos(number) == ()


def test_a_form_of_another_site_sends_no_photo(site: Served, number: int) -> None:
    with site.browser_client(Role.TECHNICIAN) as client:
        assert sent(client, number, PLAIN).status_code == 403
        form = {"content-type": "application/x-www-form-urlencoded"}
        assert client.post(f"/tickets/{number}/photos", content=b"csrf=x", headers=form).status_code == 403


def test_while_a_photo_is_looked_at_others_are_answered(
    site: Served, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_loop: list[bool] = []

    def looked(body: bytes) -> bytes:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            on_loop.append(False)
        else:
            on_loop.append(True)
        return picture(body)

    monkeypatch.setattr(photos, "picture", looked)
    with site.client(Role.TECHNICIAN) as client:
        assert sent(client, number, PLAIN).status_code == 200
    assert on_loop == [False], "a hostile one takes half a second"


def test_where_all_photos_are_too_much_it_is_sent_later(
    site: Served, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "ALL_BYTES", 1)
    with site.client(Role.TECHNICIAN) as client:
        assert sent(client, number, PLAIN).status_code == 503, "which the phone takes for a reason to keep it"


def test_there_are_so_many_of_a_ticket(site: Served, number: int) -> None:
    with site.client(Role.TECHNICIAN) as client:
        said = [
            sent(client, number, START + frame(8, wide) + SCAN + b"\xff\xd9").status_code for wide in range(1, 23)
        ]
        assert (said[:20], said[20:]) == ([200] * 20, [409] * 2)
        assert sent(client, 2**31 - 1, PLAIN).status_code == 404


def technician(browser: Browser, site: Served) -> Page:
    context = browser.new_context(viewport={"width": PHONE[0], "height": PHONE[1]})
    context.request.post(f"{site.url}/login", form={"token": site.token(Role.TECHNICIAN)}, max_redirects=0)
    return context.new_page()


def test_a_photo_without_a_connection_is_sent_once_there_is_one_small_and_without_its_place(
    browser: Browser, site: Served, hall: Hall, number: int, tmp_path: Path
) -> None:
    page = technician(browser, site)
    page.goto(f"{site.url}/tickets/{number}")
    expect(page.locator("[data-kept]")).to_be_attached()
    page.context.set_offline(True)
    page.goto(f"{site.url}/tickets/{number}")
    page.set_input_files("#another", drawing(tmp_path / "photo.png"))
    page.get_by_role("button", name="Send the photo").click()
    expect(page.locator("#reports")).to_contain_text(f"Not sent yet: a photo, of ticket {number}.")
    assert hall.store.photos(number) == ()
    page.context.set_offline(False)
    expect(page.locator("#reports")).to_contain_text("your photo is there")
    page.reload()
    (photo,) = hall.store.photos(number)
    found = page.locator(f"img[src*='{photo.digest}']")
    found.scroll_into_view_if_needed()
    expect(found).to_have_js_property("naturalWidth", 1_600)
    body = hall.store.photo(number, photo.digest) or b""
    assert body.startswith(b"\xff\xd8")
    assert b"GPS" not in body
    page.context.close()


def test_a_photo_goes_with_the_report_and_what_is_none_is_told_at_once(
    browser: Browser, site: Served, hall: Hall, number: int, tmp_path: Path
) -> None:
    page = technician(browser, site)
    page.goto(f"{site.url}/tickets/{number}")
    (tmp_path / "page.jpg").write_text("<html><script>alert(1)</script></html>")
    page.set_input_files("#taken", tmp_path / "page.jpg")
    expect(page.get_by_text("This is no photo that this browser can read")).to_be_visible()
    page.set_input_files("#taken", drawing(tmp_path / "photo.png", 40, 30))
    page.fill("#did", "a new GPU")
    page.get_by_role("button", name="Done: check it now").click()
    page.wait_for_url(f"**/tickets/{number}*")
    expect(page.locator(".photos img")).to_have_count(1)
    said = [each.sentence for each in hall.store.ticket_changes(number)]
    assert ["a new GPU" in each for each in said].count(True) == 1
    assert ["A photo is on" in each for each in said].count(True) == 1
    page.context.close()


def test_a_photo_that_does_not_get_through_keeps_no_report_waiting(
    browser: Browser, site: Served, hall: Hall, number: int, tmp_path: Path
) -> None:
    page = technician(browser, site)
    page.goto(f"{site.url}/tickets/{number}")
    expect(page.locator("[data-kept]")).to_be_attached()
    page.route("**/photos", lambda route: route.abort())
    page.set_input_files("#another", drawing(tmp_path / "photo.png", 40, 30))
    page.get_by_role("button", name="Send the photo").click()
    expect(page.locator("#reports")).to_contain_text(f"Not sent yet: a photo, of ticket {number}.")
    page.clock.set_fixed_time(time() + 60)  # the report is the later one
    page.fill("#did", "a new GPU")
    page.get_by_role("button", name="Done: check it now").click()
    expect(page.locator("#reports")).to_contain_text(f"Ticket {number} is reported as done.")
    expect(page.locator("#reports")).to_contain_text(f"Not sent yet: a photo, of ticket {number}.")
    assert any("a new GPU" in each.sentence for each in hall.store.ticket_changes(number))
    page.context.close()


def test_why_a_photo_is_refused_is_shown_until_somebody_forgets_it(
    browser: Browser, site: Served, hall: Hall, number: int, tmp_path: Path
) -> None:
    for wide in range(MOST):
        hall.store.add_photo(number, bytes([wide]), "ann", 1.0)
    page = technician(browser, site)
    page.goto(f"{site.url}/tickets/{number}")
    page.set_input_files("#another", drawing(tmp_path / "photo.png", 40, 30))
    page.get_by_role("button", name="Send the photo").click()
    expect(page.locator("#reports")).to_contain_text(
        f'the server refuses your photo (409). It says: "ticket {number} has {MOST} photos'
    )
    expect(page.locator("#reports")).not_to_contain_text("Say it on a ticket")
    page.get_by_role("button", name="Forget it").click()
    expect(page.locator("#reports")).to_be_empty()
    page.context.close()


def test_where_a_browser_has_no_room_left_pages_are_shown_all_the_same(
    browser: Browser, site: Served, hall: Hall, number: int
) -> None:
    page = technician(browser, site)
    page.goto(f"{site.url}/tickets/{number}")
    expect(page.locator("[data-kept]")).to_be_attached()
    (worker,) = page.context.service_workers
    worker.evaluate(
        "() => { Cache.prototype.put = async () => { throw new DOMException('', 'QuotaExceededError'); }; }"
    )
    other = next(ticket for ticket in hall.store.tickets() if ticket.id != number)
    page.goto(f"{site.url}/tickets/{other.id}")
    expect(page.locator("h1")).to_contain_text(str(other.id))
    page.context.close()


@pytest.mark.parametrize(
    ("size", "dark"), [(PHONE, False), ((768, 1024), True), ((1440, 900), False), ((2560, 1440), True)]
)
def test_a_ticket_with_photos_reads_well(
    browser: Browser, site: Served, hall: Hall, number: int, size: tuple[int, int], *, dark: bool
) -> None:
    hall.store.add_photo(number, PLAIN, "ann", 1.0)
    with opened(browser, site, Role.TECHNICIAN, size=size, dark=dark) as page:
        page.goto(f"{site.url}/tickets/{number}")
        expect(page.get_by_role("button", name="Send the photo")).to_be_visible()
        accessible(page)
        fits(page)
        shot(page, f"photos-{size[0]}-{dark}")
