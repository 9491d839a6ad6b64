"""What logs of a job's nodes say, where they are given: findings with their times, links that went down."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import link_events
from fleet_runner.core.checks.pasted.moments import moment
from fleet_runner.core.checks.pasted.text import Read
from fleet_runner.core.checks.pasted.told import THIS_NODE, Told
from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.kinds import kind

MOST = 10_000
"""Losses of a link that are kept of one log."""


SURVIVED = 30.0
"""Seconds for which a link may be down and no job ends: NCCL's default retries, 7 times 4.096 µs x 2^20."""

_UP = re.compile(
    r"^(?P<at>20\d\d-\d\d-\d\dT[0-9:.,+Z-]{8,30}) [^\n]{0,200}?"
    r"(?P<name>[A-Za-z][\w.-]{0,14}):? (?:NIC )?[Ll]ink (?:is )?[Uu]p",
    re.MULTILINE | re.ASCII,
)


class LinkDowns:
    """Links that went down, as a kernel's log is read: a single one may end a job, and is no finding by itself."""

    def __init__(self, node: str) -> None:
        """Take the node that the log is of."""
        self._node = node
        self._events: list[Event] = []
        self._ups: dict[str, list[float]] = defaultdict(list)

    def feed(self, text: str) -> None:
        """Take the next whole lines."""
        if "ink" not in text or len(self._events) >= MOST:
            return
        try:
            losses = link_events.parse(text)
        except EvidenceError:
            return  # nothing but blanks, or lines without an end: whoever reads it whole says so
        for found in _UP.finditer(text):
            at = moment(found["at"])
            if at is not None:
                self._ups[found["name"]].append(at)
        for loss in losses:
            self._events.append(
                Event(
                    loss.at,
                    Area.FABRIC,
                    Role.CAUSE,
                    "link.down",
                    "its link went down",
                    self._node,
                    component=loss.interface,
                    source="kernel log",
                )
            )

    def end(self) -> tuple[Event, ...]:
        """Return the events, in the order of the log; a link that soon came back ended nothing."""
        for ups in self._ups.values():
            ups.sort()
        return tuple(replace(each, role=Role.CONTEXT) if self._back(each) else each for each in self._events)

    def _back(self, down: Event) -> bool:
        ups = self._ups.get(down.component, [])
        place = len(ups) if down.at is None else bisect_left(ups, down.at)
        return down.at is not None and place < len(ups) and ups[place] <= down.at + SURVIVED


def events(read: Iterable[Read]) -> Iterator[Event]:
    """Yield what logs and reports found; what was seen again later is an event at both times.

    A time that tells no date, or counts from the boot, is none.
    """
    for one in read:
        for told in one.told:
            yield from _events(told)


def _events(told: Told) -> Iterator[Event]:
    finding, known = told.finding, kind(told.finding.code)
    node = "" if told.node == THIS_NODE else told.node
    for at in dict.fromkeys((told.first, told.last)):
        yield Event(
            _moment(at),
            known.area,
            known.of(finding.remedy),
            finding.code,
            finding.message,
            node,
            component=finding.component,
            line=told.line,
            source="logs of nodes",
        )


EARLIEST = 1e9
"""Epoch seconds (2001) before which a time is none: it had no year, or counts from the boot."""


def _moment(told: str) -> float | None:
    at = moment(told.removesuffix(" UTC")) if told else None
    return at if at is not None and at > EARLIEST else None
