"""Notifications go out: what the journal says anew is told to each channel, by one process at a time.

Before a message is sent it is written down which lines it holds. So whatever ends this process, and whatever answer
is lost, the next try sends the same lines under the same key. A channel that fails is its own affair: no other one,
and no tick, waits for it.
"""

import os
import secrets
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import floor
from pathlib import Path
from threading import Event, Thread

from fleet_runner.adapters import notifications
from fleet_runner.adapters.files import notifications as notification_file
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError, SettingsError
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.runs import Entry
from fleet_runner.core.tickets.notifications import grouping
from fleet_runner.core.tickets.notifications.channel import Channel, Filters, concerns, left_alone
from fleet_runner.core.tickets.notifications.grouping import HOUR, ChannelPosition, Collected, DueMessage, collect
from fleet_runner.core.tickets.notifications.lines import Line, Location, line
from fleet_runner.core.tickets.notifications.text import Message
from fleet_runner.core.tickets.trackers.backoff import MOST_ASKED, Kind, TrackerError, pause
from fleet_runner.reconcile.loop.survive import errors_logged, threads_run
from fleet_runner.settings import Settings

PULSE = 5.0
"""Seconds between two looks at the journal."""

GRACE = 5.0
"""Seconds that all messages under way are given at the end; what becomes of them is found out later."""

LEASE = 180.0
"""Seconds for which the right to notify a channel is taken: longer than one message may take."""

PAGE, PAGES = 1_000, 50
"""Lines that are read at a time, and how often in one visit; what is later comes with the next message."""

NEVER_TAKEN = frozenset({Kind.REFUSED, Kind.BUSY, Kind.WRONG})
"""Failures after which a message is surely not there: its lines may go out with later ones, under another key."""


@dataclass(slots=True)
class Seen:
    """What was collected from the journal up to a line: all that waits, and what of it is urgent."""

    told: int
    urgent: int
    line: int
    all: Collected = field(default_factory=Collected)
    pressing: Collected = field(default_factory=Collected)


