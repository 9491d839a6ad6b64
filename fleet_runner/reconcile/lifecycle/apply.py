"""Decisions for the nodes that are due, applied as a whole, within what the purse holds; then what they start."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

import structlog

from fleet_runner.adapters.plays.engine import Batch
from fleet_runner.adapters.store.lifecycle.nodes import PRESSING
from fleet_runner.core.base.errors import ConflictError, FleetError
from fleet_runner.core.inventory.placement import group, living
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.actions import CloseTicket, Decision, Move, OpenRun, OpenTicket
from fleet_runner.core.lifecycle.decisions import decide
from fleet_runner.core.lifecycle.runs import Node, Outcome, Run
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.lifecycle.view import View
from fleet_runner.reconcile.budgets.allowance import Allowance
from fleet_runner.reconcile.lifecycle.batches import NOBODY
from fleet_runner.reconcile.lifecycle.run_variables import payload
from fleet_runner.reconcile.lifecycle.view import FleetView
from fleet_runner.reconcile.loop.context import Report, TickContext, timing

log = structlog.get_logger()

TOGETHER = 500
"""Nodes for which a tick asks at once what there is to be read; each is then read, and decided for, by itself."""

ROUNDS = 5
"""How often a tick goes on with nodes that asked for another look at once."""


def act(
    world: TickContext, fleet: Fleet, clock: Callable[[], float], report: Report, between: Callable[[Report], None]
) -> None:
    """Decide for every node that is due until none is, then start what was opened, a stage in one batch.

    `between` is called between two steps: what cannot wait is done there. `clock` is asked for each node anew, after
    what is known of it was read: an answer from before a decision must not look as if it came after.
    """
    purse, outlook = Allowance(world, fleet), FleetView(world, fleet)
    purse.open(clock())
    runners = living(world.store.runners(), world.settings.lease_seconds) if world.store.shared else None
    opened: dict[str, list[Run]] = defaultdict(list)
    for _ in range(ROUNDS):
        due = _due(purse, clock())
        if not due:
            break
        for at in range(0, len(due), TOGETHER):
            some, patience = due[at : at + TOGETHER], timing(world.settings, world.standings)
            running = {run.node: run for run in world.store.open_runs(node.name for node in some)}
            outlook.ask(node.name for node in some)
            resting, tickets = list[tuple[Node, Decision]](), report.tickets
            for node in some:
                view = outlook.view(node, running.get(node.name), clock())
                now = clock()
                decision = purse.spend(view, decide(view, patience, now), now)
                purse.leave_line(node.name, decision, now)
                if decision.actions or node.wake_at <= PRESSING:
                    reached = NOBODY if runners is None else group(runners, outlook.where(node.name))
                    for run in carry_out(purse, view, _together(purse, decision, reached), now, report):
                        opened[run.batch].append(run)
                else:
                    resting.append((node, decision))
                between(report)
                if report.tickets > tickets:  # they may name others, whose turn comes
                    outlook.unmentioned = outlook.unmentioned._replace(tickets=frozenset())
            _rest(world, resting, report)
    for batch in opened.values():
        between(report)
        _launch(world, outlook, batch, clock())
        report.started += 1


def _together(purse: Allowance, decision: Decision, reached: frozenset[str]) -> Decision:
    """Return a decision whose runs are in the batches that this tick opens."""
    joined = (
        purse.batches.join(action, reached) if isinstance(action, OpenRun) else action for action in decision.actions
    )
    return replace(decision, actions=tuple(joined))


def _rest(world: TickContext, resting: list[tuple[Node, Decision]], report: Report) -> None:
    """Write down what nodes wait for of which nothing follows now: it concerns nobody but them."""
    why, changed = "it has changed since it was read", tuple[str, ...]()
    try:
        changed = world.store.rest(resting) if resting else ()
    except ConflictError as error:
        why, changed = str(error), tuple(node.name for node, _ in resting)
    report.conflicts += len(changed)
    for name in changed:
        log.info("decided again at the next tick", node=name, why=why)


def _due(purse: Allowance, now: float) -> tuple[Node, ...]:
    """Return the nodes to decide for: before all others those that waited for room for a play, and have it now."""
    store, line = purse.world.store, purse.in_line()
    found = {node.name: node for node in store.some(line) if node.state is not State.RETIRED}
    for name in line.keys() - found.keys():
        purse.world.line.pop(name)
    first = [found[name] for name in line if name in found]
    return (*first, *(node for node in store.due(now) if node.name not in found))


def carry_out(purse: Allowance, view: View, decision: Decision, now: float, report: Report) -> tuple[Run, ...]:
    """Write a decision, and what it says, down; return the runs that it opened."""
    world, node = purse.world, view.node
    try:
        runs = purse.apply(view, decision, now)
    except ConflictError as error:
        report.conflicts += 1
        log.info("decided again at the next tick", node=node.name, why=str(error))
        return ()
    report.moves += [
        f"{node.name}: {action.transition.state} → {action.transition.to}. {action.transition.sentence}"
        for action in decision.actions
        if isinstance(action, Move)
    ]
    about = sum(isinstance(action, OpenTicket | CloseTicket) for action in decision.actions)
    report.tickets += about
    report.moves += [each for each in _told(world, node, about, now) if each not in report.moves]
    return runs


def _told(world: TickContext, node: Node, about: int, now: float) -> list[str]:
    """Return what the history says of so many tickets that a decision opened, opened again or closed."""
    if not about:
        return []
    return [entry.sentence for entry in world.store.history(node.name, about, "ticket") if entry.at == now]


def _batch(outlook: FleetView, runs: list[Run], now: float) -> Batch:
    places = sorted({outlook.where(run.node) for run in runs})
    return Batch(runs[0].batch, runs[0].stage, payload(outlook, runs, now), tuple(places))


def _launch(world: TickContext, outlook: FleetView, runs: list[Run], now: float) -> None:
    """Hand runs to the engine; that one cannot be started is the controller's trouble and counts against no node."""
    try:
        world.engine.launch(world.settings, _batch(outlook, runs, now))
    except ConflictError as error:
        log.warning("batch not launched", batch=runs[0].batch, why=str(error))
    except FleetError as error:
        why = f"the play could not be started: {error}"
        if world.store.shared:  # it may have been offered all the same, and the answer lost
            world.store.withdraw(runs[0].batch, why, now)
            return
        for run in runs:
            world.store.close_run(run, Outcome.CANCELLED, why, now)
