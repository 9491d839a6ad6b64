"""Tickets go out: what waits in the outbox is told to each tracker, by one process at a time, exactly once.

Before an issue is asked for it is written down that it is, and before one is opened it is looked for. So whatever
ends this process, and whatever answer is lost, the next try finds what was made. A tracker that fails is its own
affair: no other one, and no tick, waits for it.
"""

import os
import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from fleet_runner.adapters.files import trackers
from fleet_runner.adapters.store import Store
from fleet_runner.adapters.trackers import Access, Issue, Tracker
from fleet_runner.core.base.errors import ConflictError, SettingsError
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.runs import Ticket
from fleet_runner.core.tickets.trackers import draft as telling
from fleet_runner.core.tickets.trackers.backoff import Kind, TrackerError, pause
from fleet_runner.core.tickets.trackers.changes import Change
from fleet_runner.core.tickets.trackers.configuration import Configured
from fleet_runner.core.tickets.trackers.draft import Draft
from fleet_runner.core.tickets.trackers.links import Link

LEASE = 180.0
"""Seconds for which the right to tell a tracker is taken: longer than all the requests about one ticket may take."""

AT_ONCE = 200
"""Tickets that are told in one visit."""

Opened = Callable[[Configured, Access], Tracker]


@contextmanager
def shaped(name: str) -> Iterator[None]:
    """Say plainly that an answer is not what that tracker gives."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        text = f"{name}: an answer has another shape than that tracker's; expected the address of its API"
        raise TrackerError(Kind.DOWN, text) from None


@dataclass(slots=True)
class OutboxSender:
    """What tells one tracker. `beside` is the folder to which its files are relative; `opened` opens a session.

    `now` is the clock that all who share the store agree on.
    """

    of: Configured
    store: Store
    beside: Path
    opened: Opened
    now: Callable[[], float]
    lease: float = LEASE
    holder: str = field(default_factory=lambda: f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}")

    def visit(self, fleet: Fleet) -> int:
        """Tell the tracker what is due; return how many tickets it was told of. What went wrong is in the store."""
        if not self._due() or self.store.take_tracker(self.of.name, self.holder, self.now(), self.lease) is None:
            return 0
        try:
            return self._tell_all(fleet)
        except ConflictError:  # another process took over while this one slept
            return 0
        except SettingsError as error:
            tries = self.store.tracker(self.of.name).tries
            self.store.tracker_failed(self.of.name, str(error), self.now() + pause(tries + 1))
            return 0
        finally:
            self.store.leave_tracker(self.of.name, self.holder)

    def _due(self) -> list[Link]:
        """Return what may be told now, first what was tried least: what breaks a tracker keeps nothing back."""
        now = self.now()
        if self.store.tracker(self.of.name).due_at > now:
            return []
        due = [link for link in self.store.untold(self.of.name) if link.due_at <= now]
        return sorted(due, key=lambda link: (link.tries, link.ticket))[:AT_ONCE]

    def _tell_all(self, fleet: Fleet) -> int:
        told = 0
        with self.opened(self.of, self._access()) as tracker:
            for link in self._due():  # read again: what is due now is nobody else's
                try:
                    with shaped(self.of.name):
                        self._tell(tracker, fleet, link)
                    told += 1
                except TrackerError as error:
                    self._wait(link, error)
                    if error.kind is not Kind.WRONG:
                        break
        return told

    def _wait(self, link: Link, error: TrackerError) -> None:
        """Put off one ticket, or the tracker as a whole."""
        alone = error.kind is Kind.WRONG
        tries = link.tries if alone else self.store.tracker(self.of.name).tries
        due_at = self.now() + pause(tries + 1, error.after)
        self.store.not_told(link, str(error), due_at, others=not alone)

    def _access(self) -> Access:
        """Read the secret anew for each visit: it may have been replaced."""
        return Access(trackers.secret(self.of, self.beside), trackers.authority(self.of, self.beside))

    def _tell(self, tracker: Tracker, fleet: Fleet, link: Link) -> None:
        """Bring one ticket's issue up to date, opening it if there is none."""
        ticket = self.store.ticket(link.ticket)
        if ticket is None:
            return
        changes = self.store.ticket_changes(ticket.id)
        draft = telling.draft(ticket, link, self._device_type(ticket), fleet)
        if not link.remote:
            issue = self._found(tracker, draft, link)
            if issue is None:
                self._open(tracker, draft, link, changes)
                return
            link = self.store.linked(link, issue.remote, issue.url)
        self._update(tracker, draft, link, changes)

    def _found(self, tracker: Tracker, draft: Draft, link: Link) -> Issue | None:
        """Look for an issue that may have been made; of a closed ticket that was never sent there is none."""
        if link.asked_at is None and not draft.open:
            return None
        return tracker.find(draft, draft.opened_at if link.asked_at is None else link.asked_at)

    def _open(self, tracker: Tracker, draft: Draft, link: Link, changes: tuple[Change, ...]) -> None:
        """Open an issue, if the ticket is open and none can be on its way any more."""
        known = telling.opening(link, changes)
        if link.asked_at is not None and self.now() < link.asked_at + tracker.settles:
            wait = link.asked_at + tracker.settles - self.now()
            text = f"{self.of.name}: an issue was requested and no answer came; the tracker is searched for it"
            raise TrackerError(Kind.WRONG, text, after=wait)
        if not draft.open:
            self.store.told(link, max((change.id for change in changes), default=0), link.digest, self.now())
            return
        begun = self.store.begin_telling(link, self.holder, asks=True, now=self.now(), seconds=self.lease)
        issue = tracker.create(draft, known)
        made = self.store.linked(begun, issue.remote, issue.url)
        self.store.told(made, known, draft.digest, self.now())

    def _update(self, tracker: Tracker, draft: Draft, link: Link, changes: tuple[Change, ...]) -> None:
        """Tell what is new; after a try whose end was not seen, only what its notes do not say already."""
        begun = self.store.begin_telling(link, self.holder, asks=False, now=self.now(), seconds=self.lease)
        said = tracker.said(link.remote, draft) if link.tries else 0
        update = telling.update(draft, link, changes, said)
        tracker.tell(link.remote, update)
        self.store.told(begun, update.newest, draft.digest, self.now())

    def _device_type(self, ticket: Ticket) -> str:
        known = self.store.device_types(ticket.nodes)
        return next((known[name] for name in ticket.nodes if name in known), "")
