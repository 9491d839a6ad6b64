"""Logging in with OpenID Connect, with a provider that is as it should be, and with one that lies."""

import time
import warnings
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc.jwk import OctKey
from playwright.sync_api import Browser

from fleet_runner.core.access.roles import Role
from fleet_runner.settings import Settings
from fleet_runner.web.serving import pages
from fleet_runner.web.site import Site
from tests.waiting import PATIENCE
from tests.web.hall import Hall
from tests.web.looking import accessible, fits, shot
from tests.web.provider import STRANGE, Liar, liar
from tests.web.served import Served, served

ROLES = "fleet-ops=operator, dc=technician, acme=tenant:Acme"


@pytest.fixture(scope="module")
def lying() -> Iterator[Liar]:
    """A provider that tells the truth so far."""
    with liar() as found:
        yield found


def configured(folder: Path, issuer: str) -> dict[str, object]:
    """Return settings that name a provider."""
    secret = folder / "secret"
    secret.write_text("s3cret\n")
    secret.chmod(0o600)
    return {
        "oidc_issuer": issuer, "oidc_client_id": "fleet", "oidc_client_secret": secret, "oidc_roles": ROLES,
        "web_url": "http://fleet.example",
    }  # fmt: skip


@pytest.fixture(scope="module")
def asked(hall: Hall, lying: Liar, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A site that asks that provider."""
    folder = tmp_path_factory.mktemp("state")
    with served(hall.store, hall.fleet, folder, **configured(folder, lying.url)) as found:
        yield found


@pytest.fixture(autouse=True)
def _honest(lying: Liar, asked: Served) -> None:
    """Each test begins with a provider that tells the truth, and hours after the one before, which is forgotten."""
    fresh = Liar(url=lying.url)
    for each in fields(fresh):
        setattr(lying, each.name, getattr(fresh, each.name))
    moved = asked.site.steady() + 7_200.0
    asked.site.steady, asked.site.clock = lambda: moved, time.time


@pytest.fixture
def client(asked: Served) -> Iterator[httpx.Client]:
    """Somebody's browser."""
    with httpx.Client(base_url=asked.url, headers={"accept": "text/html"}, timeout=PATIENCE) as found:
        yield found


def begun(client: httpx.Client, lying: Liar, **query: str) -> dict[str, str]:
    """Begin a login; return what the provider is asked."""
    answer = client.get("/oidc/login", params=query)
    assert answer.status_code == 303, answer.text
    found = {name: values[0] for name, values in parse_qs(urlsplit(answer.headers["location"]).query).items()}
    lying.nonce = found["nonce"]
    return found


def test_somebody_logs_in(client: httpx.Client, lying: Liar, asked: Served) -> None:
    """With a verifier that only this browser has, and the secret in a header."""
    query = begun(client, lying, next="/tickets")
    assert query["redirect_uri"] == "http://fleet.example/oidc/callback"
    assert (query["code_challenge_method"], query["response_type"], query["client_id"]) == ("S256", "code", "fleet")
    assert "openid" in query["scope"].split()
    answer = client.get("/oidc/callback", params={"code": "c", "state": query["state"]})
    assert (answer.status_code, answer.headers["location"]) == (303, "/tickets")
    ((shown, form),) = lying.asked
    assert shown.startswith("Basic ")
    assert form["code"] == ["c"]
    assert len(form["code_verifier"][0]) >= 43
    assert "s3cret" not in str(form)
    assert client.get("/fleet").status_code == 200
    assert asked.store.sessions(time.time())[-1].who.name == "ann"
    written = [each for each in asked.store.asked() if each.detail == "logged in with OpenID Connect"][:1]
    assert [(each.name, each.role, each.path) for each in written] == [("ann", "operator", "/oidc/callback")]


def test_a_login_begins_one_session(client: httpx.Client, lying: Liar) -> None:
    """Its state is good once, in the browser that began it."""
    query = {"code": "c", "state": begun(client, lying)["state"]}
    with httpx.Client(base_url=client.base_url, timeout=PATIENCE) as other:
        assert other.get("/oidc/callback", params=query).status_code == 401
    assert client.get("/oidc/callback", params=query).status_code == 303
    assert client.get("/oidc/callback", params=query).status_code == 401
    assert len(lying.asked) == 1


@pytest.mark.parametrize("state", ["", "x", "\N{SNOWMAN}", "x" * 3_000])
def test_another_state_is_refused(client: httpx.Client, lying: Liar, state: str) -> None:
    begun(client, lying)
    assert client.get("/oidc/callback", params={"code": "c", "state": state}).status_code in {401, 414}
    assert not lying.asked


@pytest.mark.parametrize("cookie", ["", "x", "x.y", ".", "e30=.00", "\xff.\xff"])
def test_a_cookie_that_somebody_made_up_is_refused(client: httpx.Client, lying: Liar, cookie: str) -> None:
    state = begun(client, lying)["state"]
    headers = {"cookie": f"fleet_login={cookie}".encode("latin-1")}
    client.cookies.clear()
    answer = client.get("/oidc/callback", params={"code": "c", "state": state}, headers=headers)  # type: ignore[arg-type]  # bytes
    assert answer.status_code == 401


def test_a_login_that_took_too_long_is_refused(client: httpx.Client, lying: Liar, asked: Served) -> None:
    state = begun(client, lying)["state"]
    late = time.time() + 601
    asked.site.clock = lambda: late
    answer = client.get("/oidc/callback", params={"code": "c", "state": state})
    assert answer.status_code == 401
    assert "too old" in answer.text


def test_whoever_declines_or_has_no_role_is_told(client: httpx.Client, lying: Liar, asked: Served) -> None:
    state = begun(client, lying)["state"]
    error = {"error": "access_denied", "error_description": "<script>x", "state": state, "code": "c"}
    answer = client.get("/oidc/callback", params=error)
    assert answer.status_code == 401
    assert "did not let you log in" in answer.text
    assert "<script>x" not in answer.text
    lying.claims = {"groups": ["cooks"]}
    answer = client.get("/oidc/callback", params={"code": "c", "state": begun(client, lying)["state"]})
    assert answer.status_code == 401
    assert "ann has no role here" in answer.text
    assert client.get("/fleet").status_code == 303
    assert asked.store.asked()[0].detail.startswith("login refused: ")


@pytest.mark.parametrize(
    ("claims", "role"),
    [
        ({"groups": "dc"}, Role.TECHNICIAN), ({"groups": ["acme", 7, None]}, Role.TENANT),
        ({"groups": {"fleet-ops": 1}}, None), ({"groups": 7}, None), ({"groups": None}, None),
        ({"preferred_username": ["x"], "sub": "8", "groups": ["dc"]}, Role.TECHNICIAN),
    ],
)  # fmt: skip
def test_claims_of_any_type_are_taken_for_what_they_are(
    client: httpx.Client, lying: Liar, asked: Served, claims: dict[str, object], role: Role | None
) -> None:
    lying.claims = claims
    answer = client.get("/oidc/callback", params={"code": "c", "state": begun(client, lying)["state"]})
    assert answer.status_code == (401 if role is None else 303)
    if role is not None:
        assert asked.store.sessions(time.time())[-1].who.role is role


@pytest.mark.parametrize(
    "lie",
    [
        {"claims": {"nonce": "another"}}, {"without": "nonce"},
        {"claims": {"aud": "another"}}, {"claims": {"aud": ["fleet", "another"]}}, {"without": "aud"},
        {"claims": {"azp": "another"}}, {"claims": {"aud": 7}},
        {"claims": {"iss": "http://127.0.0.1:1"}}, {"without": "iss"},
        {"claims": {"exp": 1}}, {"claims": {"exp": "soon"}}, {"without": "exp"},
        {"claims": {"iat": 2**40}}, {"without": "sub"},
        {"key": STRANGE}, {"header": {"alg": "HS256"}, "key": OctKey.import_key("s3cret" * 8)},
        {"token": "eyJhbGciOiJub25lIn0.eyJzdWIiOiI3In0."}, {"token": "x"}, {"token": ""}, {"token": "a.b.c"},
        {"keys": b"{}"}, {"keys": b'{"keys": 7}'}, {"keys": b"[]"}, {"status": 500},
    ],
)  # fmt: skip
def test_a_provider_that_lies_lets_nobody_in(
    client: httpx.Client, lying: Liar, asked: Served, lie: dict[str, object]
) -> None:
    before = asked.store.sessions(time.time())
    state = begun(client, lying)["state"]
    for name, value in lie.items():
        setattr(lying, name, value)
    answer = client.get("/oidc/callback", params={"code": "c", "state": state})
    assert answer.status_code == 503
    assert "cannot be used now" in answer.text
    assert asked.store.sessions(time.time()) == before


@pytest.mark.parametrize(
    "about",
    [
        {"issuer": "https://another.example"}, {"issuer": None}, {"authorization_endpoint": "http://evil.example/"},
        {"authorization_endpoint": "javascript:alert(1)"}, {"authorization_endpoint": "https://["},
        {"authorization_endpoint": 7}, {"x": "x" * 1_100_000},
    ],
)  # fmt: skip
def test_a_provider_that_describes_itself_wrongly_is_not_asked(
    client: httpx.Client, lying: Liar, about: dict[str, object]
) -> None:
    lying.about = about
    answer = client.get("/oidc/login")
    assert answer.status_code == 503
    assert "location" not in answer.headers


def test_a_provider_that_is_away_holds_nobody_off(hall: Hall, tmp_path: Path) -> None:
    """Tokens go on, however often somebody tried; settings that are half are said in the log."""
    away = configured(tmp_path, "http://127.0.0.1:9")
    with (
        served(hall.store, hall.fleet, tmp_path, **away) as site,
        httpx.Client(base_url=site.url, timeout=PATIENCE) as client,
    ):
        assert [client.get("/oidc/login").status_code for _ in range(12)] == [503] * 12
        assert client.post("/login", data={"token": site.token("operator")}).status_code == 303
    half = away | {"oidc_roles": "x=king"}
    with (
        served(hall.store, hall.fleet, tmp_path, **half) as site,
        httpx.Client(base_url=site.url, timeout=PATIENCE) as client,
    ):
        assert client.get("/oidc/login").status_code == 503


def test_without_a_provider_there_is_no_such_login(site: Served) -> None:
    with httpx.Client(base_url=site.url, timeout=PATIENCE) as client:
        assert client.get("/oidc/login").status_code == client.get("/oidc/callback").status_code == 404
        assert "organisation" not in client.get("/login").text


def test_it_works_with_a_provider_that_others_wrote(hall: Hall, tmp_path: Path, browser: Browser) -> None:
    """In a browser, from the button to the fleet, by keyboard alone; whoever declines is told."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is made of what its makers call old
        mock = pytest.importorskip("oidc_provider_mock")
        ann = mock.User(sub="ann", claims={"groups": ["fleet-ops"], "email": "ann@example.org"})
        with mock.run_server_in_thread(user_claims=[ann]) as provider:
            given = configured(tmp_path, f"http://localhost:{provider.server_port}")
            with served(hall.store, hall.fleet, tmp_path, **given) as site:
                site.site.clock = time.time
                site.site.settings.__dict__["web_url"] = site.url
                _logs_in(browser, site)


def _logs_in(browser: Browser, site: Served) -> None:
    page = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
    page.set_default_timeout(PATIENCE * 1000)
    page.goto(f"{site.url}/tickets")
    assert page.url.endswith("/login?next=/tickets")
    accessible(page)
    fits(page)
    shot(page, "login-oidc")
    page.focus("text=Log in with your organisation")
    page.keyboard.press("Enter")
    page.wait_for_url("**/oauth2/authorize*")
    page.locator("button[value=deny], button:has-text('Deny')").first.click()
    page.wait_for_url(f"{site.url}/oidc/callback*")
    assert "did not let you log in" in page.inner_text("main")
    page.goto(f"{site.url}/oidc/login?next=/tickets")
    page.locator("button[value=ann], button:has-text('ann')").first.click()
    page.wait_for_url(f"{site.url}/tickets")
    assert "ann@example.org" in page.inner_text("header")
    page.context.close()


@pytest.mark.parametrize("missing", ["oidc_client_id", "oidc_client_secret", "oidc_roles", "web_url"])
def test_half_a_provider_is_said_at_the_start(hall: Hall, lying: Liar, tmp_path: Path, missing: str) -> None:
    given = configured(tmp_path, lying.url)
    del given[missing]
    settings = Settings(web_listen="127.0.0.1:0", state_dir=tmp_path, **given)  # type: ignore[arg-type]  of a test
    told: list[str] = []
    with pages(Site(settings, hall.store, lambda: hall.fleet), told.append):
        pass
    assert f"OpenID Connect logins do not work: setting '{missing}' is empty" in told[-1]
