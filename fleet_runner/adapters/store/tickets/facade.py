"""What the store knows of others that are told: what waits for which tracker, and what people do to tickets."""

from collections.abc import Callable, Collection, Iterable

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.lifecycle import history, intents, nodes
from fleet_runner.adapters.store.netbox.facade import MirrorMethods
from fleet_runner.adapters.store.tickets import outbox, photos, tickets, trackers
from fleet_runner.core.lifecycle.runs import Intent, Ticket
from fleet_runner.core.tickets.photos import Photo
from fleet_runner.core.tickets.trackers.changes import Change
from fleet_runner.core.tickets.trackers.links import Link, TrackerStatus
from fleet_runner.core.tickets.work_orders import verification


class TrackingMethods(MirrorMethods):
    """Methods of the Store, which extends this: they would not fit into its file, and callers know one Store."""

    _database: Database

    def ticket(self, number: int) -> Ticket | None:
        """Return a ticket, or None."""
        with self._database.read() as connection:
            return tickets.one(connection, number)

    def tickets_since(self, since: float) -> tuple[Ticket, ...]:
        """Return the tickets whose fault was seen since a moment, open or closed, oldest first."""
        with self._database.read() as connection:
            return tickets.seen_since(connection, since)

    def close_ticket(self, number: int, reason: str, by: str, now: float) -> bool:
        """Close a ticket on a person's word; False where there is none, or it is closed."""
        with self._database.write() as connection:
            said = tickets.close_by_hand(connection, number, reason, by, now)
            history.add(connection, said or ())
            return said is not None

    def note_ticket(self, number: int, words: str, by: str, now: float, *, key: str = "") -> bool:
        """Add a person's words to a ticket; False where there is none, or the report of this key is written."""
        with self._database.write() as connection:
            said = tickets.note(connection, number, words, by, now, key=key)
            history.add(connection, said or ())
            return said is not None

    def reported(self, key: str) -> bool:
        """Whether the report of a key is written."""
        with self._database.read() as connection:
            return outbox.has(connection, key)

    def claim_ticket(
        self, now: Change, asked: Iterable[Intent], told: Callable[[list[int]], str], *, key: str = ""
    ) -> bool:
        """Write down that somebody says a ticket is done, with the requests that prove it; all of it or nothing.

        `now` says who says so and when; its id is that of the ticket's newest line when they looked. `told` makes
        its sentence of the requests' ids. False where somebody else has said so since then, the report of this key is
        written, or there is no ticket.
        """
        with self._database.write() as connection:
            if not tickets.lock(connection, now.ticket) or outbox.has(connection, key):
                return False
            if verification.claim(outbox.changes(connection, now.ticket, now.id)) is not None:
                return False
            sentence = told([intents.leave(connection, each) for each in asked])
            history.add(connection, tickets.note(connection, now.ticket, sentence, now.by, now.at, key=key) or ())
            return True

    def add_photo(self, number: int, body: bytes, by: str, now: float) -> Photo | None:
        """Keep a photo of a ticket, which is noted there; one that is there already stays as it was.

        None where there is no such ticket, or it has as many as a ticket may have. StoreError where all photos
        together have as many bytes as are kept.
        """
        with self._database.write() as connection:
            if not tickets.lock(connection, number):
                return None
            photo, said = photos.add(connection, number, body, by, now)
            history.add(connection, said)
            return photo

    def photos(self, number: int) -> tuple[Photo, ...]:
        """Return a ticket's photos, oldest first."""
        with self._database.read() as connection:
            return photos.of_ticket(connection, number)

    def photo(self, number: int, digest: str) -> bytes | None:
        """Return the bytes of a ticket's photo by their SHA-256; None where there is none."""
        with self._database.read() as connection:
            return photos.body(connection, number, digest)

    def ticket_changes(self, number: int, after: int = 0) -> tuple[Change, ...]:
        """Return what happened to a ticket after a line of the outbox, oldest first."""
        with self._database.read() as connection:
            return outbox.changes(connection, number, after)

    def ticket_links(self, number: int) -> tuple[Link, ...]:
        """Return where a ticket lives elsewhere."""
        with self._database.read() as connection:
            return outbox.of_ticket(connection, number)

    def untold(self, tracker: str) -> tuple[Link, ...]:
        """Return what a tracker has yet to be told of, oldest ticket first."""
        with self._database.read() as connection:
            return outbox.waiting(connection, tracker)

    def device_types(self, names: Collection[str]) -> dict[str, str]:
        """Return the device types of those names that are nodes."""
        with self._database.read() as connection:
            return {node.name: node.device_type for node in nodes.some(connection, names)}

    def tracker(self, name: str) -> TrackerStatus:
        """Return how a tracker stands."""
        with self._database.read() as connection:
            return trackers.one(connection, name)

    def take_tracker(self, name: str, holder: str, now: float, seconds: float) -> TrackerStatus | None:
        """Take the right to tell a tracker; return how it stands, None while another process has that right."""
        with self._database.write() as connection:
            return trackers.take(connection, name, holder, now, seconds)

    def leave_tracker(self, name: str, holder: str) -> None:
        """Let another process tell a tracker."""
        with self._database.write() as connection:
            trackers.give_back(connection, name, holder)

    def begin_telling(self, link: Link, holder: str, *, asks: bool, now: float, seconds: float) -> Link:
        """Write down that a tracker is about to be told of a ticket, or, with `asks`, asked for an issue.

        ConflictError if another process has taken the right to tell it.
        """
        with self._database.write() as connection:
            trackers.hold(connection, link.tracker, holder, now, seconds)
            return outbox.begin(connection, link.ticket, link.tracker, asks=asks, now=now)

    def linked(self, link: Link, remote: str, url: str) -> Link:
        """Write down which issue is a ticket's, before anything else is done with it."""
        with self._database.write() as connection:
            return outbox.join(connection, link, remote, url)

    def told(self, link: Link, newest: int, digest: str, now: float) -> Link:
        """Write down what a tracker knows of a ticket now: the newest line of the outbox, and which text."""
        with self._database.write() as connection:
            trackers.heard(connection, link.tracker, now)
            return outbox.settle(connection, link, newest, digest)

    def not_told(self, link: Link, why: str, due_at: float, *, others: bool) -> None:
        """Write down why a tracker could not be told of a ticket; with `others` it is not told of any until then."""
        with self._database.write() as connection:
            outbox.wait(connection, link, why, 0.0 if others else due_at)
            if others:
                trackers.failed(connection, link.tracker, why, due_at)

    def tracker_failed(self, name: str, why: str, due_at: float) -> None:
        """Leave a tracker alone for a while."""
        with self._database.write() as connection:
            trackers.failed(connection, name, why, due_at)

    def tracker_heard(self, name: str, now: float) -> None:
        """Note that a tracker is well."""
        with self._database.write() as connection:
            trackers.heard(connection, name, now)

    def hurry_tracker(self, name: str, only: tuple[int, ...] = ()) -> None:
        """Have a tracker told at once of what waits, all or of some tickets."""
        with self._database.write() as connection:
            trackers.hurry(connection, name)
            outbox.hurry(connection, name, only)

    def forget_issue(self, number: int, tracker: str) -> bool:
        """Forget the issue of a ticket at a tracker, so that another one is opened; False where none is known."""
        with self._database.write() as connection:
            return outbox.forget(connection, number, tracker)
