"""A node whose record in the source of truth cannot be used: it is not gone, and nothing is done to it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from fleet_runner.core.lifecycle.states import State
from fleet_runner.reconcile.loop.context import TickContext
from tests.reconcile.loop.test_identity import Source, described, settled, standing, states, waits
from tests.reconcile.scripted import IDLE, pass_time

WHY = "https://netbox.example/dcim/devices/1/: 2 devices are called 'gpu-001'"


@pytest.fixture
def serving(make_world: Callable[..., TickContext]) -> tuple[TickContext, Source, float]:
    """Three nodes that serve."""
    source = Source(described(3))
    world = make_world(script=lambda _node, _stage: (IDLE,))
    world.read_source = source
    now = standing(world)
    return world, source, pass_time(world, now, 60)


def test_it_keeps_its_name_and_state_and_says_why_nothing_is_done(
    serving: tuple[TickContext, Source, float],
) -> None:
    """Also where another record has its serial number meanwhile; when it is right again, all is as before."""
    world, source, now = serving
    first, *others = source.fleet.devices.values()
    copied = replace(first, name="gpu-099")
    source.say(*others, copied)
    source.fleet = replace(source.fleet, unread={first.name: WHY})
    now = settled(world, now)
    assert states(world)[first.name] is State.PRODUCTION
    assert f"its record cannot be used: {WHY}" in waits(world, first.name)
    assert f"it may be the machine of {first.name}" in waits(world, "gpu-099")
    source.say(first, *others)
    source.fleet = replace(source.fleet, unread={})
    settled(world, now)
    assert states(world)[first.name] is State.PRODUCTION
    assert "cannot be used" not in waits(world, first.name)
