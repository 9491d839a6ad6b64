"""A fabric in layers, each link with its rail; also where devices are half known."""

from dataclasses import replace

from fleet_runner.core.cabling.fabrics import Fabric, fabrics
from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.cabling.topology.layers import MIXED, Layers, layers
from fleet_runner.core.inventory.records import PLANNED, Cable, Device, Fleet, Interface, Rack, Termination

KIND = "infiniband-ndr"


def device(name: str, role: str, *ports: str, rack: str | None = None) -> Device:
    return Device(name, "t", role, "hall", rack, interfaces=tuple(Interface(port, KIND) for port in ports))


def cable(one: str, port: str, other: str, far: str) -> Cable:
    return Cable(Termination(one, port), Termination(other, far))


DEVICES = (
    device("gpu-2", "gpu-server", "ib0", "ib1", "ib10", rack="R1"),
    device("gpu-10", "gpu-server", "ib0", "ib1"),
    device("leaf-1", "leaf", "1", "2", "3", "4"),
    device("leaf-2", "leaf", "1", "2", "3", "4"),
    device("spine-1", "spine", "1", "2", "3"),
)
FLEET = Fleet(
    ("hall",),
    {"hall/R1": Rack("R1", "hall")},
    {},
    {each.name: each for each in DEVICES},
    (
        cable("gpu-2", "ib0", "leaf-1", "1"),
        cable("gpu-2", "ib1", "leaf-2", "1"),
        cable("gpu-2", "ib10", "leaf-2", "3"),
        cable("gpu-10", "ib0", "leaf-1", "2"),
        cable("gpu-10", "ib1", "leaf-2", "2"),
        cable("leaf-1", "3", "spine-1", "1"),
        cable("leaf-2", "4", "spine-1", "3"),
        cable("spine-1", "2", "ghost", "7"),
    ),
)


def found() -> Layers:
    (fabric,) = fabrics(FLEET)
    return layers(FLEET, fabric)


def test_devices_fall_into_layers() -> None:
    it = found()
    assert it.nodes == ("gpu-2", "gpu-10")
    assert it.leaves == ("leaf-1", "leaf-2")
    assert it.spines == ("spine-1",)
    assert len(it.links) == 8
    assert it.racks == {"gpu-2": "hall/R1", "gpu-10": "hall", "leaf-1": "hall", "leaf-2": "hall", "spine-1": "hall"}


def test_rails_follow_each_other_as_a_nodes_ports_do() -> None:
    it = found()
    assert it.rail(link(Port("gpu-2", "ib10"), Port("leaf-2", "3"))) == 3
    assert it.rail(link(Port("gpu-10", "ib0"), Port("leaf-1", "2"))) == 1
    assert it.rail(link(Port("leaf-1", "3"), Port("spine-1", "1"))) == MIXED


def test_cables_that_are_yet_to_come_are_left_out() -> None:
    cables = tuple(replace(each, status=PLANNED) if each.b.device == "leaf-2" else each for each in FLEET.cables)
    (fabric,) = fabrics(FLEET)
    assert len(layers(replace(FLEET, cables=cables), fabric).links) == 5


def test_what_the_source_does_not_know_has_no_rack() -> None:
    bare = Fabric("f", "hall", frozenset({"gone"}), ())
    assert layers(FLEET, bare).racks == {"gone": ""}
