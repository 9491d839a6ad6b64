"""Logging in with OpenID Connect: the authorization code flow, with PKCE, state and nonce."""

import asyncio
import hmac
import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from typing import Annotated, NamedTuple
from urllib.parse import urlencode

import structlog
from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.responses import RedirectResponse

from fleet_runner.adapters.files import secret as secret_file
from fleet_runner.core.access.claims import judged, meanings
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.settings import Settings
from fleet_runner.web.access import secure
from fleet_runner.web.audit import note_of
from fleet_runner.web.pages.login import asked as asked_for
from fleet_runner.web.pages.login import begin, own, refused, tired
from fleet_runner.web.provider import Provider, ProviderError
from fleet_runner.web.site import Here, Site

log = structlog.get_logger()

router = APIRouter(prefix="/oidc")

COOKIE = "fleet_login"
"""Over TLS its name begins with __Host-, as the session's does."""

LASTS = 600.0
"""Seconds that somebody has for logging in with the provider."""

AWAY = "The provider cannot be used now; the log says why. A token still logs you in."


class LoginAttempt(NamedTuple):
    """A login under way, as the browser keeps it; it is signed, so that nobody makes one up for somebody else."""

    state: str
    nonce: str
    verifier: str
    to: str
    until: float


def provider(request: Request, here: Site) -> Provider:
    """Return the provider that the settings name; 404 where they name none."""
    settings = here.settings
    if not settings.oidc_issuer:
        raise HTTPException(404, "OpenID Connect is not set up here")
    state = request.app.state
    if not hasattr(state, "provider"):
        secret = configured(settings)
        state.provider = Provider(
            settings.oidc_issuer,
            settings.oidc_client_id,
            secret,
            clock=lambda: here.clock(),  # noqa: PLW0108  the site's clock of then, not of now
            steady=lambda: here.steady(),  # noqa: PLW0108  likewise
        )
    found: Provider = state.provider
    return found


def configured(settings: Settings) -> str:
    """Return the secret that fleet-runner shows to the provider; SettingsError where something is missing."""
    for name in ("oidc_client_id", "oidc_client_secret", "oidc_roles", "web_url"):
        if not getattr(settings, name):
            raise SettingsError(f"setting {name!r} is empty, and oidc_issuer is set; it needs both")
    try:
        meanings(settings.oidc_roles)
    except ValueError as error:
        raise SettingsError(f"setting 'oidc_roles': {error}") from None
    assert settings.oidc_client_secret is not None  # noqa: S101  seen above
    return secret_file.text(settings.oidc_client_secret, "the secret of oidc_client_id")


@router.get("/login")
def login(request: Request, here: Here, next: Annotated[str, Query(max_length=512)] = "") -> Response:  # noqa: A002  the field's name
    """Lead somebody to the provider."""
    if (tried := tired(request)) is not None:
        return tried
    state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
    flight = LoginAttempt(state, nonce, verifier, next if own(next) else "", here.clock() + LASTS)
    try:
        asked = provider(request, here)
        where = asked.place("authorization_endpoint")
    except (ProviderError, SettingsError) as error:
        return _away(request, error)
    query = {
        "response_type": "code", "client_id": asked.client_id, "redirect_uri": _back(here),
        "scope": "openid profile email", "state": flight.state, "nonce": flight.nonce,
        "code_challenge": _challenge(flight.verifier), "code_challenge_method": "S256",
    }  # fmt: skip
    answer = RedirectResponse(f"{where}{'&' if '?' in where else '?'}{urlencode(query)}", 303)
    sealed = _sealed(flight, asked.secret)
    answer.set_cookie(_cookie(request), sealed, int(LASTS), httponly=True, secure=secure(request), samesite="lax")
    return answer


@router.get("/callback")
async def callback(request: Request, here: Here) -> Response:
    """Begin a session for whoever comes back with a code that is good. One login begins one session."""
    if (tried := tired(request)) is not None:
        return tried
    answer = await _came_back(request, here)
    answer.delete_cookie(_cookie(request), secure=secure(request), httponly=True, samesite="lax")
    return answer


async def _came_back(request: Request, here: Site) -> Response:
    query = request.query_params
    try:
        asked = await asyncio.to_thread(provider, request, here)
    except SettingsError as error:
        return _away(request, error)
    if "error" in query:
        return _told(request, "the provider refused", "The provider did not let you log in.", 401)
    flight = _opened(request.cookies.get(_cookie(request), ""), asked.secret, here.clock())
    if flight is None or not hmac.compare_digest(query.get("state", "").encode(), flight.state.encode()):
        return _told(request, "none is under way", "This login is too old, or another one began; try again.", 401)
    try:
        claims = await asyncio.to_thread(
            asked.redeemed, query.get("code", "")[:2_048], flight.verifier, _back(here), flight.nonce
        )
    except ProviderError as error:
        return _away(request, error)
    who = judged(claims, here.settings.oidc_claim, meanings(here.settings.oidc_roles))
    if isinstance(who, str):
        return refused(request, who, who, flight.to)
    return await begin(request, here, who, flight.to)


def _away(request: Request, error: Exception) -> Response:
    log.warning("somebody cannot log in with OpenID Connect", why=str(error))
    return _told(request, "the provider cannot be used", AWAY, 503)


def _told(request: Request, why: str, said: str, status: int) -> Response:
    """Say why a login failed where that counts against nobody: another site's page could make a browser ask it."""
    note_of(request.scope).detail = f"login refused: {why}"
    return asked_for(request, said, status=status)


def _back(here: Site) -> str:
    """Return where the provider leads people back to; what a request says of its host is not believed."""
    return f"{here.settings.web_url.rstrip('/')}/oidc/callback"


def _cookie(request: Request) -> str:
    return f"__Host-{COOKIE}" if secure(request) else COOKIE


def _challenge(verifier: str) -> str:
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def _seal(text: bytes, secret: str) -> str:
    return hmac.new(secret.encode(), b"login\0" + text, sha256).hexdigest()


def _sealed(flight: LoginAttempt, secret: str) -> str:
    text = urlsafe_b64encode(json.dumps(flight).encode())
    return f"{text.decode()}.{_seal(text, secret)}"


def _opened(sealed: str, secret: str, now: float) -> LoginAttempt | None:
    """Return a login that is under way, None where the cookie is none of ours or too old."""
    text, _, seal = sealed.partition(".")
    if not hmac.compare_digest(seal.encode(), _seal(text.encode(), secret).encode()):
        return None
    found = LoginAttempt(*json.loads(urlsafe_b64decode(text)))
    return found if now < found.until else None
