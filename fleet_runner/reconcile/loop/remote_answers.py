"""What those who ask from afar are told that follows from the settings here: their own are others."""

from importlib.metadata import version

from fleet_runner.adapters.files import trackers
from fleet_runner.adapters.store import Store
from fleet_runner.core.access import api
from fleet_runner.core.access.api import Batch, NodeSummary, Overview, Paused, Queue, Scheduled, Schedules, paused
from fleet_runner.core.budgets import modes
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.reliability.trends import of_node
from fleet_runner.core.reliability.trends.answers import Ahead
from fleet_runner.core.schedules.known import KNOWN
from fleet_runner.core.tickets.trackers.links import Link
from fleet_runner.reconcile.faults.remedies import alarm_lines, remedies
from fleet_runner.reconcile.lifecycle import queue as queueing
from fleet_runner.reconcile.loop import store_ownership
from fleet_runner.reconcile.loop.notices import notices, unusable_policy
from fleet_runner.reconcile.loop.overdue import unserved_since
from fleet_runner.reconcile.schedules.upcoming import Coming, coming
from fleet_runner.settings import Settings

FORESEEN = 50
"""Things foreseen of one node that are told, the newest."""


def overview(settings: Settings, store: Store, now: float) -> Overview:
    """Return how the fleet is looked after now."""
    return Overview(
        now,
        version("fleet-runner"),
        unserved_since(settings, store, now),
        paused(store.queue_paused()),
        {name: Paused(*switch) for name, switch in store.schedules()[2].items()},
        store.beats(),
        store.breaker(),
        unusable_policy(settings),
        queueing.queued(settings, store),
        tuple(api.Notice(*each) for each in notices(settings, store, now)),
        mode(settings, store),
    )


def mode(settings: Settings, store: Store) -> str:
    """Say how far automation may go, and where; or why nothing is done at all."""
    why = store_ownership.refused(settings, store) if store_ownership.serves(settings) else ""
    return f"Observing everywhere: {why}." if why else modes.told(modes.standing(store.modes()))


def standing(settings: Settings, store: Store, node: Node, now: float) -> NodeSummary:
    """Return what stands of a node, what was tried and what comes next, and why it waits in the queue."""
    return NodeSummary(
        tuple(alarm_lines(settings, store, node, now)),
        tuple(remedies(settings, store, node, now)),
        queueing.queued(settings, store).get(node.name),
    )


def ahead(store: Store, node: Node) -> Ahead:
    """Return what is foreseen of a node."""
    lemons, parts = store.analysis("lemons"), store.analysis("parts")
    standing = store.foresights(node=node.name, limit=FORESEEN)
    return of_node.ahead(node.name, standing, lemons.body if lemons else None, parts.body if parts else None)


def queue(settings: Settings, store: Store) -> Queue:
    """Return every batch that has not ended."""
    batches = tuple(Batch(*line) for line in queueing.queue(settings, store))
    return Queue(batches, paused(store.queue_paused()))


def schedules(settings: Settings, store: Store) -> Schedules:
    """Return every schedule and how it stands."""
    now, known = coming(settings, store)
    return Schedules(now, tuple(map(_scheduled, known)))


def links(settings: Settings, store: Store, number: int) -> tuple[Link, ...]:
    """Return where a ticket lives, or will: also with trackers that were not told of it yet."""
    known = {link.tracker: link for link in store.ticket_links(number)}
    fresh = (
        link
        for of in trackers.trackers(settings)
        if of.name not in known
        for link in store.untold(of.name)
        if link.ticket == number
    )
    return (*known.values(), *fresh)


def _scheduled(each: Coming) -> Scheduled:
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
