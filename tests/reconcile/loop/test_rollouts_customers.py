"""A rollout whose node becomes its customer's meanwhile."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from fleet_runner.core.firmware.rollout import RolloutStatus
from fleet_runner.core.firmware.turns import NAMED, RolloutStep
from fleet_runner.core.inventory.records import Management
from fleet_runner.core.lifecycle.states import Condition, State
from fleet_runner.reconcile.loop.context import TickContext
from tests.reconcile.rolling import (
    ASKED,
    catalogued,
    rolled,
    row,
    script,
    serving,
    standing_of,
    ticked,
    turns,
    updating,
)
from tests.reconcile.scripted import BUSY, GOOD, path, played


@pytest.mark.parametrize("detail", ["", NAMED])
def test_a_node_that_becomes_its_customers_is_asked_no_more_unless_it_was_named(
    make_world: Callable[..., TickContext], detail: str
) -> None:
    """Its update was pending, and it is dropped with a sentence, idle though the node is by then."""
    world = catalogued(make_world())
    now = serving(world)
    asked = rolled(world, now)
    named = [replace(each, detail=detail) for each in world.store.rollout_members(asked.id)]
    world.store.change_rollout(asked, asked, named, now=now)
    script(world, lambda node, stage: (GOOD, BUSY) if stage in ASKED else updating(node, stage))
    now = ticked(world, now, 20)
    assert row(world, "gpu-01").conditions[Condition.PENDING].by == "rollout 1"
    ours = world.read_source()
    theirs = {name: replace(each, management=Management.CUSTOMER) for name, each in ours.devices.items()}
    world.read_source = lambda: replace(ours, devices=theirs, revision="2")
    script(world, updating)
    played(world, lambda world: standing_of(world).standing is RolloutStatus.DONE, now=now)
    assert turns(world) == {"gpu-01": RolloutStep.DONE if detail else RolloutStep.SKIPPED}
    dropped = "Its customer manages it now, and rollout 1 does not name it; the node stays in service."
    said = [entry.sentence for entry in world.store.history("gpu-01")]
    assert any(dropped in sentence for sentence in said) is not bool(detail)
    assert path(world).count(State.FIRMWARE) == (2 if detail else 1), "the first is that of its delivery"
    assert not set(row(world, "gpu-01").conditions) & {Condition.PENDING, Condition.CORDONED, Condition.DRAINING}
