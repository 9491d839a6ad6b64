"""Asks one BMC by `ipmitool`: the password never stands in arguments, a refused one is not tried again."""

import os
import shutil
import subprocess
from typing import NamedTuple
from urllib.parse import urlsplit

from fleet_runner.adapters.redfish.credential_breaker import Breaker, Trial
from fleet_runner.core.base.errors import BmcError, BmcRefused, SettingsError
from fleet_runner.core.base.printable import printable

PORT = 623

TRIES, PACKETS = 3, 3
"""How often a session is tried, and each question within one: all of it is UDP, and a packet may be lost."""

REFUSED = ("RAKP 2 HMAC is invalid", "unauthorized name")
"""What `ipmitool -v` (1.8.19) says of a wrong password, which it finds before it sends it, and of an unknown user."""

NO_SESSION = "Unable to establish"
"""What it says where no session began: nothing was sent then."""

LOCK_SECONDS = 60.0
LONGEST = 200


class Reply(NamedTuple):
    """What a command printed, and how it ended."""

    text: str
    error: str
    status: int


class Ipmitool:
    """One BMC at `ipmi://ADDRESS[:PORT]`, with its user."""

    def __init__(self, url: str, user: tuple[str, str], breaker: Breaker, seconds: float) -> None:
        where = urlsplit(url)
        if not where.hostname:
            raise SettingsError(f"{url} names no BMC, expected ipmi://ADDRESS")
        self.url = url.rstrip("/")
        self._where = (where.hostname, where.port or PORT)
        self._user = user
        self._breaker = breaker
        self._seconds = seconds

    def ask(self, *words: str, once: bool = False) -> str:
        """Return what a command prints. What must not be done twice is sent `once`, whatever becomes of its packet.

        Raises:
            BmcRefused: nothing was done: no session could be begun, or the BMC refused the credentials.
            BmcError: it failed, or did not end in time.
        """
        with self._breaker.trial(LOCK_SECONDS) as trial:
            reply = self._told(trial, words, packets=1 if once else PACKETS)
        if reply.status:
            raise BmcError(f"{self.url}: ipmitool {' '.join(words)} failed: {_last(reply.error or reply.text)}")
        return reply.text

    def _told(self, trial: Trial, words: tuple[str, ...], *, packets: int) -> Reply:
        """Return what came of the first session that began."""
        why = ""
        for _ in range(TRIES):
            reply = self._run(*words, packets=packets)
            if NO_SESSION not in reply.error:
                trial.accepted()
                return reply
            # Why is told with -v alone, which has logs told in another form.
            if any(refused in self._run("-v", "mc", "info", packets=1).error for refused in REFUSED):
                raise BmcRefused(self._breaker.told(trial.refused()))
            why = _last(reply.error)
        raise BmcRefused(f"{self.url} does not answer IPMI: {why}; look at the BMC")

    def _run(self, *words: str, packets: int) -> Reply:
        tool = shutil.which("ipmitool")
        if tool is None:
            raise SettingsError(f"{self.url} is asked by ipmitool, which is not installed here; apt install ipmitool")
        host, port = self._where
        asked = [tool, "-I", "lanplus", "-H", host, "-p", str(port), "-U", self._user[0], "-E", "-N", "2", "-R"]
        told = {"IPMI_PASSWORD": self._user[1], "LC_ALL": "C", "TZ": "UTC", "PATH": os.environ.get("PATH", "")}
        try:
            done = subprocess.run(  # noqa: S603  arguments are ours; no shell
                [*asked, str(packets), *words], env=told, stdin=subprocess.DEVNULL, capture_output=True,
                timeout=self._seconds, check=False, encoding="utf-8", errors="replace",
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise BmcError(
                f"{self.url}: ipmitool {' '.join(words)} did not end within {self._seconds:g} s; look at the BMC"
            ) from None
        return Reply(done.stdout, done.stderr, done.returncode)


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return printable(lines[-1])[:LONGEST] if lines else "it said nothing"
