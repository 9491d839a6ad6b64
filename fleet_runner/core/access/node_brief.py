"""What another tool shows of a node on a page of its own, as one answer of the API: short, and in words.

Times are seconds since the epoch (UTC), as floats.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from fleet_runner.core.cabling.of_node import NodeCable
from fleet_runner.core.firmware.pinned import Pinned
from fleet_runner.core.lifecycle.offers import offers
from fleet_runner.core.lifecycle.runs import Entry, IntentKind, Node, Ticket
from fleet_runner.core.tickets.trackers.links import Link

MOST = 200
"""Tickets, components and links of a node that are told, each."""


@dataclass(frozen=True, slots=True)
class TrackedTicket:
    """An open ticket, and the addresses at which trackers have it."""

    id: int
    title: str
    remedy: str
    opened_at: float
    urls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PinnedComponent:
    """One firmware component: the version that was found, those that are accepted, and how they compare."""

    entry: str
    name: str
    found: str
    pins: tuple[str, ...]
    comparison: str


@dataclass(frozen=True, slots=True)
class SeenLink:
    """A designed cable of a node, and what was seen of it at `at`; that is null where nothing was."""

    port: str
    far: str
    label: str
    comparison: str
    seen: str
    at: float | None


@dataclass(frozen=True, slots=True)
class NodeBrief:
    """A node in short. `why` is the sentence that led to its state, `wanted` are requests that apply to it now.

    `mode` says how far automation may go, and where. `firmware_at` is null where its firmware was never read.
    """

    at: float
    node: Node
    why: str
    mode: str
    wanted: tuple[IntentKind, ...] = ()
    tickets: tuple[TrackedTicket, ...] = ()
    firmware: tuple[PinnedComponent, ...] = ()
    firmware_at: float | None = None
    links: tuple[SeenLink, ...] = ()


def reason(history: Iterable[Entry]) -> str:
    """Return the sentence of the newest entry, "" where there is none."""
    newest = max(history, key=lambda entry: entry.id, default=None)
    return newest.sentence if newest is not None else ""


def wanted(node: Node) -> tuple[IntentKind, ...]:
    """Return the requests that apply to a node now."""
    return tuple(offer.kind for offer in offers(node))


def ticket(found: Ticket, links: Iterable[Link]) -> TrackedTicket:
    """Return an open ticket with the addresses of its issues."""
    urls = tuple(link.url for link in links if link.url)
    return TrackedTicket(found.id, found.title, found.remedy, found.opened_at, urls)


def components(found: Iterable[Pinned]) -> tuple[PinnedComponent, ...]:
    """Return firmware components as the API tells them."""
    return tuple(PinnedComponent(each.entry, each.name, each.found, each.pins, each.stand) for each in found)


def links(found: Iterable[NodeCable]) -> tuple[SeenLink, ...]:
    """Return links as the API tells them."""
    return tuple(
        SeenLink(each.port, str(each.far), each.label, each.stand.value, each.said, each.at) for each in found
    )
