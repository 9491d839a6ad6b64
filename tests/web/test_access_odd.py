"""What is odd of a request is refused in order: encodings that are no text, and who fills the audit log."""

from pathlib import Path

import httpx
import pytest

from fleet_runner.core.access.roles import Role
from fleet_runner.services.http import protocol
from tests.waiting import PATIENCE
from tests.web.hall import Hall
from tests.web.served import Served, served
from tests.web.test_audit import newest

PART = b'--X\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n\\ud800\xff-+2AA-\r\n--X--\r\n'


@pytest.mark.parametrize("encoding", ["unicode_escape", "utf-7", "undefined", "punycode", "utf-8x", "*=utf-8''utf-7"])
def test_a_form_in_an_encoding_that_makes_no_text_is_refused(encoding: str, site: Served) -> None:
    kind = f"multipart/form-data; boundary=X; charset={encoding}".replace("=*", "*")
    with site.browser_client() as client:
        answer = client.post("/tickets/1/notes", content=PART, headers={"content-type": kind})
        assert answer.status_code == 415
        assert answer.headers["x-content-type-options"] == "nosniff"
        kind = 'multipart/form-data; charset="UTF-8"; boundary=X'
        assert client.post("/tickets/1/notes", content=PART, headers={"content-type": kind}).status_code == 403


def test_what_is_refused_before_any_page_is_written_with_its_status(site: Served) -> None:
    answer = httpx.post(f"{site.url}/odd%00", timeout=PATIENCE)
    assert (answer.status_code, answer.headers["x-content-type-options"]) == (400, "nosniff")
    assert newest(site, lambda each: each.path.startswith("/odd")).status == 400


def test_somebody_with_a_token_fills_no_log_with_what_comes_to_nothing(site: Served) -> None:
    moved = site.site.steady() + 3_600.0
    site.site.steady = lambda: moved
    before = len(site.store.asked(limit=1_000))
    with site.client(Role.VIEWER) as client:
        for _ in range(60):
            assert client.post("/logout").status_code == 400
    assert 0 < len(site.store.asked(limit=1_000)) - before <= 31


@pytest.mark.parametrize(
    ("path", "field"),
    [("/runs/queue/pause", "reason"), ("/schedules/cabling/pause", "reason"), ("/tickets/1/notes", "words"),
     ("/nodes/gpu-00001/requests", "reason")],
)  # fmt: skip
def test_what_people_say_moves_no_terminal(path: str, field: str, site: Served) -> None:
    said = "power\x1b]0;x\x07 \u202ework\nin row 3"
    with site.client() as client:
        answer = client.post(path, data={field: said, "kind": "hold"})
    assert answer.status_code == 303, answer.text
    told = repr((
        site.store.queue_paused(), site.store.schedules(), site.store.ticket_changes(1),
        site.store.intents("gpu-00001"),
    ))  # fmt: skip
    assert "power\ufffd" in told
    assert not any(odd in told for odd in ("\\x1b", "\\u202e", "\\x00"))


@pytest.mark.parametrize(("url", "expected"), [("https://fleet.example.org", 200), ("", None)])
def test_one_person_does_not_use_up_the_connections_of_a_proxy(
    url: str, expected: int | None, hall: Hall, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that comes through a proxy comes from its one address."""
    monkeypatch.setattr(protocol, "PER_ADDRESS", 3)
    monkeypatch.setattr(protocol, "HEAD_SECONDS", PATIENCE)  # until then a connection that asks no more is held
    with served(hall.store, hall.fleet, tmp_path, web_url=url) as found:
        clients = [httpx.Client(base_url=found.url, timeout=PATIENCE) for _ in range(6)]
        try:
            for client in clients[:3]:
                assert client.get("/login").status_code == 200
            for client in clients[3:]:
                if expected is None:
                    with pytest.raises(httpx.TransportError):
                        client.get("/login")
                else:
                    assert client.get("/login").status_code == expected
        finally:
            for client in clients:
                client.close()
