"""Who may ask: sessions, Basic passwords, and accounts that are locked after too many wrong ones."""

import base64
import hmac
import secrets
import time
from dataclasses import dataclass

from fleet_runner.lab.redfish.chip import Chip
from fleet_runner.lab.redfish.trees import Body
from fleet_runner.lab.redfish.wire import Refused, Reply, Request

SECONDS = 1800.0
"""How long a session lives without a request, where the tree does not say."""


@dataclass(slots=True)
class Session:
    """An open session; `used` is by the monotonic clock."""

    number: str
    user: str
    used: float
    persistent: bool = True


class Gate:
    """The accounts of one BMC; one user, with one password."""

    def __init__(self, chip: Chip, credentials: tuple[str, str]) -> None:
        self._chip = chip
        self._user, self._password = credentials
        self._sessions: dict[str, Session] = {}  # by token
        self._wrong: dict[str, list[float]] = {}
        self._locked: dict[str, float] = {}
        self._opened = 0

    def enter(self, request: Request) -> None:
        """Let a request in that proves who it is; raise Refused for any other."""
        self._expire()
        token = request.headers.get("x-auth-token")
        if token is not None:
            session = self._sessions.get(token)
            if session is None:
                raise _unknown("the session is not known, or has run out", "NoValidSession")
            session.used = time.monotonic()
            request.user, request.token = session.user, token
            return
        kind, _, text = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "basic":
            raise _unknown("neither a session nor a password was given", "NoValidSession")
        try:
            user, _, password = base64.b64decode(text).decode().partition(":")
        except ValueError:
            raise _unknown("the password cannot be read", "NoValidSession") from None
        self._check(user, password)
        request.user = user

    async def log_in(self, request: Request) -> Reply:
        """Open a session."""
        said = await request.json()
        user, password = said.get("UserName"), said.get("Password")
        if not isinstance(user, str) or not isinstance(password, str):
            raise Refused(400, "UserName and Password are expected", "PropertyMissing")
        self._expire()
        self._check(user, password)
        if len(self._sessions) >= self._chip.habits.sessions:
            raise Refused(503, "the number of open sessions is at its limit", "SessionLimitExceeded")
        self._opened += 1
        token, number = secrets.token_hex(16), str(self._opened)
        self._chip.emit("login", user=user, session=number)
        self._sessions[token] = Session(number, user, time.monotonic())
        uri = f"{self._chip.tree.sessions}/{number}"
        return Reply(201, self.body(uri), {"Location": uri, "X-Auth-Token": token})

    def log_out(self, uri: str) -> Reply:
        """End a session."""
        token = self._token(uri)
        if token is None:
            raise Refused(404, f"there is no session {uri}", "ResourceMissingAtURI")
        self._end(token, "client")
        return Reply(204)

    def forget(self, why: str) -> None:
        """End every session, as a restart does."""
        for token in list(self._sessions):
            self._end(token, why)

    def listed(self) -> list[str]:
        """Return the URIs of the open sessions."""
        return [f"{self._chip.tree.sessions}/{session.number}" for session in self._sessions.values()]

    def body(self, uri: str) -> Body | None:
        """Return a session, None where there is none."""
        token = self._token(uri)
        if token is None:
            return None
        session = self._sessions[token]
        return {
            "@odata.id": uri,
            "@odata.type": "#Session.v1_2_1.Session",
            "Id": session.number,
            "Name": "User Session",
            "UserName": session.user,
        }

    def _token(self, uri: str) -> str | None:
        head, _, number = uri.rpartition("/")
        if head != self._chip.tree.sessions:
            return None
        return next((token for token, session in self._sessions.items() if session.number == number), None)

    def _end(self, token: str, why: str) -> None:
        session = self._sessions[token]
        self._chip.emit("logout", session=session.number, user=session.user, why=why)
        del self._sessions[token]

    def _expire(self) -> None:
        said = self._chip.tree.get(self._chip.tree.session_service).get("SessionTimeout")
        seconds = self._chip.pace.session or (float(said) if isinstance(said, int) else SECONDS)
        now = time.monotonic()
        for token, session in list(self._sessions.items()):
            if now - session.used > seconds:
                self._end(token, "timeout")

    def _check(self, user: str, password: str) -> None:
        now = time.monotonic()
        if now < self._locked.get(user, 0.0):
            self._chip.emit("login_refused", user=user, why="locked")
            raise _unknown("the account is locked", "ResourceAtUriUnauthorized")
        refused = self._chip.rules.fire("login").get("refuse_login")
        if refused is not None:
            self._chip.emit("login_refused", user=user, why="rule")
            raise Refused(int(refused["status"]), "the login is refused", "ResourceAtUriUnauthorized")
        right = hmac.compare_digest(user.encode(), self._user.encode())
        if not (hmac.compare_digest(password.encode(), self._password.encode()) and right):
            self._chip.emit("login_refused", user=user, why="wrong")
            self._count(user, now)
            raise _unknown("the user name or the password is wrong", "ResourceAtUriUnauthorized")
        self._wrong.pop(user, None)

    def _count(self, user: str, now: float) -> None:
        """Count a wrong password, and lock the account at the one too many."""
        service = self._chip.tree.get(self._chip.tree.account_service)
        most = int(service.get("AccountLockoutThreshold") or 0)
        seconds = self._chip.pace.lockout
        seconds = float(service.get("AccountLockoutDuration") or 0) if seconds is None else seconds
        window = float(service.get("AccountLockoutCounterResetAfter") or seconds)
        self._wrong[user] = [*(at for at in self._wrong.get(user, []) if now - at < window), now]
        if most and len(self._wrong[user]) >= most:
            self._locked[user] = now + seconds
            del self._wrong[user]


def _unknown(message: str, code: str) -> Refused:
    return Refused(401, message, code, WWW_Authenticate='Basic realm="bmc"')
