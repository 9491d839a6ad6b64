"""What needs a person: nodes that only somebody can move on, and work for hands, the most pressing first."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from fleet_runner.core.inventory.floor import TICKET, UNKNOWN, NodeTile
from fleet_runner.core.lifecycle.runs import Ticket
from fleet_runner.core.lifecycle.states import Condition, State
from fleet_runner.core.tickets.work_orders.queue import WORK

FEW = 3
"""Names that are said of each kind; the others are counted."""


class Attention(NamedTuple):
    """That so many nodes or tickets need somebody: who does what, for which of them, and since when at the longest.

    `names` are a few of them, `racks` those that they stand in, as far as it is known; `since` is in epoch seconds,
    None where nobody knows; `url` is the page that lists them.
    """

    number: int
    noun: str
    what: str
    who: str
    names: tuple[str, ...]
    racks: tuple[str, ...]
    since: float | None
    url: str


NEEDS: Mapping[str, tuple[str, str]] = {
    State.FIRMWARE_FAILED: ("operator", "firmware update failed: find out why; until then no power action"),
    State.TRIAGE: ("operator", "out of service: decide what to do"),
    TICKET: ("technician", ""),
    State.ONBOARD: ("technician", "new: inspect, cable and certify"),
    State.DEBUG: ("technician", "in repair: say when it is whole"),
    State.RMA: ("vendor", "with the vendor: say when it is back"),
    Condition.ADVISED: ("operator", "a remedy is advised, and the policy only observes: decide"),
    UNKNOWN: ("operator", "the last check gave no answer: find out why"),
    Condition.HELD: ("operator", "held: nothing moves it until it is released"),
    Condition.MAINTENANCE: ("operator", "in maintenance: say when it is over"),
}
"""What only a person ends, a state or a mark, the most pressing first: who, and what is to be done."""


def attention(spots: Iterable[NodeTile], tickets: Sequence[Ticket]) -> tuple[Attention, ...]:
    """Return what needs a person. A node counts once, under the most pressing; tickets count beside nodes."""
    groups: dict[str, list[NodeTile]] = {}
    for spot in spots:
        if need := _need(spot):
            groups.setdefault(need, []).append(spot)
    found = (
        _tickets(tickets) if need == TICKET else _nodes(need, groups[need])
        for need in NEEDS
        if need in groups or (need == TICKET and tickets)
    )
    return tuple(found)


def _need(spot: NodeTile) -> str:
    """Return why a node needs somebody; "" where it does not, or only for its ticket."""
    holds = {spot.node.state, *spot.marks} - {TICKET}
    return next((need for need in NEEDS if need in holds), "")


def _nodes(need: str, spots: Sequence[NodeTile]) -> Attention:
    who, what = NEEDS[need]
    by = "state" if need in set(State) else "condition"
    times = [since for spot in spots if (since := _since(spot, need)) is not None]
    names = tuple(spot.node.name for spot in spots[:FEW])
    racks = tuple(dict.fromkeys(spot.place.rack for spot in spots if spot.place.rack))
    return Attention(len(spots), "node", what, who, names, racks, min(times, default=None), f"/fleet?{by}={need}")


def _since(spot: NodeTile, need: str) -> float | None:
    if spot.node.state == need:
        return spot.node.since
    held = next((held for condition, held in spot.node.conditions.items() if condition == need), None)
    return None if held is None else held.since


def _tickets(tickets: Sequence[Ticket]) -> Attention:
    work = Counter(WORK.get(ticket.remedy, ticket.remedy) for ticket in tickets)
    what = ", ".join(f"{words} ({number})" if number > 1 else words for words, number in work.most_common())
    oldest = sorted(tickets, key=lambda ticket: (ticket.opened_at, ticket.id))
    names = tuple(f"#{ticket.id}" for ticket in oldest[:FEW])
    return Attention(len(tickets), "ticket", what, NEEDS[TICKET][0], names, (), oldest[0].opened_at, "/tickets")
