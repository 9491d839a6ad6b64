"""What nodes that do not serve wait for, also where nobody has taken their batch."""

from collections.abc import Callable

import pytest

from fleet_runner.core.lifecycle.states import State
from fleet_runner.reconcile.lifecycle import queue
from fleet_runner.reconcile.loop.context import TickContext
from tests.reconcile.scripted import in_service


def test_a_node_whose_batch_nobody_takes_says_so_and_one_that_serves_waits_for_nothing(
    make_world: Callable[..., TickContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(count=2)
    why = dict.fromkeys(("gpu-01", "gpu-02"), "provision waits: no runner serves hall B")
    monkeypatch.setattr(queue, "queued", lambda *_: why)
    in_service(world, State.PROVISION)
    assert [(each.sentence, each.number) for each in queue.away(world.settings, world.store)] == [(why["gpu-01"], 2)]
    in_service(world)
    assert queue.away(world.settings, world.store) == ()
