"""Adapters that do not stand where they are known: moved to another port, new, or of which nothing can be said.

A GUID says more than a description. But where what the description says is as designed and what the GUID says is not,
the adapter was moved, and its cable is right.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.ends import made_up, names_no_other
from fleet_runner.core.cabling.links import Link, Port


@dataclass(frozen=True, slots=True)
class New:
    """What stands in a known place for the first time: the GUID known there ("" for none) and the one found.

    `home` is the port of which the found GUID is known, if it is of any.
    """

    port: Port
    known: str
    found: str
    home: Port | None = None


def moved(expected: Mapping[Port, Port], wrong: Iterable[Link], seen: Bound) -> dict[Port, Port]:
    """Return the port in which each adapter stands that is known in another: its description fits the design."""
    ends = _ends_of(wrong)
    fitting = {
        port: said.port for port, said in seen.said.items() if port in ends and expected.get(said.port) == ends[port]
    }
    return free(fitting, seen.links)


def free(moves: dict[Port, Port], links: Iterable[Link]) -> dict[Port, Port]:
    """Return the moves to ports at which nothing is seen, or from which it moves, too."""
    taken = {port for joined in links for port in joined} if moves else set[Port]()
    while stuck := [port for port, target in moves.items() if target in taken and target not in moves]:
        for port in stuck:
            del moves[port]
    return moves


def unclear(wrong: Iterable[Link], seen: Bound, ports: Mapping[Port, Port]) -> dict[Port, Port]:
    """Return made-up ports for adapters whose GUID and description name two servers, and neither fits the design.

    Where both name one server, the GUID is believed: drivers count adapters anew. `ports` says where else they stand.
    """
    ends = {port for joined in wrong for port in joined}
    return {
        here: made_up(said.end)
        for port, said in seen.said.items()
        if said.port.device != port.device and (here := ports.get(port, port)) in ends
    }


def new_adapters(
    expected: Mapping[Port, Port], wrong: Iterable[Link], seen: Bound, servers: frozenset[str]
) -> dict[Port, Port]:
    """Return the port of each nameless adapter that stands where a server's known one did, whose GUID is nowhere.

    Its cable may be one of several that took each other's ports: then it is the only one that is left.
    """
    if not seen.lost or not seen.nameless:
        return {}
    lost = seen.lost.keys() - {port for joined in seen.links for port in joined}
    ends = _ends_of(wrong)
    found: dict[Port, Port] = {}
    for port in ends:
        if port.device in seen.nameless and seen.strangers[port.device].kind != "SW":
            place = _last(port, expected, ends)
            its = place is not None and place in lost and place.device in servers
            if place and its and names_no_other(seen.strangers[port.device], place.device):
                found[port] = place
    return found


def _last(port: Port, expected: Mapping[Port, Port], ends: Mapping[Port, Port]) -> Port | None:
    """Return the port without a cable to which cables in wrong ports lead from one, designed and plugged in turns."""
    place = expected.get(ends[port])
    while place is not None and place in ends:
        place = expected.get(ends[place])
    return place


def _ends_of(links: Iterable[Link]) -> dict[Port, Port]:
    """Return the far end of each port; of two links at one port the first counts."""
    ends: dict[Port, Port] = {}
    for a, b in links:
        if a not in ends and b not in ends:
            ends[a] = b
            ends[b] = a
    return ends
