"""Seeds from beginning to end: real runners, a technician, disturbances, and what must hold when they are over."""

import signal
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import StoreError
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import State
from tests.chaos.disturbances import ON_BATCHES, Disturbance, Kind
from tests.chaos.fates import fate
from tests.chaos.herd import Found, Herd, catches, kill
from tests.chaos.machine import Machine
from tests.chaos.quiet import ACT, Story, certify, is_settled
from tests.postgres import Postgres

PAUSE = 0.5
PATIENCE = 2.0
"""Seconds for which the test itself waits for a busy store; then it comes again."""


@dataclass(frozen=True, slots=True)
class Seed:
    """What a seed draws: its nodes, what disturbs them, and how many moves they make where nothing does."""

    names: tuple[str, ...]
    plan: tuple[Disturbance, ...]
    steps: int


@dataclass(slots=True)
class Course:
    """Seeds in a row on one lab, whose fates are drawn of `fates`. `later` is what is to be done at which moment."""

    fates: str
    herd: Herd
    runners: tuple[str, ...]
    seeds: tuple[Seed, ...]
    store: Store
    patience: float
    server: Postgres | None = None
    told: list[str] = field(default_factory=list[str])
    later: list[tuple[float, Callable[[], None]]] = field(default_factory=list[tuple[float, Callable[[], None]]])
    paused: set[str] = field(default_factory=set[str])
    settled: set[str] = field(default_factory=set[str])
    stays: set[tuple[str, float]] = field(default_factory=set[tuple[str, float]])
    certified: set[tuple[str, float]] = field(default_factory=set[tuple[str, float]])
    began: float = field(default_factory=time.monotonic)

    @property
    def machines(self) -> Mapping[str, Machine]:
        """The machines of the lab, by name."""
        folder = self.herd.site.machines
        return {name: Machine(name, fate(self.fates, name), folder / f"{name}.jsonl") for name in self.names}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the nodes."""
        return self.herd.site.names()

    def run(self) -> None:
        """Take one seed after the other, whose nodes are held until then and afterwards, and stop."""
        self.store.set_mode(ACT)
        for each in self.seeds[1:]:
            self._ask(each.names, IntentKind.HOLD, "a later seed's")
        for runner in self.runners:
            self.herd.start(runner)
        for number, each in enumerate(self.seeds):
            if number:
                self._ask(self.seeds[number - 1].names, IntentKind.HOLD, "an earlier seed's")
                self._ask(each.names, IntentKind.RELEASE, "its seed begins")
                self._say(f"seed {number + 1} of {len(self.seeds)}")
            self._take(each)
        self._rest()

    def _take(self, seed: Seed) -> None:
        """Disturb until there is nothing left to disturb with, and wait until every node has come to rest."""
        machines, waiting, began = self.machines, list(seed.plan), time.monotonic()
        while self.later or not self.settled.issuperset(seed.names):
            now = time.monotonic()
            if now - began > self.patience:
                raise AssertionError(f"not at rest after {self.patience:.0f} s: {self._unsettled(seed)}")
            self._do_later(now)
            self._start_again()
            stays = sum(name in seed.names for name, _ in self.stays)
            if waiting and stays >= len(seed.names) + waiting[0].at * seed.steps:
                self._disturb(waiting.pop(0))
            self._look(machines)
            time.sleep(PAUSE)

    def _ask(self, names: Iterable[str], intent: IntentKind, why: str) -> None:
        for name in names:
            self.store.leave_intent(name, intent, "test", reason=why, now=time.time())

    def _look(self, machines: Mapping[str, Machine]) -> None:
        """Be the technician, and note who has come to rest."""
        try:
            for node in self.store.nodes():
                stay = (node.name, node.since)
                self.stays.add(stay)
                if stay not in self.certified and certify(self.store, node, machines[node.name], time.time()):
                    self.certified.add(stay)
                if node.name not in self.settled and is_settled(self.store, node, machines[node.name]):
                    self.settled.add(node.name)
        except StoreError:
            return  # it is being disturbed

    def _start_again(self) -> None:
        """Start what ended by itself again, as systemd does: a runner that finds no database ends."""
        for runner, process in tuple(self.herd.serving.items()):
            if process.poll() is not None:
                self._say(f"{runner} ended by itself ({self.herd.bury(runner)}), starts again")
                self._after(1.0, partial(self.herd.start, runner))

    def _unsettled(self, seed: Seed) -> str:
        left = set(seed.names) - self.settled
        try:
            rows = [(node.name, node.state, node.waiting) for node in self.store.nodes() if node.name in left]
        except StoreError as error:
            return str(error)
        return f"{len(rows)} nodes: {rows[:5]}"

    def _rest(self) -> None:
        """Hold every node, wait until nothing runs on any, and end the runners as an operator would."""
        self._ask(self.seeds[-1].names, IntentKind.HOLD, "the seed is over")
        self._until("runs are open", lambda: not self.store.open_runs())
        self._until(
            "batches are under way", lambda: not [each for each in self.herd.alive() if each.batch is not None]
        )
        serving = self.herd.serving
        self._until("runners start", lambda: all(catches(serving[each].pid, signal.SIGTERM) for each in self.runners))
        for runner in self.runners:
            self.herd.signal(runner, signal.SIGTERM)
        for runner in self.runners:
            status = self.herd.bury(runner)
            assert status == 0, f"{runner} ended with {status}"
        self._until("processes are left", lambda: not self.herd.alive())

    def _until(self, what: str, over: Callable[[], bool]) -> None:
        until = time.monotonic() + 60.0
        while not over():
            if time.monotonic() > until:
                raise AssertionError(f"a minute after the end {what}: {self.herd.alive()} {self.store.open_runs()}")
            time.sleep(PAUSE)

    def _say(self, words: str) -> None:
        self.told.append(f"{time.monotonic() - self.began:6.1f} s  {words}")

    def _do_later(self, now: float) -> None:
        for entry in [each for each in self.later if each[0] <= now]:
            self.later.remove(entry)
            entry[1]()

    def _after(self, seconds: float, what: Callable[[], None]) -> None:
        self.later.append((time.monotonic() + seconds, what))

    def _disturb(self, disturbance: Disturbance) -> None:
        kind, seconds = disturbance.kind, disturbance.seconds
        runner = self._chosen(disturbance)
        carried = self.herd.carried(runner) if runner else []
        match kind:
            case Kind.KILL | Kind.TERM if runner:
                self._end(runner, signal.SIGKILL if kind is Kind.KILL else signal.SIGTERM, seconds)
            case Kind.STOP if runner:
                self._stop(runner, [], seconds)
            case Kind.FREEZE if runner:
                self._stop(runner, [*carried, *self.herd.parents(runner)], seconds)
            case Kind.KILL_MACHINE if runner:
                self._kill([*carried, *self.herd.parents(runner)])
                self._end(runner, signal.SIGKILL, seconds)
            case Kind.KILL_SUPERVISOR | Kind.KILL_CARRIED:
                self._kill_carried(disturbance, carried)
            case Kind.KILL_PARENT | Kind.STOP_PARENT if runner:
                self._disturb_parents(runner, disturbance)
            case Kind.LOCK:
                self._lock(seconds)
            case _:
                self._disturb_server(disturbance)

    def _chosen(self, disturbance: Disturbance) -> str:
        """Return which runner is hit, one that carries something where that is what it is about; "" for none."""
        there = [runner for runner in self.runners if runner in self.herd.serving and runner not in self.paused]
        if disturbance.kind in ON_BATCHES:
            there = [runner for runner in there if self.herd.carried(runner)] or there
        return there[int(disturbance.which * len(there))] if there else ""

    def _kill_carried(self, disturbance: Disturbance, carried: list[Found]) -> None:
        supervisors = [each for each in carried if each.is_supervisor]
        if supervisors:
            chosen = supervisors[int(disturbance.which * len(supervisors))]
            family = [each for each in carried if each.batch == chosen.batch]
            self._kill([chosen] if disturbance.kind is Kind.KILL_SUPERVISOR else family)

    def _disturb_parents(self, runner: str, disturbance: Disturbance) -> None:
        parents = self.herd.parents(runner)
        if disturbance.kind is Kind.KILL_PARENT:
            self._kill(parents)
        else:
            self._say(f"{len(parents)} parents of {runner}'s plays are stopped for {disturbance.seconds:.1f} s")
            self._pause([each.pid for each in parents], disturbance.seconds)

    def _disturb_server(self, disturbance: Disturbance) -> None:
        server = self.server
        if server is None:
            return
        match disturbance.kind:
            case Kind.CUT:
                self._say(f"{server.cut(disturbance.which)} connections are cut")
            case Kind.CRASH_DATABASE:
                server.stop("immediate")
                server.start()
                self._say("the database crashed and was started again")
            case Kind.TAKE_DATABASE:
                server.stop("fast")
                self._say(f"the database is away for {disturbance.seconds:.1f} s")
                time.sleep(disturbance.seconds)
                server.start()
            case _:
                pass

    def _kill(self, chosen: list[Found]) -> None:
        for each in chosen:
            kill(each.pid, signal.SIGKILL)
        self._say(f"kill -9 {_words(chosen)}")

    def _end(self, runner: str, number: signal.Signals, seconds: float) -> None:
        """End a runner, and start it again later."""
        self.herd.signal(runner, number)
        status = self.herd.bury(runner)
        self._say(f"{runner} ended by {number.name} ({status}), starts again {seconds:.1f} s later")
        self._after(seconds, partial(self.herd.start, runner))

    def _stop(self, runner: str, carried: list[Found], seconds: float) -> None:
        """Stop a runner, and what it carries, and wake all of it later."""
        self.paused.add(runner)
        self._say(f"{runner} and {len(carried)} processes beside it are stopped for {seconds:.1f} s")
        self._pause([self.herd.serving[runner].pid, *(each.pid for each in carried)], seconds)
        self._after(seconds, partial(self.paused.discard, runner))

    def _pause(self, pids: list[int], seconds: float) -> None:
        """Stop processes, and wake them later."""
        for pid in pids:
            kill(pid, signal.SIGSTOP)

        def wake() -> None:
            for pid in pids:
                kill(pid, signal.SIGCONT)
            self._say(f"{pids} are awake")

        self._after(seconds, wake)

    def _lock(self, seconds: float) -> None:
        """Have another writer keep a SQLite store to itself."""
        path = self.herd.site.state_dir(self.runners[0]) / "fleet.db"
        connection = sqlite3.connect(path, isolation_level=None, timeout=10.0, check_same_thread=False)
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            connection.close()
            return
        self._say(f"the database is locked for {seconds:.1f} s")

        def unlock() -> None:
            connection.rollback()
            connection.close()

        self._after(seconds, unlock)


def differences(expected: Mapping[str, Story], found: Mapping[str, Story]) -> list[str]:
    """Return where a seed with disturbances did not end, or not come along, as it does without."""
    return [
        f"{name}: expected {expected[name]}, found {found[name]}"
        for name in expected
        if expected[name] != found[name]
    ]


def condemned(found: Mapping[str, Story]) -> list[str]:
    """Return where something was done about a node with which nothing is wrong, or a person was asked to look."""
    return [
        f"{name}: nothing is wrong with it, found {each}"
        for name, each in found.items()
        if each.path[-1] != State.PRODUCTION or State.TRIAGE in each.path or each.tickets or each.attempts
    ]


def _words(chosen: list[Found]) -> str:
    return (
        ", ".join(f"{each.pid} ({each.batch.name if each.batch else each.command[:40]})" for each in chosen)
        or "nobody"
    )
