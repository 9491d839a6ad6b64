"""Which devices of a design without roles are servers."""

import random

import pytest

from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.roles import is_server, servers
from tests.fabric.building import Fabric

Way = tuple[str, str, str]
"""How ports are called: of servers, of leaves, of the switches above them."""

NAMED: tuple[Way, ...] = (("mlx5_{}", "{}", "{}"), ("ib{}", "swp{}", "1/{}"), ("HCA-{}", "Ethernet1/{}", "IB1/{}"))
NUMBERED: tuple[Way, ...] = (("{}", "{}", "{}"), ("1/{}", "swp{}", "{}"))


def two_levels(fabric: Fabric, way: Way = NAMED[0]) -> list[Link]:
    """Return a fabric of servers, leaves and spines with its ports called in a way."""

    def port(device: str, number: str) -> Port:
        form = way[("gpu", "lea", "spi").index(device[:3])]
        return Port(device, form.format(number.removeprefix("mlx5_")))

    return [link(port(*a), port(*b)) for a, b in fabric.cables()]


def three_levels(pods: int, half: int, cores: int, way: Way = NAMED[0]) -> list[Link]:
    """Return pods of one-ported servers, leaves and spines of `half` ports to each side, below cores."""
    server, leaf, above = way
    found: list[Link] = []
    for pod in range(pods):
        for at in range(half):
            here = f"leaf-{pod}-{at}"
            for slot in range(half):
                gpu, spine = Port(f"gpu-{pod}-{at}-{slot}", server.format(0)), f"spine-{pod}-{slot}"
                core = f"core-{(at * half + slot) % cores}"
                found += [
                    link(gpu, Port(here, leaf.format(slot))),
                    link(Port(here, leaf.format(half + slot)), Port(spine, above.format(at))),
                    link(Port(spine, above.format(half + at)), Port(core, above.format(pod * half * half + at * 8))),
                ]
    return found


def gpus(links: list[Link]) -> frozenset[str]:
    return frozenset(port.device for joined in links for port in joined if port.device.startswith("gpu"))


TWO = [
    Fabric(),
    Fabric(servers=4, rails=8, leaf_servers=32, spines=2, ways=2),
    Fabric(servers=1, rails=8, leaf_servers=1, spines=4, ways=1),
    Fabric(servers=12, rails=1, leaf_servers=1, spines=2, ways=1),
    Fabric(servers=128, rails=4, leaf_servers=16, spines=4, ways=4, radix=40),
    Fabric(servers=40, rails=1, leaf_servers=40, spines=0),
    Fabric(servers=2, rails=2, leaf_servers=2, spines=1, ways=1),
]
"""Of different radix; small pods; a server a leaf; a single switch."""


@pytest.mark.parametrize("way", NAMED)
@pytest.mark.parametrize("fabric", TWO)
def test_servers_are_told_by_their_ports_whatever_the_size(fabric: Fabric, way: Way) -> None:
    links = two_levels(fabric, way)
    assert servers(links, {}) == gpus(links)


@pytest.mark.parametrize("way", NUMBERED)
@pytest.mark.parametrize("fabric", [TWO[0], TWO[4], TWO[5]])
def test_servers_with_numbered_ports_are_told_by_their_cables(fabric: Fabric, way: Way) -> None:
    """Spines have more cables than servers, and not many fewer than leaves."""
    links = two_levels(fabric, way)
    assert servers(links, {}) == gpus(links)


@pytest.mark.parametrize("way", [*NAMED, *NUMBERED])
@pytest.mark.parametrize(("pods", "half", "cores"), [(2, 4, 4), (4, 8, 64), (2, 32, 32)])
def test_switches_above_spines_are_no_servers(way: Way, pods: int, half: int, cores: int) -> None:
    """Cores have more cables than spines, as many, or far fewer."""
    links = three_levels(pods, half, cores, way)
    assert servers(links, {}) == gpus(links)


@pytest.mark.parametrize("way", [NAMED[0], NUMBERED[0]])
def test_the_order_of_cables_and_of_their_ends_tells_nothing(way: Way) -> None:
    links = two_levels(TWO[0], way)
    mixed = [Link(*random.Random(at).sample(joined, 2)) for at, joined in enumerate(links)]
    random.Random(1).shuffle(mixed)
    assert servers(mixed, {}) == servers(links, {}) == gpus(links)


def test_what_is_told_is_believed() -> None:
    links = two_levels(TWO[0])
    assert servers(links, {"gpu-001": False, "spine-01": True}) == gpus(links) - {"gpu-001"} | {"spine-01"}


@pytest.mark.parametrize(("role", "server"), [("gpu-server", True), ("IB-Leaf", False), ("ToR", False)])
def test_a_role_that_is_no_switch_is_a_servers(role: str, server: bool) -> None:
    assert is_server(role) is server


def test_two_joined_devices_that_nothing_tells_apart_are_no_servers() -> None:
    assert servers([link(Port("a", "1"), Port("b", "1"))], {}) == frozenset()


def test_a_host_at_a_spine_is_a_server_as_others_are() -> None:
    """It has fewer cables than any, and says nothing of those that have more."""
    links = [*two_levels(TWO[0], NUMBERED[0]), link(Port("ufm-01", "1"), Port("spine-01", "64"))]
    assert servers(links, {}) == gpus(links) | {"ufm-01"}


@pytest.mark.parametrize("name", ["P{}", "sw{}p1", "P{}.0", "sw{}p1s2", "IB1/{}/1"])
def test_switches_whose_ports_are_called_otherwise_are_switches(name: str) -> None:
    """Each vendor has its own way, and one design may have several."""
    links = [link(Port(f"gpu-{at}", "mlx5_0"), Port("leaf-1", name.format(at))) for at in range(1, 5)]
    links += [link(Port("leaf-1", name.format(at)), Port("spine-1", f"swp{at}")) for at in range(5, 8)]
    assert servers(links, {}) == gpus(links)


def test_two_ports_called_as_adapters_with_a_processor_call_them_are_a_servers() -> None:
    links = [
        link(Port(f"gpu-{at}", f"p{side}"), Port(f"tor-{side}", f"swp{at}")) for at in range(3) for side in (0, 1)
    ]
    assert servers(links, {}) == gpus(links)
