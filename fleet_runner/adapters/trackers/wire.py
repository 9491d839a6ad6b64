"""One request to a tracker: bounded in time and size, to that tracker alone, and every failure one sentence."""

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Self

import requests

from fleet_runner.core.base.printable import printable
from fleet_runner.core.tickets.trackers.backoff import Kind, TrackerError

CONNECT_SECONDS, READ_SECONDS = 10.0, 30.0
ALL_SECONDS = 60.0
"""Seconds for a request as a whole: one that gives a byte now and then is not waited for."""

MOST_BYTES = 4_000_000
CHUNK = 65_536
SHOWN = 300
"""Characters of a tracker's own words that are told."""

OK, MULTIPLE, BAD = 200, 300, 400
UNAUTHORIZED, FORBIDDEN, NOT_FOUND, TIMEOUT, CONFLICT, GONE, UNPROCESSABLE = 401, 403, 404, 408, 409, 410, 422
BUSY = 429
BROKEN = 500

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds to connect, for each piece of an answer, and for a request as a whole."""

    connect: float = CONNECT_SECONDS
    read: float = READ_SECONDS
    whole: float = ALL_SECONDS


@dataclass(frozen=True, slots=True)
class Access:
    """How a tracker is reached: the secret, what its certificate is verified with, and how patient to be."""

    token: str = field(repr=False)
    verify: str | bool = True
    limits: Limits = field(default_factory=Limits)


class TrackerSession:
    """A session with one tracker. Its token goes to that tracker only, and into no message."""

    def __init__(self, name: str, url: str, headers: Mapping[str, str], access: Access) -> None:
        self.name = name
        self.url = url
        self._limits = access.limits
        self._session = requests.Session()
        self._session.auth = lambda request: request  # else a ~/.netrc replaces the token
        self._session.headers.update({"Accept": "application/json", "User-Agent": "fleet-runner", **headers})
        self._verify = access.verify

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._session.close()

    def ask(  # noqa: PLR0913  a request has this many parts
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        issue: str = "",
    ) -> Any:
        """Send a request and return the JSON of its answer, None for an empty one.

        `body` is sent as JSON, or as it is if it is bytes; `issue` names what the request is about, where it is about
        one issue alone: what is wrong with that one says nothing about others.
        """
        until = time.monotonic() + self._limits.whole
        given: dict[str, Any] = {"data": body} if isinstance(body, bytes) else {"json": body}
        try:
            with self._session.request(
                method,
                self.url + path,
                params=dict(params or {}),
                headers=dict(headers or {}),
                timeout=(self._limits.connect, self._limits.read),
                allow_redirects=False,
                stream=True,
                verify=self._verify,
                **given,
            ) as answer:
                raw = self._read(answer, until)
        except requests.exceptions.SSLError as error:
            text = f"{self.url}: cannot trust its certificate ({_reason(error)}); name its CA in ca_file"
            raise TrackerError(Kind.REFUSED, f"{self.name}: {text}") from None
        except requests.exceptions.Timeout:
            raise TrackerError(Kind.DOWN, f"{self.name}: {self.url} does not answer in time") from None
        except requests.exceptions.RequestException as error:
            text = f"{self.url} cannot be reached ({_reason(error)}); check the address and the network"
            raise TrackerError(Kind.DOWN, f"{self.name}: {text}") from None
        return self._judged(answer, raw, issue)

    def _read(self, answer: requests.Response, until: float) -> bytes:
        found = bytearray()
        for chunk in answer.iter_content(CHUNK):
            found += chunk
            if len(found) > MOST_BYTES:
                raise TrackerError(Kind.DOWN, f"{self.name}: an answer has over {MOST_BYTES} bytes; is url right?")
            if time.monotonic() > until:
                raise TrackerError(Kind.DOWN, f"{self.name}: an answer took over {self._limits.whole:.0f} s")
        return bytes(found)

    def _judged(self, answer: requests.Response, raw: bytes, issue: str) -> Any:
        status = answer.status_code
        if not OK <= status < MULTIPLE:
            raise self._refused(answer, _words(raw), issue)
        if not raw.strip():
            return None
        try:
            return json.loads(raw)
        except (ValueError, RecursionError):
            text = f"{self.url} answers, but not with JSON; expected the address of its API"
            raise TrackerError(Kind.REFUSED, f"{self.name}: {text}") from None

    def _refused(self, answer: requests.Response, said: str, issue: str) -> TrackerError:  # noqa: PLR0911  a line each
        status, about = answer.status_code, f" about {issue}" if issue else ""
        after = asked_to_wait(answer)
        if status == BUSY or (status == FORBIDDEN and after is not None):
            return TrackerError(Kind.BUSY, f"{self.name}: it asks us to wait (HTTP {status}){said}", after=after)
        if status == UNAUTHORIZED:
            text = f"it does not take the token (HTTP {status}){said}; give it a valid one"
            return TrackerError(Kind.REFUSED, f"{self.name}: {text}")
        if status == FORBIDDEN:
            text = f"the token's user may not do this{about} (HTTP {status}){said}; give that user the permission"
            return TrackerError(Kind.WRONG if issue else Kind.REFUSED, f"{self.name}: {text}")
        if status in {NOT_FOUND, GONE} and issue:
            text = f"{issue} is gone, or hidden from the token (HTTP {status}); to open another one: "
            return TrackerError(Kind.WRONG, f"{self.name}: {text}fleet-runner ticket sync --anew")
        if status in {NOT_FOUND, GONE}:
            text = f"there is no such project for this token at {self.url} (HTTP {status}){said}; check the address"
            return TrackerError(Kind.REFUSED, f"{self.name}: {text}, the project and the token's rights")
        if MULTIPLE <= status < BAD:
            text = f"{self.url} sends us elsewhere (HTTP {status}); expected the address of its API itself"
            return TrackerError(Kind.REFUSED, f"{self.name}: {text}")
        if status >= BROKEN or status == TIMEOUT:
            return TrackerError(Kind.DOWN, f"{self.name}: it has trouble (HTTP {status}){said}", after=after)
        return TrackerError(Kind.WRONG, f"{self.name}: it does not take this{about} (HTTP {status}){said}")


def pick(found: Any, *path: str | int) -> Any:
    """Return what a path leads to in an answer; TrackerError where it has another shape."""
    for step in path:
        try:
            found = found[step]
        except (KeyError, IndexError, TypeError):
            where = ".".join(map(str, path))
            raise TrackerError(Kind.DOWN, f"an answer has no {where}; is it the tracker's API?") from None
    return found


def texts(found: Any, key: str) -> Iterable[str]:
    """Return the texts under a key of each row of an answer."""
    rows = found if isinstance(found, list) else []
    return (str(row.get(key) or "") for row in rows if isinstance(row, dict))


def asked_to_wait(answer: requests.Response) -> float | None:
    """Return how many seconds an answer asks us to wait; None where it does not."""
    said = answer.headers.get("Retry-After", "").strip()[:64]
    if said.isascii() and said.isdigit():
        return float(said[:9])
    try:
        return max(0.0, (parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        pass
    reset = answer.headers.get("X-RateLimit-Reset", "")  # GitHub's: epoch seconds, once nothing remains
    if answer.headers.get("X-RateLimit-Remaining") == "0" and reset.isascii() and reset.isdigit():
        return max(0.0, float(reset[:12]) - time.time())
    return None


def _words(raw: bytes) -> str:
    """Return what a tracker says itself, as a part of a sentence."""
    said = " ".join(printable(raw[: SHOWN * 4].decode("utf-8", "replace")).split())[:SHOWN]
    return f": {said}" if said else ""


def _reason(error: Exception) -> str:
    """Return why a request failed, without what requests and urllib3 wrap around it."""
    wrapped = error.args[0] if error.args else error
    reason = getattr(wrapped, "reason", wrapped)
    last = reason.args[-1] if isinstance(reason, Exception) and len(reason.args) > 1 else reason
    return printable(str(last))[:SHOWN]


class SessionTracker:
    """A tracker behind one session, which is closed when it is left."""

    _wire: TrackerSession

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._wire.__exit__()
