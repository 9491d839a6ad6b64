"""Kubernetes told of its nodes beside the work: labels and conditions that are as the store has them.

Nothing is queued: what differs is found again, however long the API server was away. While nothing changes, the
cluster is only listed, every `LOOK` seconds, in pages of 500 nodes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import structlog

from fleet_runner.adapters.plays.wake import wake
from fleet_runner.adapters.schedulers import kubernetes, kubernetes_status
from fleet_runner.adapters.schedulers.kubernetes import Kubernetes
from fleet_runner.adapters.schedulers.kubernetes_events import KubernetesEvents
from fleet_runner.adapters.store import Store
from fleet_runner.core.faults.rules.rules import AtDeadline
from fleet_runner.core.faults.signals import kubernetes as kubernetes_signals
from fleet_runner.core.lifecycle import node_conditions
from fleet_runner.core.lifecycle.clusters import Names
from fleet_runner.core.lifecycle.node_conditions import Wanted
from fleet_runner.core.lifecycle.node_lifecycle import is_ours, left_to_us, lifecycle, lifecycle_is_told
from fleet_runner.core.lifecycle.runs import Node, Ticket
from fleet_runner.reconcile.faults.policy import Policy
from fleet_runner.reconcile.lifecycle import cluster_loops, node_health
from fleet_runner.reconcile.lifecycle.cluster_loops import ClusterLoop
from fleet_runner.reconcile.lifecycle.node_events import EventsTeller
from fleet_runner.reconcile.lifecycle.node_health import Conditions
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.store_ownership import Outward

log = structlog.get_logger()

PULSE = 15.0
"""Seconds between two looks at what has changed in the store."""

LOOK = 600.0
"""Seconds after which what the nodes say is read again, though nothing has changed here."""

LEFT = "left"
"""Where it is noted of a node, until the next look, why its conditions in Kubernetes' own words are left."""

OURS = frozenset({*node_conditions.LABELS, *node_conditions.CONDITIONS})


@dataclass(slots=True)
class ConditionsTeller:
    """What keeps the nodes of one cluster true. `theirs` gives each of our nodes its name in the cluster."""

    store: Store
    cluster: Kubernetes
    theirs: Callable[[], Names] = Names
    may: Callable[[str], bool] = lambda _: True
    go_on: Callable[[], bool] = lambda: True
    events: EventsTeller | None = None
    health: Callable[[Conditions], object] | None = None
    _there: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    _looked: float = float("-inf")
    _versions: dict[str, int] = field(default_factory=dict[str, int])
    _results: int = 0
    _tickets: frozenset[tuple[int, str]] = frozenset()
    _wanted: dict[str, Wanted] = field(default_factory=dict[str, Wanted])
    _left: dict[str, str] = field(default_factory=dict[str, str])

    def visit(self) -> int:
        """Tell what differs; return of how many nodes.

        Raises:
            SchedulerError: the API server did not answer, or refused; what is left is found by the next visit.
        """
        self._recall()
        now = self.store.clock()
        if now - self._looked >= LOOK:
            self._there = dict(kubernetes_status.nodes(self.cluster))
            self._looked, self._left = now, {}
            self._hear()
        told = self._take_off()
        for name, theirs, want in self.due():
            if not self.go_on():
                break
            if why := self._say(theirs, want, now):
                log.warning("a Kubernetes node is not told all", node=name, why=why)
                self._left[name] = why  # until the next look at the cluster
                continue
            told += 1
        if self.events is not None:
            self.events.tell(self._there, self.theirs(), self.may, self.go_on)
        return told

    def _hear(self) -> None:
        """Hand over what others say of the health of our nodes; what we say ourselves is no news."""
        if self.health is None:
            return
        theirs = self.theirs()
        found = {name: self._there.get(theirs.of(name)) for name in self._wanted}
        self.health(
            {
                name: [each for each in there["conditions"] if not _is_said(each)]
                for name, there in found.items()
                if there is not None
            }
        )

    def _say(self, theirs: str, want: Wanted, now: float) -> str:
        """Have one node say what it is to say; return what is in the way."""
        current, moment = self._there[theirs], node_conditions.utc(now)
        if not node_conditions.says(current, want):
            there = node_conditions.conditions(current["conditions"], want.conditions, moment)
            if why := kubernetes_status.apply(self.cluster, theirs, want.labels, there):
                return why
            current["labels"] |= want.labels
            others = [each for each in current["conditions"] if each.get("type") not in node_conditions.CONDITIONS]
            current["conditions"] = [*others, *there]
        if not _lives(current, want):
            ours = left_to_us(current["conditions"], want.lifecycle)
            mine = node_conditions.conditions(current["conditions"], ours, moment)
            if why := kubernetes_status.apply_lifecycle(self.cluster, theirs, mine):
                log.warning("a Kubernetes node is not told all", node=theirs, why=why)
                current[LEFT] = why
                return ""
            types = {each["type"] for each in mine}
            others = [each for each in current["conditions"] if each.get("type") not in types and not is_ours(each)]
            current["conditions"] = [*others, *mine]
        return ""

    def _take_off(self) -> int:
        """Take away what was said of nodes of which nothing may be told any more; return of how many."""
        theirs, taken = self.theirs(), 0
        for name in self._wanted:
            current = self._there.get(theirs.of(name))
            if current is not None and not self.may(name) and _is_told(current):
                self._wipe(theirs.of(name))
                current["labels"] = {key: value for key, value in current["labels"].items() if key not in OURS}
                current["conditions"] = [each for each in current["conditions"] if not _is_said(each)]
                taken += 1
        return taken

    def _wipe(self, theirs: str) -> None:
        """Take away all that was said of one node."""
        kubernetes_status.apply(self.cluster, theirs, {}, [])
        kubernetes_status.apply_lifecycle(self.cluster, theirs, [])

    def look(self) -> None:
        """Read what the store and the cluster say now; nothing is written."""
        self._recall()
        self._there = dict(kubernetes_status.nodes(self.cluster))

    def due(self) -> Iterator[tuple[str, str, Wanted]]:
        """Yield each node that says something else than it should: its name, its name there, what it is to say."""
        theirs = self.theirs()
        for name, want in sorted(self._wanted.items()):
            there = theirs.of(name)
            known = there in self._there and name not in self._left and self.may(name)
            if known and not _says(self._there[there], want):
                yield name, there, want

    def clear(self, *, dry: bool = False) -> int:
        """Take away all that was said, of every node of the cluster, or only count them; return how many."""
        cleared = 0
        for name, current in kubernetes_status.nodes(self.cluster):
            if _is_told(current):
                if not dry:
                    self._wipe(name)
                cleared += 1
        return cleared

    def _recall(self) -> None:
        """Make anew what nodes are to say whose row, results or tickets have changed since the last visit."""
        with self.store.one_moment():
            theirs = self.theirs()
            rows = {node.name: node for node in self.store.nodes() if theirs.of(node.name)}
            top = self.store.tops().results
            tickets = self.store.tickets()
            kept = frozenset((ticket.id, name) for ticket in tickets for name in ticket.nodes)
            changed = {name for name, node in rows.items() if self._versions.get(name) != node.version}
            if self._versions:  # before, all are made anew
                changed |= self.store.nodes_with_results(self._results, top) & rows.keys()
            changed |= {name for _, name in kept ^ self._tickets} & rows.keys()
            for name in changed:
                self._wanted[name] = self._want(rows[name], tickets)
        for gone in self._wanted.keys() - rows.keys():
            del self._wanted[gone]
        self._versions = {name: node.version for name, node in rows.items()}
        self._results, self._tickets = top, kept

    def _want(self, node: Node, tickets: Iterable[Ticket]) -> Wanted:
        mine = [ticket for ticket in tickets if node.name in ticket.nodes]
        latest = self.store.latest_results(node.name)
        if self.events is not None:
            self.events.gather(node, latest, mine)
        return replace(node_conditions.wanted(node, latest, mine), lifecycle=lifecycle(node, latest))


