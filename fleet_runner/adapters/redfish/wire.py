"""Requests to one BMC as its user: a session of its own, opened once and closed, and one try with a password."""

import contextlib
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, NoReturn

from fleet_runner.adapters.redfish.credential_breaker import Breaker, Trial
from fleet_runner.adapters.redfish.exchange import Exchange, Limits, Reply, words
from fleet_runner.core.base.errors import BmcError

ROOT = "/redfish/v1"
SESSIONS = f"{ROOT}/SessionService/Sessions"
DONE = frozenset({HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.ACCEPTED, HTTPStatus.NO_CONTENT})
NO_SESSIONS = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED,
                         HTTPStatus.NOT_IMPLEMENTED, HTTPStatus.SERVICE_UNAVAILABLE})  # fmt: skip
"""Answers to opening a session that say nothing about the password: no such service, or no session left."""

ELSEWHERE = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED})
"""Answers where there may be no sessions; an address that is none may want a login like any other."""


class Connection:
    """A connection to the BMC at `url`; it logs in when it first must, and logs out when it is closed.

    With a breaker, what the BMC refused is known to every process of this machine; else to this object alone.
    """

    def __init__(
        self,
        url: str,
        user: tuple[str, str],
        *,
        verify: bool | str,
        limits: Limits,
        breaker: Breaker | None = None,
    ) -> None:
        self.exchange = Exchange(url, verify=verify, limits=limits)
        self.url = self.exchange.url
        self.alive: Callable[[], None] = _at_ease
        self._user = user
        self._breaker = breaker
        self._token = ""
        self._opened = ""  # the session's own URI
        self._basic = False
        self._refused = ""

    def begin(self) -> None:
        """Start the clock of one call."""
        self.exchange.begin()

    def close(self) -> None:
        """Log out, because a BMC has few sessions, and end the connection."""
        if self._opened:
            self.begin()
            with contextlib.suppress(BmcError):
                self._send("DELETE", self._opened)
        self.forget()

    def forget(self) -> None:
        """Forget the session, and the connection: the BMC has forgotten them, as one that restarts does."""
        self._opened = self._token = ""
        self.exchange.close()

    def own(self, uri: object, *, anywhere: bool = False) -> str:
        """Return a URI that the BMC named if it is its own."""
        return self.exchange.own(uri, anywhere=anywhere)

    def get(self, uri: str) -> Reply:
        """Read a resource; a status that is not 200 is returned, not raised."""
        reply = self.ask("GET", uri)
        if reply.status == HTTPStatus.OK and not _is_redfish(reply.body):
            raise BmcError(f"{self.url}{uri} answered with something that is not Redfish; check that it is a BMC")
        return reply

    def ask(self, method: str, uri: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Reply:
        """Send one request as the user; a session that ran out is opened again once. `alive` may raise before it."""
        self.alive()
        if not self.headers():
            with self._trial() as trial:
                self._log_in(trial)
                if not self._token:  # without sessions the request itself is the try
                    return self._tried(trial, method, uri, body, headers)
        reply = self._send(method, uri, body, headers)
        if reply.status != HTTPStatus.UNAUTHORIZED:
            return reply
        with self._trial() as trial:
            if self._basic:
                self._refuse(trial)
            self.forget()
            self._log_in(trial)
        reply = self._send(method, uri, body, headers)
        if reply.status == HTTPStatus.UNAUTHORIZED:
            raise BmcError(f"{self.url}{uri} answered 401 to a session that was just opened; look at the BMC's users")
        return reply

    def ask_once(self, method: str, uri: str, body: Any = None) -> Reply:
        """Send one request as the user, and not again whatever comes back; a read before it opens the session."""
        return self._send(method, uri, body)

    def headers(self) -> dict[str, str]:
        """Return what proves to the BMC who asks."""
        if self._token:
            return {"X-Auth-Token": self._token}
        if self._basic:
            return {"Authorization": f"Basic {b64encode(':'.join(self._user).encode()).decode()}"}
        return {}

    def _send(self, method: str, uri: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Reply:
        return self.exchange.send(method, uri, body, {**(headers or {}), **self.headers()})

    @contextlib.contextmanager
    def _trial(self) -> Iterator[Trial | None]:
        """Let nobody else log in meanwhile, and nobody at all with what the BMC has refused."""
        if self._refused:
            raise BmcError(self._refused)
        if self._breaker is None:
            yield None
            return
        with self._breaker.trial(self.exchange.left()) as trial:
            yield trial

    def _log_in(self, trial: Trial | None) -> None:
        reply = self._open(SESSIONS)
        if reply.status in ELSEWHERE and (named := self._sessions()) != SESSIONS:
            reply = self._open(named)
        token = reply.headers.get("X-Auth-Token", "")
        if reply.status in DONE and token:
            self._opened = self.exchange.located(reply.headers.get("Location") or (reply.body or {}).get("@odata.id"))
            self._token = token
            _accept(trial)
        elif reply.status in DONE or (reply.status in NO_SESSIONS and not _starting(reply)):
            self._basic = True
        elif reply.status == HTTPStatus.UNAUTHORIZED:
            self._refuse(trial)
        else:
            raise BmcError(f"{self.url} answered {reply.status} to a login: {words(reply.body)}; look at the BMC")

    def _open(self, sessions: str) -> Reply:
        """Ask for a session where a BMC may have them."""
        user, password = self._user
        return self.exchange.patient("POST", sessions, {"UserName": user, "Password": password})

    def _sessions(self) -> str:
        """Return where the service root, which anybody may read, says that sessions are: older iDRACs' lie apart."""
        with contextlib.suppress(BmcError):
            links = (self.exchange.send("GET", ROOT, None, {}).body or {}).get("Links")
            named = links.get("Sessions") if isinstance(links, Mapping) else None
            return self.own(named.get("@odata.id")).rstrip("/") if isinstance(named, Mapping) else SESSIONS
        return SESSIONS

    def _tried(self, trial: Trial | None, *request: Any) -> Reply:
        reply = self._send(*request)
        if reply.status == HTTPStatus.UNAUTHORIZED:
            self._refuse(trial)
        _accept(trial)
        return reply

    def _refuse(self, trial: Trial | None) -> NoReturn:
        self._token, self._basic = "", False
        if trial is not None and self._breaker is not None:  # it says from now on who may try, and when
            raise BmcError(self._breaker.told(trial.refused()))
        self._refused = (
            f"{self.url} refused the BMC credentials (401); do not retry, more tries lock the account: correct them"
        )
        raise BmcError(self._refused)


def _at_ease() -> None:
    """Nobody has to be alive."""


def _accept(trial: Trial | None) -> None:
    if trial is not None:
        trial.accepted()


def _starting(reply: Reply) -> bool:
    """Tell if a 503 is a web server's whose Redfish service is not up yet: it would refuse right passwords, too."""
    return reply.status == HTTPStatus.SERVICE_UNAVAILABLE and not isinstance((reply.body or {}).get("error"), dict)


def _is_redfish(body: Mapping[str, Any] | None) -> bool:
    return body is not None and ("@odata.id" in body or "@odata.type" in body)
