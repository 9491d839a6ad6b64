"""What a decision is made from: what others of a tenant tell of the same crash, and what a scheduler can tell."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.reconcile.lifecycle.view import FleetView
from fleet_runner.reconcile.loop.context import TickContext
from tests.making import an_alarm
from tests.reconcile.scripted import a_fleet


def test_alarms_alike_are_those_of_the_same_tenant(make_world: Callable[..., TickContext]) -> None:
    """Of applications' Xids, and only where a node has one itself; a node that the source has lost has no tenant."""
    found = a_fleet(4)
    tenants = {"gpu-01": "Acme", "gpu-02": "Acme", "gpu-03": "Globex"}
    devices = {name: replace(each, tenant=tenants.get(name, "Acme")) for name, each in found.devices.items()}
    fleet = replace(found, devices=devices)
    world = make_world(count=4, fleet=fleet)
    world.store.register(list(devices.values()), 1.0)
    crashed = {"code": "xid.31", "remedy": Remedy.TRIAGE, "id": 0}
    made = [an_alarm(node=name, fault=f"{name}/xid.31/GPU 3", **crashed) for name in devices]
    made.append(an_alarm(node="gpu-02", id=0))
    world.store.keep_alarms(list(devices), lambda _: made, 2.0)
    view = FleetView(world, fleet)
    nodes = {node.name: node for node in world.store.nodes()}
    assert [each.node for each in view.view(nodes["gpu-01"], None, 3.0).alike] == ["gpu-02", "gpu-04"]
    assert view.view(nodes["gpu-03"], None, 3.0).alike == ()
    gone = FleetView(world, replace(fleet, devices={}))
    assert gone.view(nodes["gpu-01"], None, 3.0).alike == ()
    with world.store.one_moment():
        assert view.view(nodes["gpu-04"], None, 3.0).alike != ()


@pytest.mark.parametrize(
    ("scheduler", "scheduled", "wishes"), [("none", False, False), ("slurm", True, False), ("kubernetes", True, True)]
)
def test_only_kubernetes_can_tell_of_work_that_is_never_to_be_interrupted(
    make_world: Callable[..., TickContext], scheduler: str, scheduled: bool, wishes: bool
) -> None:
    """So only its silence is a reason to wait past a deadline."""
    fleet = a_fleet(1)
    world = make_world()
    world.settings = world.settings.model_copy(update={"scheduler": scheduler})
    world.store.register(list(fleet.devices.values()), 1.0)
    (node,) = world.store.nodes()
    found = FleetView(world, fleet).view(node, None, 3.0)
    assert (found.scheduled, found.wishes) == (scheduled, wishes)