def _is_told(current: Mapping[str, Any]) -> bool:
    """Whether a node, {"labels": ..., "conditions": [...]}, carries anything of ours."""
    return bool(current["labels"].keys() & OURS) or any(_is_said(each) for each in current["conditions"])


def _is_said(condition: Mapping[str, Any]) -> bool:
    return condition.get("type") in OURS or is_ours(condition)


def _says(current: Mapping[str, Any], want: Wanted) -> bool:
    return node_conditions.says(current, want) and _lives(current, want)


def _lives(current: Mapping[str, Any], want: Wanted) -> bool:
    """Whether a node says in Kubernetes' own words what it should, as far as others leave it to us."""
    return LEFT in current or lifecycle_is_told(current["conditions"], want.lifecycle)


@contextmanager
def telling(world: TickContext) -> Iterator[None]:
    """Keep the nodes of each cluster true for as long as it is open; only the runner that decides does so."""
    files = cluster_loops.checked(cluster_loops.kubeconfigs(world.settings))
    loops = [
        ClusterLoop(name, PULSE, "Kubernetes was not told of its nodes", partial(_begun, world, name, file))
        for name, file in files.items()
    ]
    with cluster_loops.running(loops):
        yield


def _begun(world: TickContext, name: str, file: Path, stop: Event) -> Callable[[], object]:
    """Return what looks after one cluster once."""
    may, cluster, policy = Outward(world), kubernetes.opened(file), Policy()
    teller = ConditionsTeller(
        world.store,
        cluster,
        partial(cluster_loops.theirs, world, name),
        may,
        lambda: world.decides() and not stop.is_set(),
        EventsTeller(world.store, KubernetesEvents(cluster), partial(_deadline, world, policy)),
        partial(_heard, world, policy),
    )
    return lambda: teller.visit() if world.fleet is not None and world.decides() and may.anything() else 0


def _deadline(world: TickContext, policy: Policy) -> float | None:
    """Return for how many seconds a remedy waits for work, None where the policy does not end work for one."""
    rules = policy.rules(world.settings)
    if rules.observe or rules.at_deadline is not AtDeadline.ACT:
        return None
    return world.settings.drain_deadline_seconds if rules.deadline is None else rules.deadline


def _heard(world: TickContext, policy: Policy, found: Conditions) -> None:
    """Keep what others say of our nodes as alarms, and have the runner look at those that changed."""
    heard = kubernetes_signals.table(world.settings.kubernetes_signals)
    if node_health.hear(world.store, policy.rules(world.settings), found, heard, world.decides):
        wake(world.settings.state_dir, world.store)
