"""Cables with a profile (NetBox 4.5): each position is followed to where NetBox says that it leads."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.adapters.netbox.profiles import profile
from fleet_runner.core.inventory.records import Fleet
from tests.adapters.netbox.standin import Standin, as_netbox, serving
from tests.adapters.netbox.test_panels import FLEET, FRONT, GPU, LEAF, PORTS, REAR, Plant, load, port

NAMES = [
    *(f"single-1c{count}p" for count in (1, 2, 4, 6, 8, 12, 16)),
    *(f"trunk-2c{count}p" for count in (1, 2, 4, 6, 8, 12)),
    *(f"trunk-4c{count}p" for count in (1, 2, 4, 6, 8)),
    "trunk-8c4p", "trunk-2c4p-shuffle", "trunk-4c4p-shuffle",
    *(f"breakout-1c{count}p-{count}c1p" for count in (2, 4, 6, 8)),
    "breakout-2c4p-8c1p-shuffle",
]  # fmt: skip
"""All that NetBox 4.7.3 has."""


@pytest.fixture
def standin() -> Iterator[Standin]:
    """A NetBox with a node and a leaf, without cables."""
    with serving(as_netbox(FLEET)) as serves:
        yield serves


def joined(fleet: Fleet) -> list[tuple[str, str]]:
    return [(str(cable.a), str(cable.b)) for cable in fleet.cables]


@pytest.mark.parametrize("name", NAMES)
def test_what_leads_there_leads_back(name: str) -> None:
    found = profile(name)
    assert found is not None
    assert {found.through("B", there): here for here, there in found.forth.items()} == {
        here: here for here in found.forth
    }
    assert len(set(found.forth.values())) == len(found.forth)


@given(st.text() | st.from_regex(r"(single|trunk|breakout)-[0-9]c[0-9]p(-[0-9]c[0-9]p)?(-shuffle)?", fullmatch=True))
def test_a_name_that_is_not_netboxs_joins_nothing(name: str) -> None:
    found = profile(name)
    assert found is None or name.startswith(("single", "trunk", "breakout"))


def test_a_shuffle_is_followed_position_by_position(standin: Standin) -> None:
    """The third position of the first connector comes out at the first one of the second."""
    plant = Plant(standin, later=True)
    near = [plant.panel(f"PP-A{at}", 4) for at in range(2)]
    far = [plant.panel(f"PP-B{at}", 4) for at in range(2)]
    trunk = [(REAR, rear) for _, rear in near], [(REAR, rear) for _, rear in far]
    plant.wide(*trunk, profile={"value": "trunk-2c4p-shuffle"}, label="S-1")
    plant.cable(port(GPU), (FRONT, near[0][0][2]))
    plant.cable(port(LEAF + 3), (FRONT, far[1][0][0]))
    found = load(standin)
    assert joined(found) == [("gpu-1 ib0", "leaf-1 ib3")]
    assert found.cables[0].carriers == ("trunk S-1", "panel PP-A0", "panel PP-B1")
    assert found.notes == ()


def test_a_breakout_is_a_link_for_each_of_its_lanes(standin: Standin) -> None:
    Plant(standin).wide([port(LEAF)], [port(GPU + at) for at in range(4)], profile={"value": "breakout-1c4p-4c1p"})
    assert joined(load(standin)) == [(f"gpu-1 ib{at}", "leaf-1 ib0") for at in range(4)]


def test_a_shuffled_cable_between_interfaces_joins_those_that_its_positions_join(standin: Standin) -> None:
    ends = [port(LEAF), port(LEAF + 1)], [port(GPU), port(GPU + 1)]
    Plant(standin).wide(*ends, profile={"value": "trunk-2c1p"})
    assert joined(load(standin)) == [("gpu-1 ib0", "leaf-1 ib0"), ("gpu-1 ib1", "leaf-1 ib1")]


def test_a_breakout_through_a_panel_shares_the_cable_at_the_port_that_is_broken_out(standin: Standin) -> None:
    plant = Plant(standin, later=True)
    fronts, rear = plant.panel("PP-A", PORTS)
    number = plant.cable(port(LEAF), (REAR, rear), profile={"value": "single-1c4p"})
    for at in range(PORTS):
        plant.cable(port(GPU + at), (FRONT, fronts[at]))
    found = load(standin)
    assert joined(found) == [(f"gpu-1 ib{at}", "leaf-1 ib0") for at in range(PORTS)]
    assert {cable.carriers for cable in found.cables} == {(f"cable #{number}", "panel PP-A")}
    assert found.notes == ()


def test_a_profile_that_is_not_known_leaves_its_ports_uncompared(standin: Standin) -> None:
    Plant(standin).wide([port(LEAF)], [port(GPU)], profile={"value": "woven-1c1p"})
    found = load(standin)
    assert (found.cables, len(found.uncompared)) == ((), 2)
    assert "the cable has the profile 'woven-1c1p', which fleet-runner does not know" in found.notes[0]
