"""A tick that takes long decides by the time at which it decides, not by that at which it began."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from fleet_runner.adapters.plays.engine import Look
from fleet_runner.core.checks.verdicts import Result
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from fleet_runner.reconcile.loop import control_loop
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.settings import Settings
from tests.reconcile.scripted import GOOD, IDLE, XID, Scripted, in_service


@dataclass
class Slow(Scripted):
    """An engine at which every look takes five seconds."""

    at: float = 0.0

    def time(self) -> float:
        """Tell the time."""
        return self.at

    def look(self, settings: Settings, batch_id: str) -> Look:
        """Look, slowly."""
        self.at += 5.0
        return super().look(settings, batch_id)


def sick(_node: str, stage: Stage) -> tuple[Result, ...]:
    """A passive sweep sees a fault that a reboot clears, on a node that is idle then."""
    return (XID, IDLE) if stage is Stage.HEALTH_PASSIVE else (GOOD,)


def test_an_answer_from_before_a_remedy_was_decided_is_none_after_it(
    make_world: Callable[..., TickContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node is drained first: it was idle when the fault was seen, and may have got work since."""
    world = make_world()
    engine = Slow(sick, at=in_service(world))
    world.engine = engine
    monkeypatch.setattr(control_loop.time, "time", engine.time)
    for _ in range(3):
        control_loop.tick(world)
        engine.at += 0.1
        if any(Condition.PENDING in node.conditions for node in world.store.nodes()):
            break
    node = next(node for node in world.store.nodes() if Condition.PENDING in node.conditions)
    assert node.state is State.PRODUCTION
    assert Stage.DRAIN in {batch.stage for batch in engine.launched}
