"""HTTP with one BMC: a session of its own, hard limits on time and size, one try with a password.

A BMC is slow, restarts, and locks an account after a few wrong passwords; what it sends is not trusted.
"""

import contextlib
import ipaddress
import json
import time
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

import requests

from fleet_runner.core.errors import BmcError

ROOT = "/redfish/v1"
SESSIONS = f"{ROOT}/SessionService/Sessions"
DONE = frozenset({HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.ACCEPTED, HTTPStatus.NO_CONTENT})
REDIRECTS = frozenset({301, 302, 307, 308})
MOST_REDIRECTS = 3
CHUNK_BYTES = 65_536
NO_SESSIONS = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED,
                         HTTPStatus.NOT_IMPLEMENTED, HTTPStatus.SERVICE_UNAVAILABLE})  # fmt: skip
"""Answers to opening a session that say nothing about the password: no such service, or no session left."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how much: seconds to connect, between two bytes, for one call in all; bytes of one body."""

    connect_seconds: float = 5.0
    read_seconds: float = 30.0
    total_seconds: float = 120.0
    body_bytes: int = 8_000_000


class Reply(NamedTuple):
    """What came back: the status, the headers that matter, and the body where it is a JSON object."""

    status: int
    headers: Mapping[str, str]
    body: dict[str, Any] | None


