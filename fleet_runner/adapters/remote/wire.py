"""Requests to a server: bounded in time and size, to that server alone, and every failure one sentence."""

import ssl
import time
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, TypeVar

import httpx
from pydantic import TypeAdapter, ValidationError

from fleet_runner.core.access.api import Trouble, Unconfirmed
from fleet_runner.core.base.errors import FleetError, SettingsError, StoreError
from fleet_runner.core.base.printable import printable

T = TypeVar("T")

CONNECT_SECONDS, READ_SECONDS = 10.0, 30.0
WHOLE_SECONDS = 120.0
"""Seconds for an answer as a whole: one that comes a byte at a time is not waited for."""

MOST_BYTES = 64 * 1024 * 1024
"""Bytes of an answer; a fabric's largest evidence has more, and is read on the server's machine."""

PAUSES = (0.2, 1.0, 3.0)
"""Seconds before what only reads is asked again."""

AGAIN = frozenset({429, 502, 503, 504})
"""Answers that may be others soon."""

SHOWN = 500
"""Characters of a server's own words that are told."""

NOWHERE = "Not Found"
"""What is said of a path that the server does not know at all."""

OK, MULTIPLE, BAD, BROKEN = 200, 300, 400, 500
UNAUTHORIZED, FORBIDDEN, NOT_FOUND, UNCONFIRMED, BUSY = 401, 403, 404, 428, 429


class Connection:
    """A connection to one server. Its token goes there only, and into no message."""

    def __init__(self, url: str, token: str, trusted: ssl.SSLContext) -> None:
        self.url = url
        headers = {
            "authorization": f"Bearer {token}",
            "accept": "application/json",
            "accept-encoding": "identity",  # what is packed may be of any size
            "user-agent": f"fleet-runner/{version('fleet-runner')}",
        }
        timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
        # No proxy, no ~/.netrc: the token is for the server that was named.
        self._client = httpx.Client(headers=headers, verify=trusted, timeout=timeout, trust_env=False)

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()

    def get(self, shape: type[T], path: str, **given: Any) -> T | None:
        """Return what a path answers, as a value of a type; None where there is none of that name."""
        params = {key: value for key, value in given.items() if value is not None}
        for pause in (*PAUSES, None):
            try:
                status, raw = self._ask("GET", path, params=params)
            except httpx.TransportError as error:
                if pause is None or _untrusted(error):
                    raise self._away(error) from error
            else:
                if pause is None or status not in AGAIN:
                    return self._read(shape, path, status, raw)
            time.sleep(pause)
        raise AssertionError(path)  # the last pause is None

    def post(self, shape: type[T], path: str, body: Mapping[str, Any] | None = None) -> T | None:
        """Ask for something, once: whether a request that broke off was heard, nobody can say."""
        try:
            status, raw = self._ask("POST", path, json=body)
        except httpx.TransportError as error:
            raise self._away(error) from error
        return self._read(shape, path, status, raw)

    def confirmed(self, shape: type[T], path: str, body: Mapping[str, Any]) -> T | None:
        """Ask for something as `post` does; where it cannot be undone, say so: the person was asked before."""
        try:
            status, raw = self._ask("POST", path, json=body)
            if status == UNCONFIRMED:
                known: Unconfirmed = adapter(Unconfirmed).validate_json(raw)
                status, raw = self._ask("POST", path, json={**body, "confirm": known.confirm})
        except httpx.TransportError as error:
            raise self._away(error) from error
        except (ValidationError, RecursionError) as error:
            raise self._strange(f"wants {path} confirmed, and does not say with what") from error
        return self._read(shape, path, status, raw)

    def _ask(self, method: str, path: str, **given: Any) -> tuple[int, bytes]:
        until, found = time.monotonic() + WHOLE_SECONDS, bytearray()
        with self._client.stream(method, f"{self.url}/api/v1{path}", **given) as answer:
            if "content-encoding" in answer.headers:
                raise self._strange("packs its answers, which it was asked not to")
            for chunk in answer.iter_raw():
                found += chunk
                if len(found) > MOST_BYTES:
                    raise self._strange(f"answers {path} with more than {MOST_BYTES} bytes")
                if time.monotonic() > until:
                    raise self._strange(f"took more than {WHOLE_SECONDS:.0f} s for {path}")
        return answer.status_code, bytes(found)

    def _read(self, shape: type[T], path: str, status: int, raw: bytes) -> T | None:
        if OK <= status < MULTIPLE:
            try:
                found: T = adapter(shape).validate_json(raw)
            except (ValidationError, RecursionError) as error:
                ours = version("fleet-runner")
                raise self._strange(
                    f"answers {path} with what fleet-runner {ours} does not understand; is it of another release?"
                ) from error
            return found
        if status == NOT_FOUND and self._words(raw) not in {"", NOWHERE}:
            return None
        raise self._refused(path, status, self._words(raw))

    def _refused(self, path: str, status: int, said: str) -> FleetError:
        if status == UNAUTHORIZED:
            return SettingsError(
                f"{self.url} does not take the token ({said or 'no reason given'}); ask for a new one"
            )
        if status == FORBIDDEN:
            return FleetError(f"{self.url}: {said or 'the token may not do this'}")
        if status == BUSY:
            return StoreError(f"{self.url} is asked too often; wait a little, then ask again")
        if MULTIPLE <= status < BAD:
            return self._strange("leads elsewhere, where the token is not shown; name the URL that answers itself")
        if not said or said == NOWHERE:
            return self._strange(f"answers {path} with HTTP {status}; is it fleet-runner's, and of this release?")
        return FleetError(f"{self.url}: {said}") if status < BROKEN else StoreError(f"{self.url}: {said}")

    def _words(self, raw: bytes) -> str:
        """Return a refusal's sentence; "" where it is none of fleet-runner's."""
        try:
            trouble: Trouble = adapter(Trouble).validate_json(raw)
        except (ValidationError, RecursionError):
            return ""
        return printable(trouble.detail[:SHOWN])

    def _strange(self, what: str) -> StoreError:
        return StoreError(f"server {self.url} {what}")

    def _away(self, error: httpx.TransportError) -> StoreError:
        if _untrusted(error):
            return StoreError(
                f"server {self.url}: its certificate cannot be trusted ({error}); name its CA: server_ca"
            )
        if isinstance(error, httpx.TimeoutException):
            return StoreError(f"server {self.url} does not answer in time")
        return StoreError(f"server {self.url} cannot be reached ({error or type(error).__name__}); does it serve?")


def _untrusted(error: httpx.TransportError) -> bool:
    return "CERTIFICATE" in str(error)


_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


def adapter(shape: Any) -> TypeAdapter[Any]:
    """Return what reads JSON into values of a type; to make one takes longer than most answers."""
    if shape not in _ADAPTERS:
        _ADAPTERS[shape] = TypeAdapter(shape)
    return _ADAPTERS[shape]
