"""Who is let in, by what they show: cookies, tokens, forms and headers, good ones and others."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from urllib.parse import urlsplit

import httpx
import pytest

from fleet_runner.core.access.roles import Role
from fleet_runner.core.faults.signals.tokens import Token
from fleet_runner.services.http.admission import make
from tests.waiting import PATIENCE, until
from tests.web.hall import NOW, Hall
from tests.web.served import Served, served

HTML = {"accept": "text/html"}


@pytest.fixture(autouse=True)
def _fresh(site: Served) -> None:
    """What one test asks is not held against the next: each looks from its own minute."""
    moved = site.site.steady() + 600.0
    site.site.steady = lambda: moved


@contextmanager
def at(site: Served, **headers: str) -> Iterator[httpx.Client]:
    """Give a client that shows these headers."""
    with httpx.Client(base_url=site.url, headers=headers, timeout=PATIENCE) as client:
        yield client


def raw(site: Served, text: bytes) -> bytes:
    """Return what is answered to bytes, up to the end of the connection."""
    address = urlsplit(site.url)
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=PATIENCE) as connection:
        connection.sendall(text)
        said = b""
        while more := connection.recv(65_536):
            said += more
        return said


def test_a_login_ends_the_session_that_the_browser_had(site: Served) -> None:
    """Whoever knew that one's cookie, or had set it, has nothing of the new one."""
    with site.browser_client() as client:
        old = dict(client.cookies)
        client.post("/login", data={"token": site.token(Role.VIEWER)})
        assert dict(client.cookies) != old
        with at(site, cookie=f"fleet_session={old['fleet_session']}") as other:
            assert other.get("/fleet").status_code == 401


def test_a_cookie_that_somebody_made_up_is_never_taken_over(site: Served) -> None:
    with at(site, cookie="fleet_session=mine", accept="text/html") as client:
        answer = client.post("/login", data={"token": site.token(Role.VIEWER)})
        assert "fleet_session=mine" not in answer.headers["set-cookie"]
        assert {"HttpOnly", "SameSite=lax", "Path=/"} <= {
            each.strip() for each in answer.headers["set-cookie"].split(";")
        }


