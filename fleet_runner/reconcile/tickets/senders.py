"""Senders beside the work: a thread for each tracker, so that one that hangs holds up no tick and no other one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from fleet_runner.adapters import trackers
from fleet_runner.adapters.files import trackers as tracker_file
from fleet_runner.adapters.store import Store
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.reconcile.loop.survive import errors_logged
from fleet_runner.reconcile.tickets.outbox import OutboxSender
from fleet_runner.settings import Settings

PULSE = 5.0
"""Seconds between two looks into the outbox."""

GRACE = 5.0
"""Seconds that a request under way is given at the end; what it leaves undone is found again."""


def senders(settings: Settings, store: Store) -> list[OutboxSender]:
    """Return what tells each configured tracker; SettingsError where their list cannot be meant."""
    path = tracker_file.file(settings)
    beside = path.parent if path else Path()
    return [OutboxSender(of, store, beside, trackers.opened, store.clock) for of in tracker_file.trackers(settings)]


@contextmanager
def sending(settings: Settings, store: Store, fleet: Callable[[], Fleet | None]) -> Iterator[None]:
    """Tell every tracker for as long as it is open; `fleet` is what is known of the source of truth now."""
    stop = Event()
    threads = [
        Thread(target=_send, args=(sender, fleet, stop), name=f"tracker {sender.of.name}", daemon=True)
        for sender in senders(settings, store)
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(GRACE)


def _send(sender: OutboxSender, fleet: Callable[[], Fleet | None], stop: Event) -> None:
    while not stop.is_set():
        with errors_logged(stop, "a tracker got no update", tracker=sender.of.name):
            known = fleet()
            if known is not None:
                sender.visit(known)
        stop.wait(PULSE)
