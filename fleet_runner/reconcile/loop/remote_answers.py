"""What those who ask from afar are told that follows from the settings here: their own are others.

`status` asks here, too, and is to answer at once: what it needs not is imported where it is needed.
"""

from typing import TYPE_CHECKING

from fleet_runner.core.access import overview as summaries
from fleet_runner.core.access.overview import NodeSummary, Overview, Paused, paused
from fleet_runner.core.budgets import modes
from fleet_runner.reconcile.faults.remedies import alarm_lines, remedies
from fleet_runner.reconcile.loop import store_ownership
from fleet_runner.reconcile.loop.notices import notices, unusable_policy
from fleet_runner.reconcile.loop.overdue import unserved_since

if TYPE_CHECKING:
    from fleet_runner.adapters.store import Store
    from fleet_runner.core.access.api import Queue, Schedules
    from fleet_runner.core.lifecycle.runs import Node
    from fleet_runner.core.reliability.trends.answers import Ahead
    from fleet_runner.core.tickets.trackers.links import Link
    from fleet_runner.settings import Settings

FORESEEN = 50
"""Things foreseen of one node that are told, the newest."""


def overview(settings: "Settings", store: "Store", now: float) -> Overview:
    """Return how the fleet is looked after now."""
    from importlib.metadata import version  # noqa: PLC0415  see above

    return Overview(
        now,
        version("fleet-runner"),
        unserved_since(settings, store, now),
        paused(store.queue_paused()),
        {name: Paused(*switch) for name, switch in store.schedules()[2].items()},
        store.beats(),
        store.breaker(),
        unusable_policy(settings),
        _queued(settings, store),
        tuple(summaries.Notice(*each) for each in notices(settings, store, now)),
        mode(settings, store),
    )


def mode(settings: "Settings", store: "Store") -> str:
    """Say how far automation may go, and where; or why nothing is done at all."""
    why = store_ownership.refused(settings, store) if store_ownership.serves(settings) else ""
    return f"Observing everywhere: {why}." if why else modes.told(modes.standing(store.modes()))


def standing(settings: "Settings", store: "Store", node: "Node", now: float) -> NodeSummary:
    """Return what stands of a node, what was tried and what comes next, and why it waits in the queue."""
    return NodeSummary(
        tuple(alarm_lines(settings, store, node, now)),
        tuple(remedies(settings, store, node, now)),
        _queued(settings, store).get(node.name),
    )


def _queued(settings: "Settings", store: "Store") -> dict[str, str]:
    """Say of each node that stands in the runners' queue why; one runner alone has none."""
    if not store.shared:
        return {}
    from fleet_runner.reconcile.lifecycle import queue  # noqa: PLC0415  see above

    return queue.queued(settings, store)


def alarms(settings: "Settings", store: "Store", node: "Node", now: float) -> NodeSummary:
    """Return what stands of a node and why it waits in the queue, without what was tried and comes next."""
    told = tuple(alarm_lines(settings, store, node, now))
    return NodeSummary(told, waits=_queued(settings, store).get(node.name))


def ahead(store: "Store", node: "Node") -> "Ahead":
    """Return what is foreseen of a node."""
    from fleet_runner.core.reliability.trends import of_node  # noqa: PLC0415  see above

    lemons, parts = store.analysis("lemons"), store.analysis("parts")
    standing = store.foresights(node=node.name, limit=FORESEEN)
    return of_node.ahead(node.name, standing, lemons.body if lemons else None, parts.body if parts else None)


def queue(settings: "Settings", store: "Store") -> "Queue":
    """Return every batch that has not ended."""
    from fleet_runner.core.access.api import Batch, Queue  # noqa: PLC0415  see above
    from fleet_runner.reconcile.lifecycle import queue as queueing  # noqa: PLC0415  see above

    batches = tuple(Batch(*line) for line in queueing.queue(settings, store))
    return Queue(batches, paused(store.queue_paused()))


def schedules(settings: "Settings", store: "Store") -> "Schedules":
    """Return every schedule and how it stands."""
    from fleet_runner.core.access.api import Scheduled, Schedules  # noqa: PLC0415  see above
    from fleet_runner.core.schedules.known import KNOWN  # noqa: PLC0415  see above
    from fleet_runner.reconcile.schedules.upcoming import Coming, coming  # noqa: PLC0415  see above

    def scheduled(each: Coming) -> Scheduled:
        schedule = each.schedule
        return Scheduled(
            each.name,
            KNOWN[each.name].meaning,
            schedule.text,
            schedule.zone,
            schedule.jitter,
            schedule.missed.value,
            each.last_at,
            each.row.runner,
            each.last_ended,
            each.next_at,
            each.running,
            each.overdue,
            paused(each.paused),
            each.waits,
            each.unmet,
        )

    now, known = coming(settings, store)
    return Schedules(now, tuple(map(scheduled, known)))


def links(settings: "Settings", store: "Store", number: int) -> "tuple[Link, ...]":
    """Return where a ticket lives, or will: also with trackers that were not told of it yet."""
    from fleet_runner.adapters.files import trackers  # noqa: PLC0415  see above

    known = {link.tracker: link for link in store.ticket_links(number)}
    fresh = (
        link
        for of in trackers.trackers(settings)
        if of.name not in known
        for link in store.untold(of.name)
        if link.ticket == number
    )
    return (*known.values(), *fresh)
