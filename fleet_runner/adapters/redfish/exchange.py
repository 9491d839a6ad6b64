"""One HTTP request to a BMC and its answer, within hard limits on time and size. What a BMC sends is not trusted."""

import contextlib
import ipaddress
import json
import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from urllib3.exceptions import InsecureRequestWarning, NameResolutionError, NewConnectionError

from fleet_runner.adapters.redfish.time_limits import PatientAdapter
from fleet_runner.core.base.errors import BmcError, BmcRefused

CHUNK_BYTES = 65_536
REDIRECTS = frozenset({301, 302, 307, 308})
MOST_REDIRECTS = 3
PASSING = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE,
                     HTTPStatus.GATEWAY_TIMEOUT})  # fmt: skip
"""Answers of a BMC that is busy or restarts; a read is tried again."""

KEPT = ("X-Auth-Token", "Location", "ETag", "Date", "Retry-After")


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how much: seconds to connect, between two bytes, for one call in all; bytes of one body.

    `retries` is how often the reads of one call are tried again in all, `pause_seconds` the first pause before that.
    """

    connect_seconds: float = 5.0
    read_seconds: float = 30.0
    total_seconds: float = 120.0
    body_bytes: int = 8_000_000
    retries: int = 3
    pause_seconds: float = 0.5
    most_pause_seconds: float = 5.0


class Reply(NamedTuple):
    """What came back: the status, the headers that matter, and the body where it is a JSON object."""

    status: int
    headers: Mapping[str, str]
    body: dict[str, Any] | None


class Exchange:
    """Requests to the BMC at `url`, over one connection that is kept.

    `verify` says if its certificate must be trusted: by the usual authorities, or by those in a file alone.
    """

    def __init__(self, url: str, *, verify: bool | str, limits: Limits) -> None:
        self.url = _checked(url, verify=bool(verify))
        self.limits = limits
        self.verify = verify
        self._session = requests.Session()
        self._session.trust_env = False  # no proxy and no .netrc stands between us and a BMC
        self._session.verify = verify
        for scheme in ("https://", "http://"):
            self._session.mount(scheme, PatientAdapter(self._wait))
        if verify is False:  # said once, in the settings
            urllib3.disable_warnings(InsecureRequestWarning)
        self.begin()

    def begin(self) -> None:
        """Start the clock of one call."""
        self._deadline = time.monotonic() + self.limits.total_seconds
        self._retries = self.limits.retries

    @contextlib.contextmanager
    def impatient(self) -> Iterator[None]:
        """Try nothing again meanwhile."""
        kept, self._retries = self._retries, 0
        try:
            yield
        finally:
            self._retries = kept

    def left(self) -> float:
        """Return the seconds that this call has left; one that has none must end."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise BmcError(f"{self.url} took more than {self.limits.total_seconds:g} s in all; try again later")
        return left

    def _wait(self, again: bool) -> float:  # noqa: FBT001  as `patience.Wait` has it
        """Return how long the next bytes of an answer are waited for, within the time that this call has left."""
        left = self._deadline - time.monotonic()
        if again or left <= 0:
            raise TimeoutError(f"no more bytes in {self.limits.read_seconds:g} s")
        return min(self.limits.read_seconds, left)

    def close(self) -> None:
        """End the connection."""
        self._session.close()

    def pin(self, fingerprint: str) -> None:
        """Trust from now on whoever shows the certificate of a SHA-256 (64 hex digits), and nobody else."""
        if not self.url.startswith("https://"):
            raise BmcError(f"{self.url} has no certificate; use https, or leave the fingerprint out")
        self._session.mount("https://", PatientAdapter(self._wait, fingerprint))

    def own(self, uri: object, *, anywhere: bool = False) -> str:
        """Return a URI that the BMC named if it is its own; another server is never asked in its name.

        `anywhere` also lets pass what lies outside of /redfish, as some vendors' uploads and registries do. One with
        control characters would harm whoever reads it.
        """
        if isinstance(uri, str) and uri.isprintable():
            with contextlib.suppress(ValueError):  # brackets that are no IPv6 address
                split = urlsplit(urljoin(self.url, uri))
                inside = split.path.startswith("/" if anywhere else "/redfish")
                if f"{split.scheme}://{split.netloc}" == self.url and inside:
                    return split.path + (f"?{split.query}" if split.query else "")
        raise BmcError(f"{self.url} points to {str(uri)[:120]!r}, which is not its own; it was not followed")

    def located(self, uri: object) -> str:
        """Return what a Location header names, as a path of this BMC: some give themselves a name of their own."""
        try:
            split = urlsplit(urljoin(self.url, uri if isinstance(uri, str) else ""))
        except ValueError:  # brackets that are no IPv6 address
            return ""
        return split.path + (f"?{split.query}" if split.query else "")

    def send(self, method: str, uri: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Reply:
        """Send a request. Only a read follows redirects, and is tried again while the BMC is busy or restarts."""
        if method != "GET":
            return self.once(method, uri, body, headers)
        where = uri
        for _ in range(MOST_REDIRECTS + 1):
            reply = self.patient(method, where, None, headers)
            if reply.status not in REDIRECTS:
                return reply
            where = self.own(urljoin(self.url + where, reply.headers.get("Location", "")), anywhere=True)
        raise BmcError(f"{self.url}{uri} redirects more than {MOST_REDIRECTS} times; look at the BMC")

    def patient(self, method: str, uri: str, body: Any, headers: Mapping[str, str] | None = None) -> Reply:
        """Send a request again as long as it cannot have done anything: a read, or one that reached nobody."""
        reads = method == "GET"
        for tried in range(self.limits.retries + 1):
            last = self._retries <= 0 or tried == self.limits.retries
            try:
                reply = self.once(method, uri, body, headers)
            except DroppedError as error:
                if last or not (reads or isinstance(error, NoConnectionError)) or not self._paused(tried, ""):
                    raise
            else:
                passing = reads and reply.status in PASSING
                if last or not passing or not self._paused(tried, reply.headers.get("Retry-After", "")):
                    return reply
        raise AssertionError  # the last try returns or raises

    def _paused(self, tried: int, told: str) -> bool:
        """Wait before the next try; False where this call has no time for it."""
        pause = min(self.limits.pause_seconds * 2**tried, self.limits.most_pause_seconds) * random.uniform(0.5, 1.5)
        if told.isdecimal():
            pause = min(max(pause, float(told[:6])), self.limits.most_pause_seconds)
        if self._deadline - time.monotonic() <= pause:
            return False
        self._retries -= 1
        time.sleep(pause)
        return True

    def once(self, method: str, uri: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Reply:
        """Send a request, and not again."""
        left = self.left()
        sent = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "OData-Version": "4.0",
            **(headers or {}),
        }
        wait = (min(self.limits.connect_seconds, left), min(self.limits.read_seconds, left))
        try:
            with self._session.request(
                method, self.url + uri, json=body, headers=sent, timeout=wait, stream=True,
                allow_redirects=False,
            ) as answer:  # fmt: skip
                return reply(answer.status_code, answer.headers, self._body(answer, uri))
        except (requests.RequestException, ValueError) as error:  # a tag or a token that no header can carry
            late = method == "GET" and time.monotonic() >= self._deadline
            why = f"slower than {self.limits.total_seconds:g} s; try again later" if late else _why(error, method)
            raise _kind(error)(f"{self.url}{uri}: {why}") from None

    def _body(self, answer: requests.Response, uri: str) -> bytes:
        text = bytearray()
        for chunk in answer.iter_content(CHUNK_BYTES):
            text += chunk
            if len(text) > self.limits.body_bytes:
                raise BmcError(f"{self.url}{uri} sent more than {self.limits.body_bytes} bytes; it was cut off")
            if time.monotonic() > self._deadline:
                raise BmcError(f"{self.url}{uri} sent slower than {self.limits.total_seconds:g} s; try again later")
        return bytes(text)


class UntrustedError(BmcError):
    """No connection, as the certificate is not trusted or there is no TLS: nothing was sent."""


class DroppedError(BmcError):
    """The connection came to an end without an answer: what was asked may have been done."""


class NoAnswerError(BmcError):
    """There was no answer in time: what was asked may have been done."""


class NoConnectionError(BmcRefused, DroppedError):
    """There was no connection at all."""


def reply(status: int, headers: Mapping[str, str], text: bytes) -> Reply:
    """Return what came back."""
    kept = {name: headers[name] for name in KEPT if name in headers}
    return Reply(status, MappingProxyType(kept), _object(text))


def words(body: Mapping[str, Any] | None) -> str:
    """Return what a Redfish error says, cut and printable; a BMC's words are not trusted."""
    error = (body or {}).get("error")
    if not isinstance(error, dict):
        return "no reason given"
    listed = error.get("@Message.ExtendedInfo")
    first = listed[0] if isinstance(listed, list) and listed else None
    text = (first.get("Message") if isinstance(first, dict) else None) or error.get("message") or "no reason given"
    return "".join(letter for letter in str(text) if letter.isprintable())[:200]


def _checked(url: str, *, verify: bool) -> str:
    split = urlsplit(url)
    if split.scheme not in {"http", "https"} or not split.hostname or split.username or split.path.strip("/"):
        raise BmcError(f"{url!r} is not a BMC's address; expected https://ADDRESS with no user and no path")
    if split.scheme == "http" and verify and not is_loopback(split.hostname):
        raise BmcError(f"{url} would send the password unencrypted; use https, or set bmc_insecure")
    return f"{split.scheme}://{split.netloc}"


def is_loopback(name: str) -> bool:
    """Tell if a name is this machine's own."""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _kind(error: Exception) -> type[BmcError]:
    """Return how certain it is that the BMC did nothing: it does not know what never reached it."""
    if isinstance(_reason(error), NewConnectionError):
        return NoConnectionError
    match error:
        case requests.exceptions.ConnectTimeout():
            return BmcRefused
        case requests.exceptions.ReadTimeout():
            return NoAnswerError
        case requests.exceptions.SSLError():
            return UntrustedError
        case requests.exceptions.ConnectionError() | requests.exceptions.ChunkedEncodingError():
            return DroppedError
        case _:
            return BmcError


def _reason(error: Exception) -> object:
    return getattr(error.args[0], "reason", None) if error.args else None


def _why(error: Exception, method: str) -> str:
    match error:
        case requests.exceptions.SSLError():
            return "its certificate is not trusted; name its CA in bmc_ca, or set bmc_insecure"
        case _ if isinstance(_reason(error), NameResolutionError):
            return "its name was not resolved; check the DNS, or give the device an address"
        case requests.exceptions.ConnectTimeout():
            return "no answer to a connection; check the BMC's power and network"
        case requests.exceptions.ReadTimeout() if method == "GET":
            return "connected, but no answer in time; try again later"
        case requests.exceptions.ReadTimeout():
            return "no answer in time, so whether it was carried out is unknown; read the state before anything else"
        case _:
            refused = isinstance(reason := _reason(error), NewConnectionError) and "refused" in str(reason)
            what = "refused: nothing listens on that port" if refused else type(error).__name__
            return f"the connection failed ({what}); check the BMC's power and network"
