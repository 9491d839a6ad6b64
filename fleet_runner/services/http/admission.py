"""Who shows a token that is good: as a bearer, as a password, in a header of a BMC's, or as a Redfish context."""

import asyncio
import binascii
import hmac
import secrets
from base64 import b64decode
from collections.abc import Callable, Container
from hashlib import sha256

from fleet_runner.core.faults.signals.tokens import Token
from fleet_runner.services.http.requests import Request

PREFIX = "frs_"
"""How a token begins, so that one that leaked is known for what it is."""

LONGEST = 256
"""Bytes of a token, or of the header that carries it."""

FRESH_SECONDS, UNKNOWN_SECONDS = 1.0, 0.1
"""The longest a token goes on after it was revoked, and one that was just made is not known."""

NO_TOKEN, WRONG, OTHER_SCOPE = "no token", "wrong token", "token of another scope"


def make() -> tuple[str, str]:
    """Return a new token, and what is kept of it: its digest."""
    token = PREFIX + secrets.token_urlsafe(32)
    return token, digest(token.encode())


def digest(token: bytes) -> str:
    """Return what is kept of a token; whoever reads that learns nothing that opens anything."""
    return sha256(token).hexdigest()


def shown(request: Request) -> bytes:
    """Return the token that a request's headers show, b"" for none."""
    given = request.header(b"authorization")
    scheme, _, value = given[:LONGEST].partition(b" ")
    if len(given) > LONGEST:
        return b""
    match scheme.lower():
        case b"bearer":
            return value.strip()
        case b"basic":
            return _password(value.strip())
        case _:
            return request.header(b"x-auth-token")[:LONGEST]


class Admission:
    """The tokens of a store as they were at most a second ago."""

    def __init__(self, read: Callable[[], tuple[Token, ...]], steady: Callable[[], float]) -> None:
        self._read = read
        self._steady = steady
        self._known: dict[str, Token] = {}
        self._read_at = float("-inf")
        self._reading = asyncio.Lock()

    async def admit(self, token: bytes, scopes: Container[str], now: float) -> Token | str:
        """Return what a token lets its holder do, or in a word why nothing.

        Raises:
            StoreError: the store has to be asked and cannot be read.
        """
        if not token:
            return NO_TOKEN
        if len(token) > LONGEST:
            return WRONG
        asked = digest(token)
        await self._refresh(FRESH_SECONDS)
        if asked not in self._known:
            await self._refresh(UNKNOWN_SECONDS)
        # A lookup by digest tells by its time nothing of a token; the comparison does not, either.
        found = self._known.get(asked)
        if found is None or not hmac.compare_digest(found.digest, asked):
            return WRONG
        if found.scope not in scopes:
            return OTHER_SCOPE
        ended = found.refusal(now)
        return f"{ended} token" if ended else found

    async def _refresh(self, seconds: float) -> None:
        """Read the tokens, unless that was less than so many seconds ago."""
        async with self._reading:
            if self._steady() - self._read_at < seconds:
                return
            began = self._steady()
            self._known = {token.digest: token for token in await asyncio.to_thread(self._read)}
            self._read_at = began


def _password(value: bytes) -> bytes:
    try:
        return b64decode(value, validate=True).partition(b":")[2]
    except (binascii.Error, ValueError):
        return b""