def test_over_tls_the_cookie_is_of_this_host_alone(hall: Hall, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Also where a proxy speaks TLS, which web_url says."""
    folder = tmp_path_factory.mktemp("state")
    with served(hall.store, hall.fleet, folder, web_url="https://fleet.example/") as site:
        token, key = make()
        hall.store.add_token(Token("proxied", key, NOW - 60, "tests", scope="viewer"))
        with at(site, host="fleet.example", origin="https://fleet.example") as client:
            answer = client.post("/login", data={"token": token})
            shown = answer.headers["set-cookie"]
            assert shown.startswith("__Host-fleet_session=")
            assert "Secure" in shown
            assert answer.headers["strict-transport-security"] == "max-age=31536000"
            client.headers["cookie"] = shown.partition(";")[0]
            assert client.get("/fleet").status_code == 200
            client.headers["cookie"] = shown.partition(";")[0].removeprefix("__Host-")
            assert client.get("/fleet").status_code == 401, "a cookie that any host around could set"
        said = {"x-forwarded-for": "203.0.113.9, 192.0.2.7"}, {"x-forwarded-for": "<script>"}, {}
        with at(site, authorization=f"Bearer {token}") as client:
            for each in said:
                assert client.post("/nowhere", headers=each).status_code == 404

        def came() -> list[str]:
            return [line.source for line in hall.store.asked() if line.path == "/nowhere"]

        until(lambda: len(came()) == len(said), "what was asked is written behind the answer")
        assert came() == ["127.0.0.1", "127.0.0.1", "192.0.2.7"], "the proxy's word, and nobody else's"


@pytest.mark.parametrize(
    "cookie", ["fleet_session=", "fleet_session", ";;;=", 'fleet_session="\\"', "fleet_session=" + "x" * 9_000]
)
def test_a_cookie_that_is_none_lets_nobody_in(site: Served, cookie: str) -> None:
    with at(site, cookie=cookie) as client:
        assert client.get("/fleet").status_code == 401


@pytest.mark.parametrize(
    "shown",
    [
        b"Bearer", b"Bearer \xff\xfe", b"Bearer " + b"x" * 9_000, b"Digest a=b", b"\xf0\x9f\x90\x8d",
        b"Basic Og==", b"Basic !!", b"bearer frs_nonsense",
    ],
)  # fmt: skip
def test_a_token_that_is_none_lets_nobody_in(site: Served, shown: bytes) -> None:
    with httpx.Client(base_url=site.url, headers=[(b"authorization", shown)], timeout=PATIENCE) as client:
        answer = client.get("/fleet")
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert answer.json().keys() == {"detail"}


def test_a_token_is_no_password(site: Served) -> None:
    """A browser would send one along wherever another site's page leads it."""
    with httpx.Client(base_url=site.url, auth=("x", site.token(Role.OPERATOR)), timeout=PATIENCE) as client:
        assert client.get("/fleet").status_code == 401


def test_tokens_that_have_ended_end_their_sessions(site: Served) -> None:
    for name, ending in (("going", "revoked"), ("late", "expired")):
        token, key = make()
        until = NOW + 60 if ending == "expired" else None
        site.store.add_token(Token(name, key, NOW - 60, "tests", scope="viewer", until=until))
        site.site.admission._read_at = float("-inf")
        with at(site) as client, at(site, authorization=f"Bearer {token}") as program:
            assert client.post("/login", data={"token": token}).status_code == 303
            assert (client.get("/fleet").status_code, program.get("/fleet").status_code) == (200, 200)
            if ending == "revoked":
                site.store.revoke_token(name, NOW)
            else:
                site.site.clock = lambda: NOW + 61
            site.site.admission._read_at = float("-inf")
            assert (client.get("/fleet").status_code, program.get("/fleet").status_code) == (401, 401)
            assert program.get("/fleet").json() == {"detail": f"{ending} token"}
            site.site.clock = lambda: NOW


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://["}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"x-csrf-token": "nonsense"}, 403),
        ({"x-csrf-token": "\N{SNOWMAN}"}, 403),
        ({"content-type": "text/plain"}, 403),
        ({"content-type": "multipart/form-data; boundary=x"}, 400),
        ({"content-type": "application/x-www-form-urlencoded; charset=\xff"}, 415),
    ],
)
def test_what_another_page_makes_a_browser_ask_is_refused(
    site: Served, headers: dict[str, str], expected: int
) -> None:
    with site.browser_client() as client:
        encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
        body = b"csrf=\xff%ff&&&=;"
        answer = client.post("/logout", headers=encoded, content=body)
        assert answer.status_code == expected
        assert client.get("/fleet").status_code == 200, "the session goes on"


def test_whoever_loaded_our_page_may_ask(site: Served) -> None:
    """By a form's field, or by the header that htmx sends, also beside a body of JSON."""
    for way in ("field", "header"):
        with site.browser_client() as client:
            token = client.get("/fleet").text.partition('name="csrf" value="')[2].partition('"')[0]
            origin = {"origin": site.url}
            if way == "field":
                answer = client.post("/logout", data={"csrf": token}, headers=origin)
            else:
                answer = client.post("/logout", content=json.dumps({}), headers={"x-csrf-token": token} | origin)
            assert (answer.status_code, answer.headers["location"]) == (303, "/login")
            assert client.get("/fleet", headers={"accept": "*/*"}).status_code == 401


def test_nobody_is_logged_in_by_another_sites_form(site: Served) -> None:
    with at(site, origin="https://evil.example") as client:
        assert client.post("/login", data={"token": site.token(Role.VIEWER)}).status_code == 403


