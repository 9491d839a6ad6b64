"""Serial numbers of parts that came in, written into the NetBox at once, or by serve once it answers."""

from collections.abc import Sequence

from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import console
from fleet_runner.core.base.printable import printable
from fleet_runner.core.inventory.netbox.mirror.serials import Due
from fleet_runner.settings import Settings


def written(settings: Settings) -> bool:
    """Whether serial numbers are written into a NetBox."""
    return "://" in settings.source and settings.netbox_write_nodes


def show(settings: Settings, given: Sequence[Due]) -> None:
    """Say what would be written into the NetBox."""
    from fleet_runner.reconcile.inventory import netbox  # noqa: PLC0415  the client is slow to load
    from fleet_runner.reconcile.inventory.netbox_mirror.serials import foretold  # noqa: PLC0415  as above

    with netbox.session(settings) as client:
        for due in given:
            _line(f"{due.node} {due.slot}: serial number {due.came} {foretold(client, due)}")


def write(settings: Settings, store: Store, given: Sequence[Due]) -> None:
    """Write what is due of a node now; what cannot be written waits, and it is said why."""
    from fleet_runner.reconcile.inventory import netbox  # noqa: PLC0415  as above

    teller = netbox.tellers(settings, store)[-1]
    store.hurry_tracker(teller.name)
    teller.visit()
    left = {(due.node, due.slot): due for due in store.serials_due()}
    why = store.tracker(teller.name).detail or "another process writes now"
    for due in given:
        wait = left.get((due.node, due.slot))
        if wait is None:
            _line(f"{settings.source}: {due.node} {due.slot} has serial number {due.came} now")
        elif wait.conflict:
            _line(f"{settings.source}: {due.node} {due.slot} has {wait.conflict} there, so {due.came} is not written")
        else:
            words = f"serial number {due.came} is kept, and written by serve later: {wait.detail or why}"
            _line(f"{due.node} {due.slot}: {words}")


def _line(text: str) -> None:
    console.print(printable(text), markup=False, soft_wrap=True)
