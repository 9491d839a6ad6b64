"""What does not wait for the end of a tick: a node of which alarms told takes no new work from now on.

A tick, or a glance, hands over between two of its steps. Nothing that moves a node or starts a play is done
here: that follows when its turn comes.
"""

import time
from contextlib import AbstractContextManager, nullcontext
from threading import Event

import structlog

from fleet_runner.adapters.plays.wakeup import Wakeup
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.actions import Decision, Move, OpenRun
from fleet_runner.core.lifecycle.decisions import decide
from fleet_runner.reconcile.budgets.allowance import Allowance
from fleet_runner.reconcile.lifecycle.apply import carry_out
from fleet_runner.reconcile.lifecycle.view import FleetView
from fleet_runner.reconcile.loop.context import Report, TickContext, timing
from fleet_runner.reconcile.loop.single_instance import alone

log = structlog.get_logger()

LEAST_REST = 0.01
"""Seconds between two looks at least."""

AT_ONCE = 20
"""Nodes that are decided at one look: about as long as any other step takes."""

_WITHIN_A_TICK = nullcontext()
"""The turn of whoever looks between two steps of a tick: it has it already."""


class Attention:
    """Whoever serves, hearing its bell between two steps; `rung` until somebody has taken a whole look."""

    def __init__(self, world: TickContext, bell: Wakeup) -> None:
        self._world = world
        self._bell = bell
        self._again = 0.0
        self._waiting = False
        self.rung = False

    def between(self, report: Report) -> None:
        """Decide, if it rang, and if the last look is as long ago as that took."""
        self._world.pulse.move()
        if time.monotonic() >= self._again and self._listen(0.0):
            self._look(report)

    def rest(self, seconds: float, stop: Event, report: Report) -> None:
        """Leave so many seconds to others, until `stop` is set, but for what cannot wait."""
        until = time.monotonic() + seconds
        while not stop.is_set() and (left := until - time.monotonic()) > 0:
            self._world.pulse.move()
            pause = self._again - time.monotonic()
            if pause > 0:
                stop.wait(min(pause, left))
            elif self._listen(left) and not stop.is_set():
                self._look(report, alone(self._world.settings))

    def wait(self, seconds: float) -> None:
        """Wait until it rings, or rang since this was last called."""
        if not self.rung:
            self._bell.wait(seconds)
        self.rung = self._waiting = False

    def _listen(self, seconds: float) -> bool:
        """Whether it rang within so many seconds, or nodes were left over at the last look."""
        rang = self._bell.wait(0.0 if self._waiting else seconds)
        self.rung = self.rung or rang
        return rang or self._waiting

    def _look(self, report: Report, turn: AbstractContextManager[None] = _WITHIN_A_TICK) -> None:
        began = time.monotonic()
        try:
            with turn:
                self._waiting = self._world.fleet is not None and press(self._world, self._world.fleet, report)
        except FleetError as error:
            log.warning("no decision was made between two steps; the next look tries again", why=str(error))
        ended = time.monotonic()
        self._again = ended + max(ended - began, LEAST_REST)


def press(world: TickContext, fleet: Fleet, report: Report) -> bool:
    """Decide for some nodes of which alarms told what takes them no time; return whether others wait."""
    found = world.store.pressing(AT_ONCE)
    if not found:
        return False
    now = time.time()
    purse, outlook = Allowance(world, fleet), FleetView(world, fleet)
    purse.open(now)
    running = {run.node: run for run in world.store.open_runs(node.name for node in found)}
    decided = 0
    for node in found:
        view = outlook.view(node, running.get(node.name), now)
        decision = decide(view, timing(world.settings, world.standings), now)
        if _is_brief(decision) and _is_brief(decision := purse.spend(view, decision, now)):
            carry_out(purse, view, decision, now, report)
            decided += 1
    return len(found) == AT_ONCE and decided > 0


def _is_brief(decision: Decision) -> bool:
    """Whether it neither moves a node nor starts anything."""
    return not any(isinstance(action, Move | OpenRun) for action in decision.actions)
