"""A rollout over the compute trays of two NVLink domains."""

from collections.abc import Callable
from dataclasses import replace

from fleet_runner.core.firmware.rollout import RolloutStatus
from fleet_runner.core.firmware.turns import RolloutStep
from fleet_runner.reconcile.loop.context import TickContext
from tests.reconcile.rolling import catalogued, rolled, serving, standing_of, ticked, turns
from tests.reconcile.scripted import a_fleet


def test_one_domain_is_finished_before_the_next_one_begins(make_world: Callable[..., TickContext]) -> None:
    """Whatever room its waves have."""
    plain = a_fleet(4)
    domains = {"gpu-01": "a", "gpu-02": "b", "gpu-03": "a", "gpu-04": "b"}
    devices = {
        name: replace(device, context={"nvlink_domain": domains[name]}) for name, device in plain.devices.items()
    }
    world = catalogued(make_world(fleet=replace(plain, devices=devices)))
    now = serving(world)
    rolled(world, now)
    order: list[str] = []
    while standing_of(world).standing is RolloutStatus.RUNNING:
        now = ticked(world, now)
        out = [name for name, each in turns(world).items() if each is RolloutStep.ASKED]
        now_out = {domains[name] for name in out}
        assert len(now_out) <= 1
        order += now_out - set(order[-1:])
    assert order == ["a", "b"]
    assert standing_of(world).detail == "4 done, 0 failed, 0 skipped"