class Wire:
    """A connection to the BMC at `url`; it logs in when it first must, and logs out when it is closed."""

    def __init__(self, url: str, user: tuple[str, str], *, verify: bool, limits: Limits) -> None:
        self.url = _checked(url, verify=verify)
        self._user = user
        self._limits = limits
        self._deadline = time.monotonic() + limits.total_seconds
        self._session = requests.Session()
        self._session.trust_env = False  # no proxy and no .netrc stands between us and a BMC
        self._session.verify = verify
        self._token = ""
        self._opened = ""  # the session's own URI
        self._basic = False
        self._refused = ""

    def begin(self) -> None:
        """Start the clock of one call."""
        self._deadline = time.monotonic() + self._limits.total_seconds

    def close(self) -> None:
        """Log out, because a BMC has few sessions, and end the connection."""
        if self._opened:
            self.begin()
            with contextlib.suppress(BmcError):
                self._send("DELETE", self._opened)
        self._opened = self._token = ""
        self._session.close()

    def get(self, uri: str) -> Reply:
        """Read a resource; a status that is not 200 is returned, not raised."""
        reply = self.ask("GET", uri)
        if reply.status == HTTPStatus.OK and not _is_redfish(reply.body):
            raise BmcError(f"{self.url}{uri} answered with something that is not Redfish; check that it is a BMC")
        return reply

    def ask(self, method: str, uri: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Reply:
        """Send one request as the user; a session that ran out is opened again once."""
        if not (self._token or self._basic):
            self._log_in()
        had = self._token
        reply = self._send(method, uri, body, headers)
        if reply.status == HTTPStatus.UNAUTHORIZED and had and self._opened:
            self._token = self._opened = ""
            self._log_in()
            reply = self._send(method, uri, body, headers)
        if reply.status == HTTPStatus.UNAUTHORIZED:
            self._refuse()
        return reply

    def own(self, uri: object) -> str:
        """Return a URI that the BMC named if it is its own; another server is never asked in its name."""
        if isinstance(uri, str):
            with contextlib.suppress(ValueError):  # brackets that are no IPv6 address
                split = urlsplit(urljoin(self.url, uri))
                if f"{split.scheme}://{split.netloc}" == self.url and split.path.startswith("/redfish"):
                    return split.path + (f"?{split.query}" if split.query else "")
        raise BmcError(f"{self.url} points to {str(uri)[:120]!r}, which is not its own; it was not followed")

    def _log_in(self) -> None:
        if self._refused:
            raise BmcError(self._refused)
        user, password = self._user
        reply = self._send("POST", SESSIONS, {"UserName": user, "Password": password})
        token = reply.headers.get("X-Auth-Token", "")
        if reply.status in DONE and token:
            self._token = token
            self._opened = self.own(reply.headers.get("Location") or (reply.body or {}).get("@odata.id"))
        elif reply.status in DONE or reply.status in NO_SESSIONS:
            self._basic = True
        elif reply.status == HTTPStatus.UNAUTHORIZED:
            self._refuse()
        else:
            raise BmcError(f"{self.url} answered {reply.status} to a login: {words(reply.body)}; read its event log")

    def _refuse(self) -> None:
        self._token, self._basic = "", False
        self._refused = (
            f"{self.url} refused the BMC credentials (401); do not retry, more tries lock the account: "
            "correct the file that bmc_credentials names"
        )
        raise BmcError(self._refused)

    def _send(self, method: str, uri: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Reply:
        where = self.own(uri)
        for _ in range(MOST_REDIRECTS + 1):
            reply = self._once(method, where, body, headers or {})
            if reply.status not in REDIRECTS or method != "GET":
                return reply
            where = self.own(urljoin(self.url + where, reply.headers.get("Location", "")))
        raise BmcError(f"{self.url}{uri} redirects more than {MOST_REDIRECTS} times; look at the BMC")

    def _once(self, method: str, uri: str, body: Any, headers: Mapping[str, str]) -> Reply:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise BmcError(f"{self.url} took more than {self._limits.total_seconds:g} s in all; try again later")
        sent = {"Accept": "application/json", "Accept-Encoding": "identity", "OData-Version": "4.0", **headers}
        if self._token:
            sent["X-Auth-Token"] = self._token
        if self._basic:
            sent["Authorization"] = f"Basic {b64encode(':'.join(self._user).encode()).decode()}"
        wait = (min(self._limits.connect_seconds, left), min(self._limits.read_seconds, left))
        try:
            with self._session.request(
                method, self.url + uri, json=body, headers=sent, timeout=wait, stream=True,
                allow_redirects=False,
            ) as answer:  # fmt: skip
                text = self._body(answer, uri)
                return Reply(answer.status_code, MappingProxyType(dict(_title(answer.headers))), _object(text))
        except (requests.RequestException, ValueError) as error:  # a tag or a token that no header can carry
            raise BmcError(f"{self.url}{uri}: {_why(error, method)}") from None

    def _body(self, answer: requests.Response, uri: str) -> bytes:
        text = bytearray()
        for chunk in answer.iter_content(CHUNK_BYTES):
            text += chunk
            if len(text) > self._limits.body_bytes:
                raise BmcError(f"{self.url}{uri} sent more than {self._limits.body_bytes} bytes; it was cut off")
            if time.monotonic() > self._deadline:
                raise BmcError(f"{self.url}{uri} sent slower than {self._limits.total_seconds:g} s; try again later")
        return bytes(text)


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
    if split.scheme == "http" and verify and not _is_loopback(split.hostname):
        raise BmcError(f"{url} would send the password unencrypted; use https, or set bmc_insecure")
    return f"{split.scheme}://{split.netloc}"


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def _title(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    wanted = ("X-Auth-Token", "Location", "ETag", "Date")
    return [(name, headers[name]) for name in wanted if name in headers]


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _is_redfish(body: Mapping[str, Any] | None) -> bool:
    return body is not None and ("@odata.id" in body or "@odata.type" in body)


def _why(error: Exception, method: str) -> str:
    match error:
        case requests.exceptions.SSLError():
            return "its certificate is not trusted; install its CA, or set bmc_insecure"
        case requests.exceptions.ConnectTimeout():
            return "no answer to a connection; check the BMC's power and network"
        case requests.exceptions.ReadTimeout() if method == "GET":
            return "connected, but no answer in time; try again later"
        case requests.exceptions.ReadTimeout():
            return "no answer in time, so whether it was carried out is unknown; read the state before anything else"
        case _:
            return f"the connection failed ({type(error).__name__}); check the BMC's power and network"
