"""Worlds with a firmware catalogue, and rollouts over their nodes."""

from pathlib import Path
from typing import Any

import yaml

from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.firmware.rollout import Rollout, RolloutStatus, turned
from fleet_runner.core.firmware.turns import Member, RolloutStep
from fleet_runner.core.firmware.waves import plan
from fleet_runner.core.inventory.records import Device, Fleet, Rack
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from tests.reconcile.scripted import GOOD, IDLE, Scripted, in_state, played

VERSIONS = {"BMC": "1.1"}
BURNING = Result("gpu_burn", Verdict.UNKNOWN, "it burns", observed={"working": True})
FLASHING = Result("firmware_update", Verdict.UNKNOWN, "BMC: 40 %", observed={"working": True})


def catalogued(world: TickContext, target: str = "1.2", **more: Any) -> TickContext:
    """Give a world's device type a catalogue of one BMC."""
    folder = world.settings.state_dir / "inventory"
    row = {"component": "BMC", "inventory_id": "BMC", "target": target, "accepted": ["1.1"]}
    write(folder, {"fleet_profile": {"firmware": {"components": [row], **more}}})
    world.settings = world.settings.model_copy(
        update={"inventory": folder / "fleet.yml", "max_out_share": 1.0, "max_out_rack": 9, "small_fleet": 0}
    )
    return world


def write(folder: Path, variables: object) -> None:
    """Write a device type's variables."""
    (folder / "group_vars").mkdir(parents=True, exist_ok=True)
    (folder / "group_vars" / "device_type_t.yml").write_text(yaml.safe_dump(variables), encoding="utf-8")


def in_one_rack(count: int) -> Fleet:
    """So many servers in the same rack."""
    names = [f"gpu-{n:02}" for n in range(1, count + 1)]
    devices = {name: Device(name, "t", "gpu-server", "hall", "A", 1.0) for name in names}
    return Fleet(("hall",), {"hall/A": Rack("A", "hall")}, {}, devices, (), "1")


ASKED = frozenset({Stage.DRAIN, Stage.HEALTH_PASSIVE})
"""Stages in which a node is asked whether anybody uses it."""


def updating(_node: str, stage: Stage) -> tuple[Result, ...]:
    """Plays that all go well, and see the old version until the firmware stage has run."""
    if stage is Stage.FIRMWARE:
        return (GOOD, Result("firmware_pins", Verdict.PASS, "1 component", observed={"versions": dict(VERSIONS)}))
    return (GOOD, IDLE) if stage in ASKED else (GOOD,)


def serving(world: TickContext) -> float:
    """Take every node to production; return the time."""
    script(world, updating)
    return played(world, in_state(State.PRODUCTION))


def script(world: TickContext, plays: Any) -> None:
    """Have plays say something else from now on."""
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.script = plays


def launched(world: TickContext) -> list[tuple[Stage, str, dict[str, Any]]]:
    """Every run that was started: its stage, its node and what its play was told."""
    engine = world.engine
    assert isinstance(engine, Scripted)
    return [(batch.stage, node, dict(run)) for batch in engine.launched for node, run in batch.runs.items()]


def rolled(world: TickContext, now: float, **values: Any) -> Rollout:
    """Start a rollout over every node: a canary of one, waves of three, a fifth may fail."""
    given = {"id": 0, "device_type": "t", "by": "ann", "at": now, "reason": "BMC 1.2", "changed_at": now}
    rollout = Rollout(**given | {"canary": 1, "wave": 3, "failed_share": 0.2} | values)
    names = {node.name: "" for node in world.store.nodes()}
    return world.store.start_rollout(rollout, plan(names, {}, rollout.canary, rollout.wave))


def turn(world: TickContext, standing: RolloutStatus, now: float, number: int = 1) -> None:
    """Let Ann pause, stop or resume it."""
    here = standing_of(world, number)
    changed = turned(here, standing, f"{standing} by ann: lunch", now)
    world.store.change_rollout(here, changed, (), now=now)


def standing_of(world: TickContext, number: int = 1) -> Rollout:
    """The rollout as it is."""
    found = world.store.rollout(number)
    assert found is not None
    return found


def turns(world: TickContext, number: int = 1) -> dict[str, RolloutStep]:
    """How far each node is."""
    return {each.node: each.turn for each in world.store.rollout_members(number)}


def member(world: TickContext, name: str, number: int = 1) -> Member:
    """One node's row."""
    return next(each for each in world.store.rollout_members(number) if each.node == name)


def row(world: TickContext, name: str) -> Node:
    """One node."""
    found = world.store.node(name)
    assert found is not None
    return found


def ticked(world: TickContext, now: float, count: int = 1, pause: float = 5.0) -> float:
    """Tick so often; return the time of the last one."""
    for _ in range(count):
        now += pause
        tick(world, now)
    return now