def test_logins_that_fail_are_limited_and_those_that_do_not_are_not(site: Served) -> None:
    now = site.site.steady()
    site.site.steady = lambda: now  # every ten seconds there may be one more
    with at(site) as client:
        for _ in range(12):
            assert client.post("/login", data={"token": site.token(Role.VIEWER)}).status_code == 303
        codes = [client.post("/login", data={"token": "frs_nonsense"}).status_code for _ in range(12)]
        assert codes == [401] * 10 + [429] * 2
        again = client.post("/login", data={"token": site.token(Role.VIEWER)})
        assert again.status_code == 429
        assert again.headers["retry-after"] == "60"
        assert client.get("/login").status_code == 200
        later = site.site.steady() + 15
        site.site.steady = lambda: later
        assert client.post("/login", data={"token": site.token(Role.VIEWER)}).status_code == 303


def test_what_is_too_large_is_refused_wherever_it_goes(site: Served) -> None:
    with site.client() as client:
        for path in ("/logout", "/login", "/api/v1/nodes", "/nowhere", "/static/fleet.css"):
            assert client.post(path, content=b"x" * 65_537).status_code == 413, path
        assert client.get("/" + "x" * 3_000).status_code == 414
        assert client.get("/fleet", params={"q": "x" * 5_000}).status_code == 414
        assert client.get("/nodes/%00").status_code == 400
        assert client.get("/find", params={"q": "\0"}).status_code == 400


@pytest.mark.parametrize(
    "host", [b"", b"Host: a b\r\n", b"Host: a\r\nHost: b\r\n", b"Host: evil.example/x\r\n", b"Host: <script>\r\n"]
)
def test_a_request_for_a_host_that_is_none_is_refused(site: Served, host: bytes) -> None:
    said = raw(site, b"GET /login HTTP/1.1\r\n" + host + b"Connection: close\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 400" if host else b"HTTP/1.1 200")
    assert b"evil" not in said
    assert b"<script>" not in said


def test_nobody_is_led_to_the_host_that_a_request_names(site: Served) -> None:
    with at(site, host="evil.example", accept="text/html") as client:
        for path in ("/fleet", "/fleet/", "/static", "/login/", "/"):
            answer = client.get(path)
            assert "evil.example" not in str(answer.headers) + answer.text, path


def test_a_head_is_answered_as_the_whole_without_its_body(site: Served) -> None:
    with site.client() as client:
        for path in ("/fleet", "/login", "/static/fleet.css", "/nowhere"):
            whole, head = client.get(path), client.head(path)
            assert (head.status_code, head.content) == (whole.status_code, b"")
            assert head.headers["content-type"] == whole.headers["content-type"]
        assert client.options("/fleet").status_code == 405
        assert client.request("TRACE", "/fleet").status_code == 405


def test_an_error_is_no_way_to_put_something_into_a_page(site: Served) -> None:
    with site.client() as client:
        for path in ("/<script>x", "/nodes/<script>x", "/audit?before=<script>x"):
            for accept in ("text/html", "*/*"):
                answer = client.get(path, headers={"accept": accept})
                assert 400 <= answer.status_code < 500, path
                kind = answer.headers["content-type"]
                assert "<script>x" not in answer.text if "html" in kind else kind == "application/json"
    with at(site, accept="text/html") as client:
        assert client.get("/fleet&x#y%0d%0aSet-Cookie:a=b").headers.get("set-cookie") is None
        assert client.get("/runs/a&b=c").headers["location"] == "/login?next=/runs/a%26b%3Dc"


def test_who_may_not_ask_learns_nothing_of_what_a_body_should_be(site: Served) -> None:
    """A body that cannot be read is seen before who sends it; the answer is the same as to one that can."""
    wrong = {"content-type": "application/json"}
    for role, expected in ((None, 401), (Role.TENANT, 403), (Role.OPERATOR, 422)):
        with site.client(role, "Acme" if role is Role.TENANT else "") as client:
            answer = client.post("/api/v1/nodes/gpu-00001/requests", content=b"{", headers=wrong)
            assert answer.status_code == expected, answer.text


def test_a_tenant_without_a_name_owns_nothing(site: Served) -> None:
    token, key = make()
    site.store.add_token(replace(Token("odd", key, NOW - 60, "tests"), scope="tenant"))
    site.site.admission._read_at = float("-inf")
    with at(site, authorization=f"Bearer {token}") as client:
        assert client.get("/mine").status_code == 401
