"""How long nodes served in a span, and how long those that had served before did not.

The report counts the same from every transition of every node (`reliability.report.figures`); this needs where nodes
are now, and only the transitions of the span.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import ENDED, SERVING, State

HOUR = 3600.0


class Passage(NamedTuple):
    """That a node went from a state to another, and when (epoch seconds)."""

    node: str
    at: float
    state: State
    to: State


class ServiceTime(NamedTuple):
    """Seconds for which all nodes served, and for which each node was out that had served before."""

    served: float
    lost: Mapping[str, float]

    @property
    def availability(self) -> float | None:
        """Return the share of time in service, of nodes that have served; None where there was none."""
        whole = self.served + sum(self.lost.values())
        return self.served / whole if whole else None

    @property
    def lost_node_hours(self) -> float:
        """Return how many hours nodes were out, all together."""
        return sum(self.lost.values()) / HOUR

    def lost_gpu_hours(self, fleet: Fleet | None) -> float | None:
        """Return how many hours GPUs were out; None where it is not known of every such node how many it has."""
        if fleet is None:
            return None
        devices = {name: fleet.devices.get(name) for name in self.lost}
        gpus = {name: sum(part.kind == "gpu" for part in found.parts) for name, found in devices.items() if found}
        if any(not gpus.get(name) for name in self.lost):
            return None
        return sum(seconds / HOUR * gpus[name] for name, seconds in self.lost.items())


def service_time(
    nodes: Iterable[Node], moves: Iterable[Passage], served_first: Mapping[str, float], since: float, now: float
) -> ServiceTime:
    """Return the service time from `since` to `now` (epoch seconds).

    `moves` are the nodes' transitions since then, the oldest first; `served_first` says when nodes came to serve for
    the first time. A node that left service within the span has served before, whatever is still kept of it.
    """
    moved: dict[str, list[Passage]] = {}
    for move in moves:
        moved.setdefault(move.node, []).append(move)
    served, lost = 0.0, dict[str, float]()
    for node in nodes:
        first = served_first.get(node.name)
        for state, begins, ends in _stays(node, moved.get(node.name, ()), since, now):
            if state in SERVING:
                served += ends - begins
                first = begins if first is None else first
            elif first is not None and state not in ENDED and ends > first:
                lost[node.name] = lost.get(node.name, 0.0) + ends - max(begins, first)
    return ServiceTime(served, lost)


def _stays(node: Node, moves: Sequence[Passage], since: float, now: float) -> Iterable[tuple[State, float, float]]:
    """Yield where a node was from when to when; a clock that was set back makes a stay without length."""
    here, begins = moves[0].state if moves else node.state, since
    for move in moves:
        at = min(max(begins, move.at), now)
        yield here, begins, at
        here, begins = move.to, at
    yield here, begins, now