@dataclass(slots=True)
class Notifier:
    """What tells one channel. `now` is the clock that all who share the store agree on."""

    of: Channel
    store: Store
    beside: Path
    web: str
    now: Callable[[], float]
    fleet: Callable[[], Fleet | None]
    sent: notifications.Sent = notifications.send
    holder: str = field(default_factory=lambda: f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}")
    _seen: Seen | None = None

    def visit(self) -> int:
        """Tell the channel what is due; return how many messages it was sent. What went wrong is in the store."""
        if self.fleet() is None and _needs_places(self.of):
            return 0  # whom lines concern is not known before the source of truth was read
        standing = self.store.channel(self.of.name)
        if standing is None:
            self.store.begin_channel(self.of.name)
            return 0
        waits = standing.due_at - self.now()
        if 0.0 < waits <= MOST_ASKED or (not standing.asked and not self._news(standing)):
            return 0
        if not self.store.take_channel(self.of.name, self.holder, self.now(), LEASE):
            return 0
        try:
            return self._tell()
        except ConflictError:  # another process took over while this one slept
            return 0
        finally:
            self.store.leave_channel(self.of.name, self.holder)

    def _news(self, standing: ChannelPosition) -> bool:
        """Whether there is something to do: a message is due, or lines that concern nobody are to be passed over."""
        seen = self._look(standing)
        return self._due(standing, seen) is not None or (not seen.all.total and seen.line > standing.told)

    def _tell(self) -> int:
        standing = self.store.channel(self.of.name)  # read again: from here on it is nobody else's
        if standing is None:
            return 0
        if standing.asked:
            return self._again(standing)
        seen = self._look(standing)
        letter = self._due(standing, seen)
        if letter is not None:
            asked = replace(standing, asked=letter.last, asked_urgent=letter.urgent)
            self.store.write_channel(self.holder, asked)
            return self._send(asked, letter)
        if not seen.all.total:
            self.store.write_channel(
                self.holder, replace(standing, told=seen.line, urgent=max(standing.urgent, seen.line))
            )
        return 0

    def _due(self, standing: ChannelPosition, seen: Seen) -> DueMessage | None:
        """Return what is to be told now: in quiet hours what is urgent, else all."""
        alone = left_alone(self.of, self.now())
        waiting = seen.pressing if alone else seen.all
        due = grouping.due(self.of, standing, waiting, self.now())
        return DueMessage(seen.line, alone, waiting) if due else None

    def _look(self, standing: ChannelPosition) -> Seen:
        """Read on in the journal from where this process is, or from where the channel is if others told it."""
        seen = self._seen
        if seen is None or (seen.told, seen.urgent) != (standing.told, standing.urgent):
            seen = Seen(standing.told, standing.urgent, standing.told)
        self._seen = self._read(seen, self.store.newest_line(seen.line))
        return self._seen

    def _again(self, standing: ChannelPosition) -> int:
        """Send the message that may have gone out, of the same lines; none, if they concern the channel no more."""
        seen = Seen(standing.told, standing.urgent, standing.told)
        while seen.line < standing.asked:
            seen = self._read(seen, standing.asked)
        lines = seen.pressing if standing.asked_urgent else seen.all
        letter = DueMessage(standing.asked, standing.asked_urgent, lines)
        if lines.total:
            return self._send(standing, letter)
        self.store.write_channel(self.holder, replace(self._told(standing, letter, over=False), sent=standing.sent))
        return 0

    def _read(self, seen: Seen, until: int) -> Seen:
        for _ in range(PAGES):
            found = self.store.unheard(seen.line, until, PAGE)
            lines = self._lines(found)
            urgent = [each for each, pressing in lines if pressing]
            rest = [each for each, pressing in lines if not pressing or each.id > seen.urgent]
            seen.pressing = collect(seen.pressing, [each for each in urgent if each.id > seen.urgent])
            seen.all = collect(seen.all, rest)
            full = len(found) == PAGE
            seen.line = found[-1][0].id if full else until
            if not full:
                break
        return seen

    def _lines(self, found: Sequence[tuple[Entry, str]]) -> list[tuple[Line, bool]]:
        """Return the lines that concern the channel, each with whether it is urgent."""
        news = [each for entry, remedy in found if (each := line(entry, remedy)) is not None]
        types = self.store.device_types({each.node for each in news})
        fleet = self.fleet()
        places = [_place(each.node, types, fleet) for each in news]
        mine = [(each, at) for each, at in zip(news, places, strict=True) if concerns(self.of.filters, each, at)]
        return [(each, self._urgent(self.of.urgent, each, at)) for each, at in mine]

    def _urgent(self, urgent: Filters, each: Line, at: Location) -> bool:
        return self.of.quiet is not None and concerns(urgent, each, at)

    def _send(self, standing: ChannelPosition, letter: DueMessage) -> int:
        away = standing.away_at if grouping.was_away(standing, letter.lines) else None
        message = Message(grouping.key(standing, letter), self.of.name, letter.lines, self.web, away, letter.urgent)
        try:
            self.sent(self.of, notification_file.secrets(self.of, self.beside), message)
        except TrackerError as error:
            self._failed(standing, error, never=error.kind in NEVER_TAKEN)
            return 0
        except SettingsError as error:
            self._failed(standing, error, never=True)
            return 0
        self.store.write_channel(self.holder, self._told(standing, letter, over=away is not None))
        return 1

    def _told(self, standing: ChannelPosition, letter: DueMessage, *, over: bool) -> ChannelPosition:
        now = self.now()
        hour = floor(now / HOUR)
        return ChannelPosition(
            standing.name,
            told=standing.told if letter.urgent else letter.last,
            urgent=max(standing.urgent, letter.last),
            told_at=now,
            hour=hour,
            sent=standing.sent + 1 if standing.hour == hour else 1,
            away_at=None if over or not standing.tries else standing.away_at,
        )

    def _failed(self, standing: ChannelPosition, error: Exception, *, never: bool) -> None:
        after = error.after if isinstance(error, TrackerError) else None
        failed = replace(
            standing,
            asked=0 if never else standing.asked,
            asked_urgent=not never and standing.asked_urgent,
            tries=standing.tries + 1,
            due_at=self.now() + pause(standing.tries + 1, after),
            detail=str(error),
            away_at=self.now() if standing.away_at is None else standing.away_at,
        )
        self.store.write_channel(self.holder, failed)


def notifiers(settings: Settings, store: Store, fleet: Callable[[], Fleet | None]) -> list[Notifier]:
    """Return what tells each channel; SettingsError where their list cannot be meant."""
    path = notification_file.file(settings)
    beside = path.parent if path else Path()
    web = settings.web_url.rstrip("/")
    return [Notifier(of, store, beside, web, store.clock, fleet) for of in notification_file.channels(settings)]


@contextmanager
def notifying(settings: Settings, store: Store, fleet: Callable[[], Fleet | None]) -> Iterator[None]:
    """Tell every channel for as long as it is open, each in a thread of its own."""
    stop = Event()
    threads = [
        Thread(target=_tell, args=(each, stop), name=f"channel {each.of.name}", daemon=True)
        for each in notifiers(settings, store, fleet)
    ]
    with threads_run(threads, stop, GRACE):
        yield


def _tell(notifier: Notifier, stop: Event) -> None:
    while not stop.is_set():
        with errors_logged(stop, "a channel got no message", channel=notifier.of.name):
            notifier.visit()
        stop.wait(PULSE)


def _needs_places(of: Channel) -> bool:
    filters = (of.filters, of.urgent)
    return any(each.sites or each.tenants for each in filters)


def _place(node: str, types: dict[str, str], fleet: Fleet | None) -> Location:
    device = fleet.devices.get(node) if fleet is not None else None
    known = types.get(node, "")
    return Location(device.site, known, device.tenant or "") if device is not None else Location(device_type=known)
