"""A NetBox told beside the work, in a thread of its own: one that hangs or is away holds up no tick."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread

from fleet_runner.adapters import source
from fleet_runner.adapters.netbox.cable_status import QUICK
from fleet_runner.adapters.netbox.client import Client
from fleet_runner.adapters.store import Store
from fleet_runner.reconcile.inventory.netbox_mirror.fields import FieldsMirror
from fleet_runner.reconcile.inventory.netbox_mirror.journal import JournalMirror
from fleet_runner.reconcile.inventory.netbox_mirror.serials import SerialsMirror
from fleet_runner.reconcile.inventory.netbox_mirror.writer import Mirror
from fleet_runner.reconcile.loop.store_ownership import Outward
from fleet_runner.reconcile.loop.survive import errors_logged
from fleet_runner.settings import Settings

PULSE = 5.0
"""Seconds between two looks at what is to be told."""

GRACE = 5.0
"""Seconds that a request under way is given at the end; what it leaves undone is found again."""


def session(settings: Settings) -> Client:
    """Return a session with the NetBox of the settings, patient for a moment only: it is asked again later."""
    return Client(settings.source, source.token(settings), QUICK)


def url(settings: Settings) -> str:
    """Return the address under which the store knows the NetBox."""
    return settings.source.rstrip("/")


def tellers(settings: Settings, store: Store) -> tuple[FieldsMirror, JournalMirror, SerialsMirror]:
    """Return what tells the NetBox of the settings: of states, of history, of serial numbers."""
    common = (store, url(settings), lambda: session(settings), store.clock)
    return FieldsMirror(*common), JournalMirror(*common), SerialsMirror(*common)


@contextmanager
def mirroring(settings: Settings, store: Store, may: Outward) -> Iterator[None]:
    """Tell the NetBox of the nodes of which it may be told, for as long as it is open."""
    stop = Event()
    given = tellers(settings, store)
    for teller in given:
        teller.may = may
    thread = Thread(target=_tell, args=(given, stop, may), name="netbox", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(GRACE)


def _tell(given: Sequence[Mirror], stop: Event, may: Outward) -> None:
    """Let each teller tell what is due, again and again; what one fails at keeps no other one back."""
    while not stop.is_set():
        for teller in given:
            if not may.anything():
                break
            with errors_logged(stop, "NetBox was not updated", of=teller.name):
                teller.visit()
        stop.wait(PULSE)
