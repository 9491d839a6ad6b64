"""What all processes of this machine know of refused BMC credentials, so that together they ask only once.

A few wrong passwords lock a BMC's account for everybody. For each BMC there is one file, and a lock beside it that is
held while somebody logs in: of a hundred processes that start at once with a wrong password, one asks. The file holds
a salted fingerprint of what was refused, never a password. Other credentials are tried at once; the same ones again
when a person removes the file, or once, by one process, after a pause that doubles with each refusal.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import secrets
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from fleet_runner.core.base.errors import BmcError

FIRST_PAUSE, MOST_PAUSE = 300.0, 21_600.0
"""Seconds for which refused credentials are left alone: accounts unlock after minutes, and a BMC that has just
restarted may refuse right ones for a while."""

LOCK_PAUSE = 0.02
MOST_REFUSED = 8
"""How many different refused credentials are remembered for one BMC."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Credentials that a BMC refused: how often in a row, when last, until when nobody tries them (epoch seconds)."""

    salt: str
    fingerprint: str
    times: int
    at: float
    until: float


class Breaker:
    """The refusals of one BMC, by its URL, and of one user name and password."""

    def __init__(self, folder: Path, url: str, user: tuple[str, str]) -> None:
        name = hashlib.sha256(url.encode()).hexdigest()[:32]
        self.file = folder / f"{name}.json"
        self._url = url
        self._user = user

    @contextlib.contextmanager
    def trial(self, seconds: float) -> Iterator["Trial"]:
        """Let the caller try the credentials, alone; wait at most so many seconds for another who does.

        Raises:
            BmcError: the BMC refused them before, and it is too early to try again.
        """
        with self._locked(seconds):
            trial = Trial(self)
            trial.begin()
            yield trial

    def mine(self) -> Refusal | None:
        """Return the refusal of these credentials; None where there is none."""
        return next((each for each in self.read() if each.fingerprint == self._fingerprint(each.salt)), None)

    def read(self) -> list[Refusal]:
        """Return every refusal of this BMC; none where the file is not what we wrote."""
        try:
            return [Refusal(**each) for each in json.loads(self.file.read_text("utf-8"))["refused"]]
        except (OSError, ValueError, KeyError, TypeError):
            return []

    def keep(self, refusal: Refusal | None, instead_of: Refusal | None) -> None:
        """Write a refusal in place of an older one; without any left the file is removed."""
        others = [each for each in self.read() if instead_of is None or each.salt != instead_of.salt]
        refused = [*others, *([refusal] if refusal else [])][-MOST_REFUSED:]
        with self._writing():
            if not refused:
                self.file.unlink(missing_ok=True)
                return
            text = json.dumps({"url": self._url, "refused": [asdict(each) for each in refused]}, indent=1)
            descriptor, new = tempfile.mkstemp(dir=self.file.parent, prefix=".new-")  # 0600
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            Path(new).replace(self.file)

    def refusal(self, before: Refusal | None, now: float) -> Refusal:
        """Return what is to be remembered once the credentials are refused now."""
        salt = before.salt if before else secrets.token_hex(16)
        times = before.times + 1 if before else 1
        pause = min(FIRST_PAUSE * 2 ** min(times - 1, 20), MOST_PAUSE)
        return Refusal(salt, before.fingerprint if before else self._fingerprint(salt), times, now, now + pause)

    def told(self, refusal: Refusal) -> str:
        """Say why nobody asks."""
        until = datetime.fromtimestamp(refusal.until, UTC).strftime("%Y-%m-%d %H:%M UTC")
        return (
            f"{self._url} refused the BMC credentials (401); do not retry, more tries lock the account: correct them"
            f" ({refusal.times} refused so far; remove {self.file} to have them tried before {until})"
        )

    def _fingerprint(self, salt: str) -> str:
        secret = "\0".join(self._user).encode("utf-8", "surrogatepass")
        return hashlib.scrypt(secret, salt=salt.encode(), n=2**14, r=8, p=1).hex()

    @contextlib.contextmanager
    def _locked(self, seconds: float) -> Iterator[None]:
        with self._writing():
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self.file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            deadline = time.monotonic() + seconds
            while not _taken(handle):
                if time.monotonic() > deadline:
                    raise BmcError(f"{self._url}: another process has been logging in for {seconds:.0f} s; try again")
                time.sleep(LOCK_PAUSE)
            yield
        finally:
            os.close(handle)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            where = self.file.parent
            raise BmcError(
                f"{self._url} was not asked: {where}, where refused credentials are noted, is unusable"
                f" ({error.strerror}); correct it"
            ) from error


class Trial:
    """One try of credentials, while no other process of this machine tries any at this BMC."""

    def __init__(self, breaker: Breaker) -> None:
        self._breaker = breaker
        self._before: Refusal | None = None

    def begin(self) -> None:
        """Find that the credentials may be tried; a second try is written down before it is made."""
        self._before = self._breaker.mine() if self._breaker.file.exists() else None
        if self._before is None:
            return
        now = time.time()
        # A clock that was set back must not keep everybody out for longer than the longest pause.
        if now < self._before.until and self._before.until - now <= MOST_PAUSE:
            raise BmcError(self._breaker.told(self._before))
        again = self._breaker.refusal(self._before, now)
        self._breaker.keep(again, self._before)
        self._before = replace(again, times=self._before.times)

    def accepted(self) -> None:
        """Forget that these credentials were ever refused."""
        if self._before is not None:
            self._breaker.keep(None, self._before)

    def refused(self) -> Refusal:
        """Remember that they are refused."""
        refusal = self._breaker.refusal(self._before, time.time())
        self._breaker.keep(refusal, self._before)
        return refusal


def _taken(handle: int) -> bool:
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
