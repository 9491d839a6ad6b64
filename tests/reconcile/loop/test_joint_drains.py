"""An NVLink domain that drains as one, in the loop: nothing leaves it before the budget covers all of its trays."""

from collections.abc import Callable
from dataclasses import replace

from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from tests.reconcile.scripted import GOOD, IDLE, a_fleet, in_state, played

FELL = Finding("gpu.stuck", "GPU 1", "GPU 1 is stuck", Remedy.REBOOT, "gpu-01/gpu.stuck/1", ("gpu-01",))


def test_a_tray_waits_until_the_budget_covers_its_domain_and_the_others_are_told(
    make_world: Callable[..., TickContext],
) -> None:
    """A small fleet gives up one node at most, and this domain is three; once it may, one tray leaves."""
    bad, plain = set[str](), a_fleet(3)
    context = {"nvlink_domain": "nvl-1", "nvlink_drain": "domain"}
    devices = {name: replace(device, context=context) for name, device in plain.devices.items()}

    def plays(node: str, stage: Stage) -> tuple[Result, ...]:
        fell = Result("gpu_errors", Verdict.FAIL, FELL.message, (FELL,))
        return (fell if node in bad and stage is Stage.HEALTH_PASSIVE else GOOD, IDLE)

    world = make_world(plays, fleet=replace(plain, devices=devices))
    now = played(world, in_state(State.PRODUCTION))
    bad.add("gpu-01")

    def ran(ticks: int) -> list[dict[str, tuple[State, str, bool]]]:
        nonlocal now
        seen = list[dict[str, tuple[State, str, bool]]]()
        for _ in range(ticks):
            now += 30.0
            tick(world, now)
            seen.append(
                {
                    node.name: (node.state, node.waiting, Condition.CORDONED in node.conditions)
                    for node in world.store.nodes()
                    if node.name in devices
                }
            )
        return seen

    before = ran(40)
    words = "the fleet's budget does not cover NVLink domain hall/nvl-1, which drains as one: 3 of at most 1 node"
    assert any(words in each["gpu-01"][1] for each in before)
    assert {(state, cordoned) for each in before for state, _, cordoned in each.values()} == {
        (State.PRODUCTION, False)
    }
    world.settings = world.settings.model_copy(update={"max_out_share": 1.0, "small_fleet": 0})
    after = ran(40)
    assert any(each["gpu-01"][0] is State.REBOOT for each in after)
    for name in ("gpu-02", "gpu-03"):
        assert {(each[name][0], each[name][2]) for each in after} == {(State.PRODUCTION, False)}
        assert any("its NVLink domain drains as one (nvlink_drain)" in each[name][1] for each in after)
