"""An OpenID Connect provider, as far as fleet-runner asks it: what it is, a code's token, and whether that is true.

It is asked with time limits and for bounded answers, and what it says of itself is kept for an hour.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from fleet_runner.core.base.errors import FleetError
from fleet_runner.services.http.listening import loopback

SECONDS = 5.0
"""The longest one answer may take, to its end."""

MOST_BYTES = 1_000_000

KEPT_SECONDS, AGAIN_SECONDS = 3_600.0, 30.0
"""How long what it says of itself is kept, and how soon it is asked again for a key that nobody knows."""

SIGNED = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"]
"""Signatures that are believed: of a key that the provider alone has. None at all is no signature."""

LEEWAY = 60
"""Seconds by which its clock may differ."""


class ProviderError(FleetError):
    """The provider is away, or says what cannot be believed; the text is for the log and holds no secret."""


@dataclass(slots=True)
class Provider:
    """One provider and what it said of itself; `clock` tells the time, `steady` measures it."""

    issuer: str
    client_id: str
    secret: str
    clock: Callable[[], float] = time.time
    steady: Callable[[], float] = time.monotonic
    _about: dict[str, Any] = field(default_factory=dict[str, Any])
    _keys: KeySet | None = None
    _read_at: dict[str, float] = field(default_factory=dict[str, float])
    _reading: threading.Lock = field(default_factory=threading.Lock)

    def place(self, name: str) -> str:
        """Return an address that it says of itself, or raise ProviderError."""
        with self._reading:
            if not self._about or self._old("about", KEPT_SECONDS):
                self._about = self._describe()
                self._read_at["about"] = self.steady()
        return self._address(self._about.get(name), name)

    def redeemed(self, code: str, verifier: str, back: str, nonce: str) -> Mapping[str, Any]:
        """Return what it claims of whoever came back with a code, or raise ProviderError."""
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": back, "code_verifier": verifier}
        said = self._asked("POST", self.place("token_endpoint"), data=form, auth=self._auth())
        token = said.get("id_token")
        if not isinstance(token, str):
            raise ProviderError(f"{self.issuer}: its answer to a code has no id_token")
        return self._believed(token, nonce)

    def _auth(self) -> httpx.BasicAuth:
        return httpx.BasicAuth(self.client_id, self.secret)

    def _believed(self, token: str, nonce: str) -> Mapping[str, Any]:
        """Return a token's claims where all of it is true."""
        try:
            claims = self._decoded(token)
        except (JoseError, ValueError, TypeError, KeyError) as error:
            raise ProviderError(f"{self.issuer}: an invalid id_token: {error}") from None
        wanted = jwt.JWTClaimsRegistry(
            now=int(self.clock()), leeway=LEEWAY,
            iss={"essential": True, "value": self._about["issuer"]},
            aud={"essential": True, "value": self.client_id},
            sub={"essential": True}, exp={"essential": True}, iat={"essential": True},
            nonce={"essential": True, "value": nonce},
        )  # fmt: skip
        try:
            wanted.validate(claims)
        except (JoseError, ValueError, TypeError) as error:
            raise ProviderError(f"{self.issuer}: an invalid id_token: {error}") from None
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", None if several else self.client_id) != self.client_id:
            raise ProviderError(f"{self.issuer}: an id_token for another client")
        return claims

    def _decoded(self, token: str) -> dict[str, Any]:
        try:
            return jwt.decode(token, self._keyset(KEPT_SECONDS), algorithms=SIGNED).claims
        except (JoseError, ValueError, KeyError):
            if not self._old("keys", AGAIN_SECONDS):
                raise
        return jwt.decode(token, self._keyset(AGAIN_SECONDS), algorithms=SIGNED).claims  # it may have a new key

    def _keyset(self, seconds: float) -> KeySet:
        where = self.place("jwks_uri")
        with self._reading:
            if self._keys is None or self._old("keys", seconds):
                said = self._asked("GET", where)
                try:
                    self._keys = KeySet.import_key_set(said)  # type: ignore[arg-type]  # it looks for itself
                except (JoseError, ValueError, KeyError, TypeError, AttributeError):
                    raise ProviderError(f"{where}: no set of keys") from None
                self._read_at["keys"] = self.steady()
            return self._keys

    def _old(self, what: str, seconds: float) -> bool:
        return self.steady() - self._read_at.get(what, float("-inf")) > seconds

    def _describe(self) -> dict[str, Any]:
        said = self._asked("GET", f"{self.issuer.rstrip('/')}/.well-known/openid-configuration")
        if not isinstance(said.get("issuer"), str) or said["issuer"].rstrip("/") != self.issuer.rstrip("/"):
            raise ProviderError(f"{self.issuer}: it says that it is another issuer; set oidc_issuer as it does")
        return said

    def _address(self, said: object, name: str) -> str:
        """Return an address that may be asked: over TLS, or on this machine itself."""
        try:
            parts = urlsplit(said if isinstance(said, str) else "")
            scheme, host = parts.scheme, parts.hostname or ""
        except ValueError:
            scheme = host = ""
        if not host or not (scheme == "https" or (scheme == "http" and loopback(host))):
            raise ProviderError(f"{self.issuer}: {name} is no address over TLS")
        return str(said)

    def _asked(self, method: str, url: str, **more: Any) -> dict[str, Any]:
        """Return an answer, which is an object of JSON, or raise ProviderError."""
        self._address(url, "oidc_issuer")
        until, body = self.steady() + SECONDS, b""
        try:
            with httpx.stream(method, url, timeout=SECONDS, headers={"accept": "application/json"}, **more) as answer:
                for chunk in answer.iter_bytes():
                    body += chunk
                    if len(body) > MOST_BYTES or self.steady() > until:
                        raise ProviderError(f"{url}: its answer is too long, or takes too long")
            said = httpx.Response(answer.status_code, content=body).json() if answer.is_success else None
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, RecursionError) as error:
            raise ProviderError(f"{url}: {type(error).__name__}") from None
        if not isinstance(said, dict):
            raise ProviderError(f"{url}: it answered {answer.status_code}, expected an object of JSON")
        return said
