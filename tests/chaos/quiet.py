"""A seed without any disturbance: the same loop, store and machines in one process, with a clock of its own."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from fleet_runner.adapters.plays.engine import Batch, BatchState, Look
from fleet_runner.adapters.source import Reader
from fleet_runner.adapters.store import Store
from fleet_runner.core.budgets.modes import Mode, Scope, Setting
from fleet_runner.core.lifecycle.runs import IntentKind, Node, Outcome
from fleet_runner.core.lifecycle.spool import Decoded, Ended, Judged, PlayEnd, encode
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from fleet_runner.settings import Settings, load
from tests.chaos.fates import Fault, fate
from tests.chaos.flashing import flashed
from tests.chaos.machine import Machine
from tests.chaos.site import Site

FAR = 10**9
STEP = 1.0
ACT = Setting(Scope.FLEET, "", None, Mode.ACT, 0.0, "tests")
"""Without it no store lets automation act at a node."""

MOST = 20_000


class Story(NamedTuple):
    """What became of a node: the states that it went through, and its tickets as (fault, closed)."""

    path: tuple[str, ...]
    tickets: tuple[tuple[str, bool], ...]
    attempts: tuple[str, ...]


@dataclass(slots=True)
class Clock:
    """A time that only goes on when somebody waits."""

    at: float

    def now(self) -> float:
        """Tell the time."""
        return self.at


@dataclass(slots=True)
class Quiet:
    """An engine that plays a batch to its end at once, on machines whose time it makes."""

    machines: Mapping[str, Machine]
    clock: Clock
    store: Store
    spools: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def launch(self, settings: Settings, batch: Batch) -> None:
        """Play the nodes one after the other."""
        text = ""
        for name, told in batch.runs.items():
            machine = self.machines[name]
            firmware = batch.stage is Stage.FIRMWARE
            work = flashed(machine, self.store, told, name) if firmware else machine.work(batch.stage, told)
            try:
                while True:
                    self.clock.at += next(work)
            except StopIteration as end:
                text += "".join(encode(Judged(name, self.clock.at, result)) for result in end.value)
            text += encode(Ended(name, self.clock.at, PlayEnd.OK))
        self.spools[batch.id] = text.encode()

    def look(self, settings: Settings, batch_id: str) -> Look:
        """Every batch is over."""
        return Look(BatchState.ENDED, 0)

    def spool(self, settings: Settings, batch_id: str, offset: int) -> Decoded:
        """Return what was said."""
        return Decoded.of(self.spools[batch_id][offset:])

    def stop(self, settings: Settings, batch_id: str) -> None:
        """Nothing is under way."""

    def discard(self, settings: Settings, batch_id: str) -> None:
        """Forget what it said."""
        del self.spools[batch_id]


def stories(fates: str, site: Site, folder: Path) -> Mapping[str, Story]:
    """Run a seed to its end, and return what became of each node. `folder` is for this run alone."""
    own = Site(folder, site.nodes, site.batch, passive=30.0)
    own.write()
    settings = load(**own.values("quiet"))
    clock = Clock(1_000_000.0)
    machines = {
        name: Machine(name, fate(fates, name), own.machines / f"{name}.jsonl", clock.now) for name in own.names()
    }
    own.state_dir("quiet").mkdir()
    with Store.create(settings.store_url) as store:
        store.set_mode(ACT)
        world = TickContext(settings, store, Reader(settings), Quiet(machines, clock, store))
        settled: set[str] = set()
        for _ in range(MOST):
            tick(world, clock.at)
            nodes = store.nodes()
            moving = (node for node in nodes if node.name not in settled)
            settled |= {node.name for node in moving if is_settled(store, node, machines[node.name])}
            if len(settled) == len(nodes):
                return {node.name: story(store, node.name) for node in nodes}
            for node in nodes:
                certify(store, node, machines[node.name], clock.at)
            clock.at += STEP
        raise AssertionError([(node.name, node.state, node.waiting) for node in store.nodes()])


def certify(store: Store, node: Node, machine: Machine, now: float) -> bool:
    """Be the technician: move the cable that a ticket is about, and certify the node, once a stay in `onboard`."""
    if node.state is not State.ONBOARD or store.intents(node.name):
        return False
    if machine.fate.fault is Fault.SWAP and store.tickets(node=node.name):
        machine.recable()
    store.leave_intent(node.name, IntentKind.CERTIFY, "technician", now=now)
    return True


def is_settled(store: Store, node: Node, machine: Machine) -> bool:
    """Whether a node has come to where it stays: what it serves with was looked at, what went wrong is known."""
    if node.state not in {State.PRODUCTION, State.TRIAGE, State.FIRMWARE_FAILED}:
        return False
    ended = [run for run in store.runs(node.name, since=node.since) if run.ended_at is not None]
    if node.state is State.PRODUCTION:
        looked = any(run.stage is Stage.HEALTH_PASSIVE and run.outcome is Outcome.PASSED for run in ended)
        return looked and not machine.is_broken() and not node.conditions
    return node.state is State.FIRMWARE_FAILED or any(run.stage is Stage.COLLECT for run in ended)


def story(store: Store, name: str) -> Story:
    """Return what became of a node, as the store tells it."""
    moves = reversed(store.history(name, 2000, "transition"))
    path = tuple(str(move.to) for move in sorted(moves, key=lambda each: each.id))
    known = store.tickets(node=name, open_only=False)
    tickets = sorted((ticket.fault, ticket.closed_at is not None) for ticket in known)
    attempts = tuple(each.remedy.value for each in sorted(store.attempts(name), key=lambda each: each.id))
    return Story(path, tuple(tickets), attempts)


def shown(story: Story) -> str:
    """Return a story in one line."""
    return json.dumps(story._asdict())
