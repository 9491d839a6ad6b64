"""Nodes of which much is asked at once: each is decided for as if it were alone."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.budgets.modes import Kind, Mode, Scope, Setting
from fleet_runner.core.checks.verdicts import Remedy, Result
from fleet_runner.core.lifecycle.actions import Decision, OpenTicket
from fleet_runner.core.lifecycle.runs import IntentKind, Node
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from fleet_runner.core.lifecycle.view import Timing, View
from fleet_runner.reconcile.budgets.allowance import Allowance
from fleet_runner.reconcile.lifecycle import apply
from fleet_runner.reconcile.lifecycle.view import FleetView
from fleet_runner.reconcile.loop.context import Report, TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from tests.making import an_alarm
from tests.reconcile.scripted import GOOD, IDLE, SWAP, XID, a_fleet, in_service, pass_time

NODES = 6
ALARMS = tuple(an_alarm(node=f"gpu-0{number}", id=0) for number in (1, 2, 3))


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


def planned(make_world: Callable[..., TickContext]) -> TickContext:
    """Three nodes for which there is nothing to do."""
    fleet = a_fleet(3)
    devices = {name: replace(each, status="planned") for name, each in fleet.devices.items()}
    return make_world(fleet=replace(fleet, devices=devices))


def views(monkeypatch: pytest.MonkeyPatch) -> list[View]:
    """Collect what decisions are made from."""
    found: list[View] = []
    decide = apply.decide

    def noted(view: View, timing: Timing, now: float) -> Decision:
        found.append(view)
        return decide(view, timing, now)

    monkeypatch.setattr(apply, "decide", noted)
    return found


def test_a_node_that_changes_before_it_is_written_down_is_decided_again(
    make_world: Callable[..., TickContext],
) -> None:
    """A request that comes meanwhile is not slept through."""
    world = planned(make_world)
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


def test_a_ticket_that_is_opened_between_two_nodes_is_seen_by_the_next(
    make_world: Callable[..., TickContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alarms are decided for between two steps, and what they open may name a node whose turn comes."""
    world, seen_at = planned(make_world), views(monkeypatch)

    def between(report: Report) -> None:
        assert world.fleet is not None
        node = world.store.node("gpu-01")
        if node is None or world.store.tickets():
            return
        purse, outlook = Allowance(world, world.fleet), FleetView(world, world.fleet)
        ticket = OpenTicket("a|b", "cabling", "A cable.", "Look.", ("gpu-01", "gpu-03"), Remedy.RECABLE)
        apply.carry_out(purse, outlook.view(node, None, 1000.0), Decision((ticket,), "waits", 2000.0), 1000.0, report)

    tick(world, 1000.0, between)
    named = {view.node.name: [each.fault for each in view.tickets] for view in seen_at}
    assert named == {"gpu-01": [], "gpu-02": [], "gpu-03": ["a|b"]}


def test_one_who_loses_against_another_writer_loses_no_tick(
    make_world: Callable[..., TickContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With PostgreSQL, two that write to many nodes at once may wait for each other: one of them is sent away."""
    world, rest = planned(make_world), Store.rest
    lost: list[int] = []

    def losing(store: Store, decided: list[tuple[Node, Decision]]) -> tuple[str, ...]:
        if not lost:
            lost.append(len(decided))
            raise ConflictError("another writer came first")
        return rest(store, decided)

    monkeypatch.setattr(Store, "rest", losing)
    report = tick(world, 1000.0)
    assert (lost, report.conflicts) == ([3], 3)
    assert {row.version for row in world.store.nodes()} == {2}  # the same tick looked again


def test_what_does_not_wait_for_its_turn_is_written_at_once(make_world: Callable[..., TickContext]) -> None:
    """Or the look between two steps would find those that are decided for, and none of the others."""
    world = planned(make_world)
    tick(world, 1000.0)
    world.store.keep_alarms(["gpu-01", "gpu-02", "gpu-03"], lambda _: ALARMS, 1001.0)
    left: list[int] = []
    tick(world, 1002.0, lambda _: left.append(len(world.store.pressing(9))))
    assert left == [2, 1, 0]


def test_what_is_said_of_modes_meanwhile_holds_for_all(
    make_world: Callable[..., TickContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No node sleeps on by what was decided before, not even one that had been decided for."""
    world, seen_at = planned(make_world), views(monkeypatch)

    def between(_report: Report) -> None:
        if len(seen_at) == 2:
            world.store.set_mode(Setting(Scope.FLEET, "", None, Mode.OBSERVE, 1000.0, "ada"))

    tick(world, 1000.0, between)
    assert seen_at[0].modes.acts(Kind.REBOOT)
    last = {view.node.name: view.modes.mode(Kind.REBOOT) for view in seen_at}
    assert last == dict.fromkeys(("gpu-01", "gpu-02", "gpu-03"), Mode.OBSERVE)
