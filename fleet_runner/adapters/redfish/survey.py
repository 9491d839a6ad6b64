"""Reads of a BMC whatever a look asks for, by GET alone and within limits; what fails is noted."""

import time
from collections.abc import Callable
from contextlib import nullcontext
from http import HTTPStatus

from fleet_runner.adapters.redfish.exchange import DroppedError, Limits, NoAnswerError, Reply, words
from fleet_runner.adapters.redfish.wire import Connection
from fleet_runner.core.base.errors import BmcError, BmcRefused
from fleet_runner.core.bmc.tree import PARTS, ROOT, Part, Tree

LIMITS = Limits(connect_seconds=10.0, read_seconds=30.0, total_seconds=60.0, retries=2)
"""Of one request; a BMC that is busy (503) is asked two times more."""

MOST_REQUESTS = 1500
MOST_SECONDS = 300.0
MOST_FAILURES = 3
"""Requests in a row without any answer after which a BMC is left alone."""

Tell = Callable[[str, int], None]
"""Is told of each request before it is sent: which part it is for, and how many there were."""


class NotRedfishError(BmcError):
    """Something answers there, and it is no Redfish service."""


class _Stopped(Exception):  # noqa: N818  it never leaves this file
    """Nothing more is read; the text says why."""


def survey(connection: Connection, tell: Tell, seconds: float = MOST_SECONDS) -> Tree:
    """Return what a BMC says of its machine, and what could not be read of it.

    Raises:
        BmcError: it cannot be reached, refuses the password, or is no Redfish service: nothing was read at all.
    """
    reading = _Survey(connection, tell, seconds)
    tree = reading.tree
    tree.learn(ROOT, root_of(connection))
    for part in PARTS:
        try:
            reading.part(part)
        except _Stopped as stopped:
            for other in PARTS[PARTS.index(part) :]:
                for uri in tree.wanted(other):
                    tree.lose(uri, str(stopped))
            break
    return tree


def root_of(connection: Connection) -> dict[str, object]:
    """Return the service root, which anybody may read: no password is sent yet.

    Raises:
        NotRedfishError: what answers is none.
    """
    last: Reply | None = None
    for uri in (f"{ROOT}/", ROOT):
        connection.begin()
        last = connection.exchange.send("GET", uri)
        body = last.body or {}
        if last.status == HTTPStatus.OK and ("RedfishVersion" in body or {"Systems", "Chassis"} & set(body)):
            return body
    status = last.status if last else 0
    raise NotRedfishError(
        f"{connection.url} has no Redfish service: {ROOT} answered {status}, expected a service root; check the"
        " address and port, and that Redfish is switched on in the BMC's settings"
    )


class _Survey:
    """One reading: how many requests there were, and how many had no answer at all in a row."""

    def __init__(self, connection: Connection, tell: Tell, seconds: float) -> None:
        self.tree = Tree()
        self._connection = connection
        self._tell = tell
        self._end = time.monotonic() + seconds
        self._seconds = seconds
        self._requests = self._failures = self._busy = 0
        self._answered = False

    def part(self, part: Part) -> None:
        """Read all of a part."""
        while todo := self.tree.wanted(part):
            for uri in todo:
                self._read(uri, part.name)

    def _read(self, uri: str, name: str) -> None:
        if self._requests >= MOST_REQUESTS:
            raise _Stopped(f"the limit of {MOST_REQUESTS} requests was reached")
        if time.monotonic() >= self._end:
            raise _Stopped(f"the BMC took more than {self._seconds:g} s in all")
        if self._failures >= MOST_FAILURES:
            raise _Stopped(f"the BMC gave no answer {MOST_FAILURES} times in a row")
        self._requests += 1
        self._tell(name, self._requests)
        self._connection.begin()
        try:
            # A GPU baseboard answers 503 for each of its resources while the host is off: few of them are waited for.
            with self._connection.exchange.impatient() if self._busy >= MOST_FAILURES else nullcontext():
                reply = self._connection.get(uri)
        except (BmcRefused, DroppedError, NoAnswerError) as error:
            self._failures += 1
            self._lose(uri, error)
        except BmcError as error:
            self._lose(uri, error)
        else:
            self._take(uri, reply)

    def _lose(self, uri: str, error: BmcError) -> None:
        """Note what could not be read; the first request that needs the password says whether that is right."""
        if not self._answered:
            raise error
        self.tree.lose(uri, _without(self._connection.url + uri, str(error)))

    def _take(self, uri: str, reply: Reply) -> None:
        self._answered, self._failures = True, 0
        self._busy = self._busy + 1 if reply.status == HTTPStatus.SERVICE_UNAVAILABLE else 0
        if reply.status == HTTPStatus.OK:
            self.tree.learn(uri, reply.body or {})
        elif reply.status == HTTPStatus.NOT_FOUND:
            self.tree.miss(uri)
        else:
            self.tree.lose(uri, f"answered {reply.status}: {words(reply.body)}")


def _without(where: str, text: str) -> str:
    return text.removeprefix(where).lstrip(": ")
