"""What a source of truth must not call like a fabric."""

from dataclasses import replace

from fleet_runner.core.cabling.fabrics import FABRIC_TYPES
from fleet_runner.core.inventory.consistency import Draft, Problem, problems
from fleet_runner.core.inventory.records import Cable, Device, DeviceType, Fleet, Interface, Termination
from tests.core.inventory.test_consistency import draft_of

PORTS = (Interface("1", "infiniband-ndr"), Interface("2", "infiniband-ndr"))
TYPE = DeviceType("t", "Maker", "T", 1.0, PORTS, full_depth=False)


def device(name: str, role: str, site: str = "hall") -> Device:
    """A device with two InfiniBand ports."""
    return Device(name, "t", role, site, interfaces=PORTS)


def told(devices: list[Device], *ends: tuple[str, str], slug: str = "t") -> list[Problem]:
    """What is said against devices that are joined at their first ports."""
    cables = tuple(Cable(Termination(a, "1"), Termination(b, "1")) for a, b in ends)
    named = {each.name: replace(each, device_type=slug) for each in devices}
    types = {slug: replace(TYPE, slug=slug)}
    draft: Draft = draft_of(Fleet(tuple(sorted({each.site for each in devices})), {}, types, named, cables))
    return list(problems(draft))


def test_a_device_may_not_be_called_like_a_fabric() -> None:
    """Whatever stands in the store under that name would be both."""
    joined = [device("gpu-1", "gpu-server"), device("leaf-1", "leaf")]
    (problem,) = told([*joined, device("infiniband.hall", "spine")], ("gpu-1", "leaf-1"))
    assert problem.where == "devices:3.name"
    assert problem.text == "device 'infiniband.hall' is called like the fabric of 'leaf-1'; rename it"
    assert told([*joined, device("infiniband.hall2", "spine")], ("gpu-1", "leaf-1")) == []


def test_two_fabrics_may_not_be_called_alike() -> None:
    """Special characters of a site or a switch are replaced in the name; then they may be."""
    devices = [
        device("gpu-1", "gpu-server"),
        device("gpu-2", "gpu-server"),
        device("a/1", "leaf"),
        device("a:1", "leaf"),
    ]
    (problem,) = told(devices, ("gpu-1", "a/1"), ("gpu-2", "a:1"))
    assert problem.text == "the fabrics of 'a/1' and 'a:1' would both be 'infiniband.hall.a_1'; rename a switch"


def test_no_device_type_may_be_a_fabric() -> None:
    """The store tells fabrics from nodes by it."""
    (problem,) = told([device("gpu-1", "gpu-server")], slug=FABRIC_TYPES[0])
    assert "is what fleet-runner calls its own fabrics" in problem.text
