"""What logs of a job's nodes say, where they are given: findings with their times, links that went down."""

from collections.abc import Callable, Iterable, Iterator

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import link_events
from fleet_runner.core.checks.pasted.moments import moment
from fleet_runner.core.checks.pasted.text import Read
from fleet_runner.core.checks.pasted.told import THIS_NODE, Told
from fleet_runner.core.jobs.event import Area, Event, Role

Kinds = Callable[[str], tuple[Area, Role]]
"""Returns what a finding's code can be in a job's death."""

MOST = 10_000
"""Losses of a link that are kept of one log."""


class LinkDowns:
    """Links that went down, as a kernel's log is read: a single one may end a job, and is no finding by itself."""

    def __init__(self, node: str) -> None:
        """Take the node that the log is of."""
        self._node = node
        self._events: list[Event] = []

    def feed(self, text: str) -> None:
        """Take the next whole lines."""
        if "ink" not in text or len(self._events) >= MOST:
            return
        try:
            losses = link_events.parse(text)
        except EvidenceError:
            return  # nothing but blanks, or lines without an end: whoever reads it whole says so
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
        """Return the events, in the order of the log."""
        return tuple(self._events)


def events(read: Iterable[Read], kinds: Kinds) -> Iterator[Event]:
    """Yield what logs and reports found; what was seen again later is an event at both times.

    A time that tells no date, or counts from the boot, is none.
    """
    for one in read:
        for told in one.told:
            yield from _events(told, kinds)


def _events(told: Told, kinds: Kinds) -> Iterator[Event]:
    finding = told.finding
    node = "" if told.node == THIS_NODE else told.node
    for at in dict.fromkeys((told.first, told.last)):
        yield Event(
            _moment(at),
            *kinds(finding.code),
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
