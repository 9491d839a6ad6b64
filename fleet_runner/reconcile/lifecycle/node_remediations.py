"""What a Kubernetes cluster asks for by NodeRemediations: left for the runner as requests, and answered there.

Whoever may make one asks as a person does, and gets no more: mode, budgets, breaker, holds and pods' wishes are those
of the runner, which answers. Each is left once, by a name that the store knows again, whoever was killed in between;
what its status says is made from the store. One that is deleted is withdrawn, unless its remedy has begun.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event

import structlog

from fleet_runner.adapters.plays.wake import wake
from fleet_runner.adapters.schedulers import kubernetes
from fleet_runner.adapters.schedulers.kubernetes_remediations import Remediations
from fleet_runner.adapters.store import Store
from fleet_runner.core.access.api import NodeRequest
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.lifecycle import node_remediations
from fleet_runner.core.lifecycle.clusters import Names
from fleet_runner.core.lifecycle.node_conditions import use, utc
from fleet_runner.core.lifecycle.node_remediations import (
    FORGOTTEN,
    REMEDIES,
    WAITING,
    Asked,
    Known,
    Progress,
    progress,
    refused,
    waits,
)
from fleet_runner.core.lifecycle.runs import Entry, Intent, Node, Ticket
from fleet_runner.core.lifecycle.states import ENDED, Condition
from fleet_runner.reconcile.lifecycle import cluster_loops
from fleet_runner.reconcile.lifecycle.cluster_loops import ClusterLoop
from fleet_runner.reconcile.loop.context import TickContext

log = structlog.get_logger()

PULSE = 30.0
"""Seconds between two looks at what is asked for."""

CALLS = 200
"""NodeRemediations that one look deals with by requests of their own, oldest first; the next look goes on."""

AGAIN = 600.0
"""Seconds after which one is looked at again whose node could not be found."""

WITHDRAWN = "Withdrawn: its NodeRemediation is deleted, or its asker waits no more."


@dataclass(slots=True)
class RemediationTaker:
    """What takes and answers them. `theirs` gives each of our nodes its name in the cluster."""

    store: Store
    cluster: Remediations
    theirs: Callable[[], Names] = Names
    wake: Callable[[], object] = lambda: None
    go_on: Callable[[], bool] = lambda: True
    _later: dict[str, tuple[float, Progress]] = field(default_factory=dict[str, tuple[float, Progress]])
    _refused: dict[str, float] = field(default_factory=dict[str, float])
    _calls: int = 0

    def visit(self) -> int:
        """Take what is asked for, withdraw what is asked no more, tell how far each has come; return of how many.

        Raises:
            SchedulerError: the API server did not answer, or refused; nothing is withdrawn by that.
        """
        found = [node_remediations.read(raw, self.cluster.place) for raw in self.cluster.listed()]
        every = sorted((each for each in found if each is not None), key=lambda each: (each.made, each.uid))
        now, self._calls = self.store.clock(), 0
        self._later = {each.uid: self._later[each.uid] for each in every if each.uid in self._later}
        self._refused = {uid: until for uid, until in self._refused.items() if until > now}
        with self.store.one_moment():
            rows = {node.name: node for node in self.store.nodes()}
            requests = self.store.asked_by(each.by for each in every if not each.is_told)
        self._withdraw(every, rows, requests)
        left = [each for each in every if not each.is_told and each.uid not in self._refused]
        known, told = self._known(rows, requests), 0
        come = {each.by: progress(each, known[each.by]) for each in left if each.by in known}
        busy = {known[by].node.name: by for by, said in come.items() if said.succeeded == "Unknown"}
        names = self._names(rows)
        for asked in sorted(left, key=lambda each: (each.by not in come, self._later.get(each.uid, (0.0,))[0])):
            if self._calls >= CALLS or not self.go_on():
                break
            said = come[asked.by] if asked.by in come else self._taken(asked, rows, names, busy)
            wanted = node_remediations.status(asked, said, known.get(asked.by), utc(now))
            if not node_remediations.says(asked, wanted):
                told += self._told(asked, wanted)
        return told

    def _known(self, rows: Mapping[str, Node], requests: Mapping[str, NodeRequest]) -> dict[str, Known]:
        """Return what is known of each that was left for the runner."""
        mine = {by: each for by, each in requests.items() if each.node in rows}
        names = {each.node for each in mine.values()}
        with self.store.one_moment():
            moves = defaultdict[str, list[Entry]](list)
            for move in self.store.moves(names, min((each.at for each in mine.values()), default=0.0)):
                moves[move.node].append(move)
            tickets = defaultdict[str, list[Ticket]](list)
            for ticket in self.store.tickets() if mine else ():
                for name in ticket.nodes:
                    tickets[name].append(ticket)
            waiting = {name for name in names if Condition.PENDING in rows[name].conditions}
            uses = {name: use(self.store.latest_results(name)) for name in waiting}
        return {
            by: Known(
                each,
                rows[each.node],
                [move for move in moves[each.node] if move.at >= each.at],
                tickets[each.node],
                uses.get(each.node),
            )
            for by, each in mine.items()
        }

    def _names(self, rows: Mapping[str, Node]) -> dict[str, list[str]]:
        """Return what we call each node of the cluster; retired ones only where no other one has its name."""
        names, found = self.theirs(), dict[str, list[str]]()
        for name in sorted(rows, key=lambda each: rows[each].state in ENDED):
            mine = found.setdefault(names.of(name), [])
            if rows[name].state not in ENDED or not mine:
                mine.append(name)
        return found

    def _taken(
        self, asked: Asked, rows: Mapping[str, Node], names: Mapping[str, Sequence[str]], busy: dict[str, str]
    ) -> Progress:
        """Leave a request for the runner, or say why not."""
        if asked.was_left:
            return FORGOTTEN
        if asked.wrong:
            return refused("InvalidSpec", asked.wrong)
        if asked.over:
            return refused("Withdrawn", WITHDRAWN)
        until, said = self._later.get(asked.uid, (0.0, None))
        if said is not None and self.store.clock() < until:
            return said
        self._calls += 1
        name = self._node(asked, names)
        if isinstance(name, Progress):
            self._later[asked.uid] = (self.store.clock() + AGAIN, name)
            return name
        return self._left(asked, rows[name], busy)

    def _left(self, asked: Asked, node: Node, busy: dict[str, str]) -> Progress:
        if node.state in ENDED:
            return refused("Refused", "The node is retired and takes no requests; its history stays readable.")
        if other := busy.get(node.name):
            return refused("Busy", f"{other} asks for this node already: make another one once that has ended.")
        busy[node.name] = asked.by
        intent = Intent(0, node.name, REMEDIES[asked.remedy][0], asked.by, self.store.clock(), asked.reason)
        if self.store.leave_once(intent):
            log.info("accepted a request from Kubernetes", node=node.name, intent=intent.kind, by=asked.by)
            self.wake()
        return WAITING

    def _node(self, asked: Asked, names: Mapping[str, Sequence[str]]) -> str | Progress:
        """Return our name of the node that is asked about; where there is none, what is told."""
        there = asked.node
        if asked.machine is not None:
            there = node_remediations.node_of(self.cluster.machine(*asked.machine))
            if not there:
                return waits(
                    "UnknownMachine", f"Machine {asked.machine[0]} is not there, has no node yet, or may not be read."
                )
        mine = names.get(there, ())
        if len(mine) != 1:
            many = "more than one" if mine else "no"
            return waits("UnknownNode", f"fleet-runner has {many} node {there}.")
        node = self.cluster.node(there)
        if not node:
            return waits("UnknownNode", f"This cluster has no node {there}.")
        if not node_remediations.belongs(asked, node):
            return waits("OtherCluster", f"Node {there} of this cluster is not the Machine that is asked about.")
        return mine[0]

    def _withdraw(self, every: Sequence[Asked], rows: Mapping[str, Node], requests: dict[str, NodeRequest]) -> None:
        """Take back what is asked no more, as far as it has not begun."""
        asking = {each.by for each in every if not each.over}
        prefix = node_remediations.prefix(self.cluster.place)
        waiting = {each.by: each for each in self.store.unanswered(prefix) if each.by not in asking}
        held = (row.conditions.get(Condition.PENDING) for row in rows.values())
        pending = {each.by for each in held if each is not None and each.by.startswith(prefix)} - asking
        for request in (*waiting.values(), *self.store.asked_by(pending).values()):
            if self.store.withdraw_request(request, WITHDRAWN, self.store.clock()):
                log.info("a request from Kubernetes is withdrawn", node=request.node, by=request.by)
                self.wake()
        requests |= self.store.asked_by(requests.keys() & waiting.keys())

    def _told(self, asked: Asked, wanted: dict[str, object]) -> bool:
        """Have one say what it is to say; one that cannot is left for a while, a changed one for the next look."""
        self._calls += 1
        why = self.cluster.say(asked, wanted)
        if why:
            log.warning("a NodeRemediation is not answered", by=asked.by, why=why)
            self._refused[asked.uid] = self.store.clock() + AGAIN
        return why == ""


@contextmanager
def taking(world: TickContext) -> Iterator[None]:
    """Take what each cluster asks for for as long as it is open; only the runner that decides does so."""
    settings = world.settings
    if settings.kubernetes_remediations_kubeconfig is not None and settings.kubernetes_clusters:
        raise SettingsError(
            "kubernetes_remediations_kubeconfig cannot be used with kubernetes_clusters: nobody knows about which"
            " cluster's nodes its requests are; have them made in each cluster, and unset it"
        )
    files = cluster_loops.checked(cluster_loops.kubeconfigs(settings))
    if settings.kubernetes_remediations_kubeconfig is not None:
        cluster_loops.checked({"": settings.kubernetes_remediations_kubeconfig})
    loops = [
        ClusterLoop(name, PULSE, "NodeRemediations were not read", partial(_begun, world, name, file))
        for name, file in files.items()
    ]
    with cluster_loops.running(loops):
        yield


def _begun(world: TickContext, name: str, file: Path, stop: Event) -> Callable[[], object]:
    """Return what takes and answers those of one cluster once."""
    settings, nodes = world.settings, kubernetes.opened(file)
    other = settings.kubernetes_remediations_kubeconfig
    cluster = kubernetes.opened(other) if other is not None else nodes
    taker = RemediationTaker(
        world.store,
        Remediations(cluster, nodes, settings.kubernetes_remediations, name),
        partial(cluster_loops.theirs, world, name),
        lambda: wake(settings.state_dir, world.store),
        lambda: world.decides() and not stop.is_set(),
    )
    return lambda: taker.visit() if world.fleet is not None and world.decides() and world.unaccepted == "" else 0
