"""A rollout over the compute trays of two NVLink domains."""

from collections.abc import Callable
from dataclasses import replace

from fleet_runner.core.checks.verdicts import Result
from fleet_runner.core.firmware.rollout import RolloutStatus
from fleet_runner.core.firmware.turns import RolloutStep
from fleet_runner.core.lifecycle.actions import CloseTicket, Decision, OpenTicket
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.core.nvlink.rack import leak_sentence
from fleet_runner.reconcile.lifecycle.racks import ill
from fleet_runner.reconcile.loop.context import TickContext
from tests.reconcile.rolling import (
    BURNING,
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
from tests.reconcile.scripted import a_fleet


def test_a_tray_that_is_not_back_holds_no_other_domain(make_world: Callable[..., TickContext]) -> None:
    """It burns in for long: the other domain is updated meanwhile, and it when it is back."""
    plain = a_fleet(4)
    domains = {"gpu-01": "a", "gpu-02": "b", "gpu-03": "a", "gpu-04": "b"}
    devices = {
        name: replace(device, context={"nvlink_domain": domains[name]}) for name, device in plain.devices.items()
    }
    world = catalogued(make_world(fleet=replace(plain, devices=devices)))
    now = serving(world)
    burning = {"gpu-03"}

    def plays(node: str, stage: Stage) -> tuple[Result, ...]:
        return (BURNING,) if node in burning and stage is Stage.BURN_IN else updating(node, stage)

    script(world, plays)
    world.store.leave_intent("gpu-03", IntentKind.FIRMWARE, "ann", reason="BMC 1.2", now=now)
    now = ticked(world, now, 9)
    assert row(world, "gpu-03").state is State.BURN_IN
    rolled(world, now)
    for _ in range(200):
        now = ticked(world, now)
    found = turns(world)
    assert found.pop("gpu-03") is RolloutStep.WAITING
    assert set(found.values()) == {RolloutStep.DONE}
    burning.clear()
    for _ in range(200):
        now = ticked(world, now)
    assert standing_of(world).standing is RolloutStatus.DONE


def test_a_domain_that_is_not_whole_is_not_begun(make_world: Callable[..., TickContext]) -> None:
    """One leaks, the other one is updated meanwhile; the leak's is once its ticket is closed."""
    plain = a_fleet(4)
    domains = {"gpu-01": "a", "gpu-02": "b", "gpu-03": "a", "gpu-04": "b"}
    devices = {
        name: replace(device, context={"nvlink_domain": domains[name]}) for name, device in plain.devices.items()
    }
    world = catalogued(make_world(fleet=replace(plain, devices=devices)))
    now = serving(world)
    fault = "gpu-01/leak.detected/Rope"
    ticket = OpenTicket(fault, "sensors", "gpu-01 leaks", "", ("gpu-01",), "TRIAGE", now)
    world.store.apply(row(world, "gpu-01"), Decision((ticket,), "", now), now)
    rolled(world, now)
    for _ in range(200):
        now = ticked(world, now)
    assert turns(world) == {
        "gpu-01": RolloutStep.WAITING, "gpu-02": RolloutStep.DONE, "gpu-03": RolloutStep.WAITING,
        "gpu-04": RolloutStep.DONE,
    }  # fmt: skip
    [opened] = world.store.tickets()
    found = ill(world.store, world.fabrics.values())
    assert found == {"nvlink.hall.a": leak_sentence(["gpu-01"])}
    world.store.apply(row(world, "gpu-01"), Decision((CloseTicket(opened.id, "dry"),), "", now), now)
    for _ in range(200):
        now = ticked(world, now)
    assert standing_of(world).standing is RolloutStatus.DONE


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
    heard = set[tuple[str, str]]()
    while standing_of(world).standing is RolloutStatus.RUNNING:
        now = ticked(world, now)
        out = [name for name, each in turns(world).items() if each is RolloutStep.ASKED]
        now_out = {domains[name] for name in out}
        assert len(now_out) <= 1
        order += now_out - set(order[-1:])
        heard |= {(name, row(world, name).waiting) for name in domains}
    assert order == ["a", "b"]
    assert standing_of(world).detail == "4 done, 0 failed, 0 skipped"
    said = "it serves; rollout 1 updates one NVLink domain at a time, now nvlink.hall.a: a tray of it is out"
    assert {each for each in heard if each[1].startswith(said) and domains[each[0]] == "a"} == {
        ("gpu-03", f"{said} (1 out, 1 waiting); this tray follows")
    }
    assert {(name, f"{said} (1 done, 1 out)") for name in ("gpu-02", "gpu-04")} <= heard
    assert not any("rollout" in row(world, name).waiting for name in domains)
