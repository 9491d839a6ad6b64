"""Nodes of which much is asked at once: each is decided for as if it were alone."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fleet_runner.core.checks.verdicts import Result
from fleet_runner.core.lifecycle.actions import Decision
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from fleet_runner.core.lifecycle.view import Timing, View
from fleet_runner.reconcile.lifecycle import apply
from fleet_runner.reconcile.loop.context import Report, TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from tests.reconcile.scripted import GOOD, IDLE, SWAP, XID, a_fleet, in_service, pass_time

NODES = 6


def neighbours(node: str, stage: Stage) -> tuple[Result, ...]:
    """Each node's cable ends at the next one, too; one of them has lost a GPU."""
    if stage is not Stage.HEALTH_PASSIVE:
        return (GOOD,)
    number = int(node[-2:])
    if number == NODES:
        return (XID, IDLE)
    both = (node, f"gpu-{number + 1:02}")
    swap = replace(SWAP.findings[0], fault=f"swap {number}", nodes=both)
    return (replace(SWAP, findings=(swap,)), IDLE)


def seen(world: TickContext) -> Any:
    """What people see of a store, without what is drawn anew each time."""
    rows = [
        (row.name, row.state, row.version, row.waiting, row.wake_at, row.conditions) for row in world.store.nodes()
    ]
    tickets = [
        (each.fault, each.nodes, each.seen, each.last_seen_at) for each in world.store.tickets(open_only=False)
    ]
    return rows, tickets, [[each.sentence for each in world.store.history(row[0])] for row in rows]


def test_many_are_decided_for_as_each_alone(
    make_world: Callable[..., TickContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by tickets that were opened for others of them a moment ago."""
    found: list[Any] = []
    known: list[list[Any]] = []
    decide = apply.decide

    def noted(view: View, timing: Timing, now: float) -> Decision:
        known[-1].append((view.node.name, [each.fault for each in view.tickets], len(view.runs), view.intents))
        return decide(view, timing, now)

    monkeypatch.setattr(apply, "decide", noted)
    for together in (1, 2, apply.TOGETHER):
        monkeypatch.setattr(apply, "TOGETHER", together)
        known.append([])
        world = make_world(neighbours, count=NODES)
        now = in_service(world)
        world.store.leave_intent("gpu-02", IntentKind.HOLD, "ada", now=now)
        pass_time(world, now, 400.0)
        found.append(seen(world))
    assert known[0] == known[1] == known[2]
    assert found[0] == found[1] == found[2]
    assert [row[1] for row in found[0][0]] != [State.PRODUCTION] * NODES
    assert {len(named) for _, named, _, _ in found[0][1]} == {2}


def test_a_node_that_changes_before_it_is_written_down_is_decided_again(
    make_world: Callable[..., TickContext],
) -> None:
    """A request that comes meanwhile is not slept through."""
    fleet = a_fleet(3)
    planned = {name: replace(each, status="planned") for name, each in fleet.devices.items()}
    world = make_world(fleet=replace(fleet, devices=planned))
    asked: list[str] = []

    def between(_report: Report) -> None:
        if not asked:
            asked.append("gpu-01")
            world.store.leave_intent("gpu-01", IntentKind.HOLD, "ada", now=1000.0)

    report = tick(world, 1000.0, between)
    rows = {row.name: row for row in world.store.nodes()}
    assert report.conflicts == 1
    assert Condition.HELD in rows["gpu-01"].conditions  # the same tick looked again
    assert {rows[name].version for name in ("gpu-02", "gpu-03")} == {2}
