"""What follows from the settings of whoever looks after the fleet: of this machine, or of a server's."""

import sys
import time
from typing import TYPE_CHECKING

from fleet_runner.cli.base.session import whoami
from fleet_runner.core.base.errors import FleetError

if TYPE_CHECKING:
    from fleet_runner.adapters.remote import Remote
    from fleet_runner.adapters.store import Store
    from fleet_runner.core.access.api import Queue, Schedules
    from fleet_runner.core.access.overview import NodeSummary, Overview
    from fleet_runner.core.lifecycle.runs import Node
    from fleet_runner.core.reliability.trends.answers import Ahead
    from fleet_runner.core.tickets.trackers.links import Link
    from fleet_runner.settings import Settings

LOOK, LOOK_AFAR = 0.5, 5.0
"""Seconds between two looks of one who watches; a server is asked for each by all who do."""


def remote(store: object) -> "Remote | None":
    """Return the server that is asked, None where the store is here: then nobody has imported what asks servers."""
    if "fleet_runner.adapters.remote" not in sys.modules:
        return None
    from fleet_runner.adapters.remote import Remote  # noqa: PLC0415  most commands need none of this

    return store if isinstance(store, Remote) else None


def overview(settings: "Settings", store: "Store") -> "Overview":
    """Return how the fleet is looked after now."""
    far = remote(store)
    if far is not None:
        return far.overview()
    from fleet_runner.reconcile.loop import remote_answers  # noqa: PLC0415  most commands need none of this

    return remote_answers.overview(settings, store, time.time())


def standing(settings: "Settings", store: "Store", node: "Node") -> "NodeSummary":
    """Return what stands of a node, what was tried and what comes next, and why it waits in the queue."""
    far = remote(store)
    if far is not None:
        return far.standing(node.name)
    from fleet_runner.reconcile.loop import remote_answers  # noqa: PLC0415  most commands need none of this

    return remote_answers.standing(settings, store, node, time.time())


def alarms(settings: "Settings", store: "Store", node: "Node") -> "NodeSummary":
    """Return what stands of a node, and why it waits in the queue; a server says more, which costs it nothing."""
    far = remote(store)
    if far is not None:
        return far.standing(node.name)
    from fleet_runner.reconcile.loop import remote_answers  # noqa: PLC0415  most commands need none of this

    return remote_answers.alarms(settings, store, node, time.time())


def ahead(store: "Store", node: "Node") -> "Ahead":
    """Return what is foreseen of a node."""
    far = remote(store)
    if far is not None:
        return far.ahead(node.name)
    from fleet_runner.reconcile.loop import remote_answers  # noqa: PLC0415  most commands need none of this

    return remote_answers.ahead(store, node)


def queue(settings: "Settings", store: "Store") -> "Queue":
    """Return every batch that has not ended, and why what waits does."""
    far = remote(store)
    if far is not None:
        return far.queue()
    from fleet_runner.reconcile.loop import remote_answers  # noqa: PLC0415  most commands need none of this

    return remote_answers.queue(settings, store)


def schedules(settings: "Settings", store: "Store") -> "Schedules":
    """Return every schedule and how it stands."""
    far = remote(store)
    if far is not None:
        return far.coming()
    from fleet_runner.reconcile.loop import remote_answers  # noqa: PLC0415  most commands need none of this

    return remote_answers.schedules(settings, store)


def links(settings: "Settings", store: "Store", number: int) -> "tuple[Link, ...]":
    """Return where a ticket lives, or will."""
    far = remote(store)
    if far is None:
        from fleet_runner.reconcile.loop import remote_answers  # noqa: PLC0415  most commands need none of this

        return remote_answers.links(settings, store, number)
    told = far.ticket_told(number)
    return told.elsewhere if told is not None else ()


def pause(store: "Store") -> float:
    """Return how long one who watches waits between two looks."""
    return LOOK_AFAR if remote(store) is not None else LOOK


def signed(store: "Store", by: str | None) -> str:
    """Return in whose name something is asked for; a server writes down whom the token names."""
    if by and remote(store) is not None:
        raise FleetError("--by: the server records the token's name; leave it out")
    return by or whoami()


def at_hand(store: "Store", what: str) -> None:
    """Refuse what needs more than a server tells."""
    if remote(store) is not None:
        raise FleetError(f"{what} works only on the server's own machine; run it there")
