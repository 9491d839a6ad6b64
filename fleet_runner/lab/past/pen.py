"""Writing the past: the store's own functions, at moments that are over, in one transaction and in order of time."""

import heapq
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from random import Random
from typing import Any

from sqlalchemy import Connection, insert

from fleet_runner.adapters.store.faults import attempts
from fleet_runner.adapters.store.lifecycle import decisions, nodes
from fleet_runner.adapters.store.results import results
from fleet_runner.adapters.store.runs import runs
from fleet_runner.adapters.store.runs.rows import run as as_run
from fleet_runner.adapters.store.schema.core import runs as run_rows
from fleet_runner.adapters.store.tickets import rma_cases, tickets
from fleet_runner.core.checks.verdicts import Finding, Result
from fleet_runner.core.lifecycle.actions import (
    Action,
    BeginAttempt,
    CloseTicket,
    Decision,
    EndAttempt,
    Move,
    OpenRun,
    OpenTicket,
)
from fleet_runner.core.lifecycle.runs import RUNNER, Node, Outcome, Run
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event, Stage, State
from fleet_runner.core.tickets.rma_cases import Case, Replaced

FAR = 86_400.0

SCHEDULED = "its schedule"
"""Why sweeps are made."""

Life = Generator[float]
"""Something that goes on: it yields how many seconds later it goes on again."""


@dataclass(slots=True)
class Pen:
    """The store of the past at a moment. `taken` are nodes that a life works on: no other one begins with them."""

    connection: Connection
    random: Random
    at: float
    end: float
    states: dict[str, State] = field(default_factory=dict[str, State])
    taken: set[str] = field(default_factory=set[str])
    lives: list[tuple[float, int, Life]] = field(default_factory=list[tuple[float, int, Life]])
    numbers: "count[int]" = field(default_factory=count)

    def begin(self, life: Life, at: float) -> None:
        """Have a life begin at a moment."""
        heapq.heappush(self.lives, (at, next(self.numbers), life))

    def play(self) -> None:
        """Let everything go on until the end."""
        while self.lives and self.lives[0][0] < self.end:
            self.at, _, life = heapq.heappop(self.lives)
            wait = next(life, None)
            if wait is not None:
                self.begin(life, self.at + wait)
        self.at = self.end

    def act(self, name: str, *actions: Action, waiting: str = "") -> tuple[Run, ...]:
        """Carry a decision about a node out."""
        return decisions.apply(self.connection, self._node(name), Decision(actions, waiting, self.at + FAR), self.at)

    def move(
        self,
        name: str,
        event: Event,
        *more: Action,
        by: str = RUNNER,
        because: str = "",
        seen: tuple[int, ...] = (),
    ) -> None:
        """Take a node along the transition of an event; ConflictError where the table has none."""
        row = TRANSITIONS[self.states[name], event]
        self.act(name, Move(row, by, because, seen), *more)
        self.states[name] = row.to

    def open(self, name: str, stage: Stage, why: str) -> Run:
        """Open a run."""
        return self.act(name, OpenRun(stage, why))[0]

    def close(self, run: Run, outcome: Outcome, told: Sequence[Result] = (), detail: str = "") -> tuple[int, ...]:
        """End a run with what it found; return the results' ids."""
        results.add(self.connection, {run.node: run}, [Judged(run.node, self.at, each) for each in told])
        runs.close(self.connection, run, outcome, (detail, self.at))
        return tuple(each.id for each in results.of_run(self.connection, run.id))

    def sweep(self, told: Iterable[tuple[str, Sequence[Result]]], seconds: float) -> None:
        """Write a sweep of many nodes that all pass."""
        found = dict(told)
        ran: dict[str, Any] = {
            "opened_at": self.at - seconds,
            "ended_at": self.at,
            "outcome": Outcome.PASSED,
            "reason": SCHEDULED,
        }
        rows = [runs.row(Run(0, name, Stage.HEALTH_PASSIVE, 1, "", **ran)) for name in found]
        many = insert(run_rows).returning(run_rows, sort_by_parameter_order=True)
        made = {row.node: as_run(row) for row in self.connection.execute(many, rows)} if rows else {}
        lines = [Judged(name, self.at - 1, each) for name, mine in found.items() for each in mine]
        results.add(self.connection, made, lines)

    def ticket(self, name: str, finding: Finding, check: str, nodes_: tuple[str, ...] = ()) -> None:
        """Open a ticket for a finding, or see it once more."""
        steps = [f"{number}. {step}" for number, step in enumerate(finding.steps, start=1)]
        body = "\n".join([f"{name}, simulated.", finding.message, *steps])
        title = f"{name}: {finding.message}"
        self.act(
            name, OpenTicket(finding.fault, check, title, body, nodes_ or (name,), finding.remedy.value, self.at)
        )

    def closing(self, name: str, because: str) -> tuple[CloseTicket, ...]:
        """Return what closes a node's own open tickets."""
        mine = tickets.found(self.connection, name, open_only=True)
        return tuple(CloseTicket(each.id, because) for each in mine if set(each.nodes) == {name})

    def shut(self, name: str, fault: str, because: str) -> None:
        """Close the open ticket of a fault."""
        mine = tickets.found(self.connection, name, open_only=True)
        self.act(name, *(CloseTicket(each.id, because) for each in mine if each.fault == fault))

    def tried(self, finding: Finding) -> BeginAttempt:
        """Return what begins the remedy of a finding."""
        return BeginAttempt(finding.remedy, (finding.fault,), RUNNER)

    def outcome(self, name: str, *, helped: bool, because: str) -> tuple[EndAttempt, ...]:
        """Return what ends the attempt that goes on."""
        mine = attempts.of_node(self.connection, name, self.at)
        return tuple(EndAttempt(each.id, helped, because) for each in mine if each.ended_at is None)

    def case(self, name: str, number: str, slot: str, out: str) -> Case:
        """Open a case at a vendor about a part."""
        case = Case(0, name, "Simulated Vendor", number, "simulated operator", self.at, (Replaced(slot, out),))
        return replace(case, id=rma_cases.begin(self.connection, case))

    def exchanged(self, case: Case, came: str) -> None:
        """Have the part of a case come back, and end it."""
        whole = replace(case, parts=tuple(replace(part, came=came) for part in case.parts))
        rma_cases.exchange(self.connection, whole, case.by, self.at)
        rma_cases.end(self.connection, whole, "the part was exchanged", case.by, self.at)

    def _node(self, name: str) -> Node:
        found = nodes.one(self.connection, name)
        if found is None:
            raise LookupError(name)
        return found
