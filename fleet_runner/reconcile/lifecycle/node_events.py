"""Events of Kubernetes nodes, told beside their conditions: what is due, how fast, and that it was told."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

import structlog

from fleet_runner.adapters.schedulers.kubernetes_events import EventsRefusedError, KubernetesEvents
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import SchedulerError
from fleet_runner.core.lifecycle import node_events
from fleet_runner.core.lifecycle.clusters import Names
from fleet_runner.core.lifecycle.node_events import WINDOW, WORK_ENDS, Allowance, NodeEvent
from fleet_runner.core.lifecycle.runs import Node, Stored, Ticket
from fleet_runner.core.lifecycle.states import Condition

log = structlog.get_logger()

MOVES = 20
"""Transitions of a node that are looked at; one that moves more often within the window tells the newest."""

MOST = 50
"""Events of one node that wait to be told at most: the newest."""

REST = 600.0
"""Seconds before an API server that refused our events is asked again."""

PAUSE = 60.0
"""Seconds before one that did not answer about an event is told of any again."""

Key = tuple[str, str, int]


@dataclass(slots=True)
class EventsTeller:
    """What is due to be told. After a restart it is found again in the store, and found told in the cluster.

    `deadline` gives the seconds for which a remedy waits for work, None where work is never ended for one.
    """

    store: Store
    cluster: KubernetesEvents
    deadline: Callable[[], float | None] = lambda: None
    allowance: Allowance = field(default_factory=Allowance)
    _due: dict[Key, NodeEvent] = field(default_factory=dict[Key, NodeEvent])
    _told: dict[Key, float] = field(default_factory=dict[Key, float])
    _rests_until: float = float("-inf")
    _pending: dict[str, Node] = field(default_factory=dict[str, Node])
    _late: set[Key] = field(default_factory=set[Key])
    _is_refused: bool = False

    def gather(self, node: Node, latest: Sequence[Stored], tickets: Iterable[Ticket]) -> None:
        """Note what is to be told of a node that has changed, from its newest results and its open tickets."""
        now = self.store.clock()
        recent = [each for each in latest if each.result.findings and each.at > now - WINDOW]
        earlier = {(each.result.check, each.stage): each for each in self.store.before(recent)}
        found = [(each, earlier.get((each.result.check, each.stage))) for each in latest]
        moves = self.store.history(node.name, MOVES, "transition") if node.since > now - WINDOW else ()
        every = node_events.fresh(node_events.events(node, moves, found, tickets), now)
        self._pending.pop(node.name, None)
        if Condition.PENDING in node.conditions:
            self._pending[node.name] = node
        self._note(every[-MOST:])

    def tell(
        self,
        there: Collection[str],
        theirs: Names,
        may: Callable[[str], bool],
        go_on: Callable[[], bool],
    ) -> int:
        """Tell what is due of the nodes that are `there`, oldest first; return of how many events.

        Whatever the API server does, nothing else depends on it: one that failed comes after the others the next
        time, and all is told later, for as long as it is news.
        """
        now, told = self.store.clock(), 0
        self._forget(now)
        self._announce(now)
        for key, event in sorted(self._due.items(), key=lambda each: (each[0] in self._late, each[1].at, each[0])):
            name = theirs.of(event.node)
            if now < self._rests_until or not go_on():
                break
            if name not in there or not may(event.node) or not self.allowance.take(event.node, now):
                continue
            try:
                told += self.cluster.tell(name, event)
                self._is_refused = False
            except EventsRefusedError as error:
                if not (error.is_of_all and self._is_refused):
                    log.warning("an event of a Kubernetes node was refused", node=event.node, why=str(error))
                if error.is_of_all:
                    self._is_refused, self._rests_until = True, now + REST
                    break
            except SchedulerError as error:
                log.warning("an event of a Kubernetes node was not told", node=event.node, why=str(error))
                self._rests_until = now + PAUSE
                self._late.add(key)
                break
            self._told[key] = event.at
            del self._due[key]
        return told

    def _announce(self, now: float) -> None:
        """Note what is to be told at a time of its own; what was called off meanwhile is not told any more."""
        self._due = {key: each for key, each in self._due.items() if each.reason != WORK_ENDS}
        deadline = self.deadline() if self._pending else None
        for node in self._pending.values():
            self._note(node_events.fresh(node_events.work_ends(node, deadline), now))

    def _note(self, events: Iterable[NodeEvent]) -> None:
        self._due |= {key: event for event in events if (key := _key(event)) not in self._told}

    def _forget(self, now: float) -> None:
        """Forget what is no news any more."""
        self.allowance.forget(now)
        self._due = {key: each for key, each in self._due.items() if each.at > now - WINDOW}
        self._told = {key: at for key, at in self._told.items() if at > now - WINDOW}
        self._late &= self._due.keys()


def _key(event: NodeEvent) -> Key:
    return event.node, event.about, event.occurrence
