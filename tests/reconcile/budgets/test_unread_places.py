"""The budget of a rack while the source of truth cannot say of one of its nodes where that is."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from tests.reconcile.scripted import IDLE, XID, Scripted, a_fleet, in_service

WELL = Result("xid", Verdict.PASS, "none")
WHY = "https://netbox.example/dcim/devices/1/: its BMC address is that of gpu-20"


def beside(rack: str) -> Fleet:
    """22 nodes, of which the second stands in this rack, and the others in one each."""
    fleet = a_fleet(22)
    return replace(fleet, devices={**fleet.devices, "gpu-02": replace(fleet.devices["gpu-02"], rack=rack)})


def unread(fleet: Fleet) -> Fleet:
    """The record of the first node cannot be used."""
    devices = {name: each for name, each in fleet.devices.items() if name != "gpu-01"}
    return replace(fleet, devices=devices, unread={"gpu-01": WHY}, revision="2")


def unplaced(fleet: Fleet) -> Fleet:
    """The rack of the first node was left out, and so it is in none."""
    first = replace(fleet.devices["gpu-01"], rack=None, position=None)
    return replace(fleet, devices={**fleet.devices, "gpu-01": first}, revision="2")


def gone(fleet: Fleet) -> Fleet:
    """Somebody deleted the first node's record."""
    return replace(unread(fleet), unread={})


def ticked(world: TickContext, until: Callable[[dict[str, State]], bool], now: float) -> float:
    """Tick until something holds of the states, for five minutes at most; return the time."""
    for _ in range(60):
        now += 5
        tick(world, now)
        if until({node.name: node.state for node in world.store.nodes()}):
            break
    return now


@pytest.mark.parametrize("wrong", [unread, unplaced, gone])
@pytest.mark.parametrize(("rack", "leaves"), [("R1", False), ("R2", True)])
def test_a_node_that_is_out_takes_its_racks_budget_whatever_became_of_its_record(
    make_world: Callable[..., TickContext], wrong: Callable[[Fleet], Fleet], rack: str, leaves: bool
) -> None:
    """Also after a restart, when nothing is known but what the store remembers; other racks may give up a node."""
    fleet = beside(rack)
    world = make_world(fleet=fleet)
    now = in_service(world)
    faulty = {"gpu-01"}
    engine = world.engine
    assert isinstance(engine, Scripted)

    def script(node: str, stage: Stage) -> tuple[Result, ...] | None:
        return None if stage is Stage.REBOOT else (XID if node in faulty else WELL, IDLE)

    engine.script = script
    now = ticked(world, lambda states: states["gpu-01"] is State.REBOOT, now)
    again = TickContext(world.settings, world.store, lambda: wrong(fleet), engine)
    faulty.add("gpu-02")
    ticked(again, lambda states: states["gpu-02"] is not State.PRODUCTION, now)
    states = {node.name: node for node in world.store.nodes()}
    assert states["gpu-01"].state is State.REBOOT
    assert (states["gpu-02"].state is State.REBOOT) == leaves
    told = "the budget of rack hall/R1 is spent: 1 of at most 1 node out (gpu-01: reboot"
    assert (told in states["gpu-02"].waiting) == (not leaves)


def test_a_node_without_a_usable_rack_asks_the_budget_of_the_rack_it_stands_in(
    make_world: Callable[..., TickContext],
) -> None:
    """Its record names none today: it may leave service no sooner than its rack-mate is back."""
    fleet = beside("R1")
    world = make_world(fleet=fleet)
    now = in_service(world)
    faulty = {"gpu-02"}
    engine = world.engine
    assert isinstance(engine, Scripted)

    def script(node: str, stage: Stage) -> tuple[Result, ...] | None:
        return None if stage is Stage.REBOOT else (XID if node in faulty else WELL, IDLE)

    engine.script = script
    now = ticked(world, lambda states: states["gpu-02"] is State.REBOOT, now)
    again = TickContext(world.settings, world.store, lambda: unplaced(fleet), engine)
    faulty.add("gpu-01")
    ticked(again, lambda states: states["gpu-01"] is not State.PRODUCTION, now)
    first = world.store.node("gpu-01")
    assert first is not None
    assert first.state is State.PRODUCTION
    assert "the budget of rack hall/R1 is spent: 1 of at most 1 node out (gpu-02: reboot" in first.waiting
