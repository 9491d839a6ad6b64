"""Which fabrics the designed cables make."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.fabrics import ETHERNET as ETHERNET_FABRIC
from fleet_runner.core.cabling.fabrics import FABRIC_TYPES, INFINIBAND, NAMED, cables_of, fabrics
from fleet_runner.core.inventory.records import NODE_ROLES, Cable, Device, Fleet, Interface, Termination
from tests.fleets import fleets

IB, ETHERNET = "infiniband-ndr", "100gbase-x-qsfp28"


def device(name: str, role: str, *, site: str = "hall", kind: str = IB, ports: int = 4) -> Device:
    """A device with so many ports of a kind."""
    interfaces = tuple(Interface(str(number), kind) for number in range(1, ports + 1))
    return Device(name, "t", role, site, interfaces=interfaces)


def joined(devices: list[Device], *ends: tuple[str, str, str, str]) -> Fleet:
    """A fleet of devices and the cables between them."""
    cables = tuple(Cable(Termination(a, b), Termination(c, d)) for a, b, c, d in ends)
    return Fleet(("hall",), {}, {}, {each.name: each for each in devices}, cables)


TWO_LEAVES = [device("gpu-1", "gpu-server"), device("leaf-1", "leaf"), device("leaf-2", "leaf")]


def test_the_switches_that_cables_join_are_one_fabric() -> None:
    """With the node ports in it."""
    fleet = joined(TWO_LEAVES, ("gpu-1", "1", "leaf-1", "1"), ("leaf-2", "1", "leaf-1", "2"))
    (found,) = fabrics(fleet)
    assert (found.name, found.site, found.switches) == ("infiniband.hall", "hall", {"leaf-1", "leaf-2"})
    assert found.first == "leaf-1"
    assert found.size == "2 switches and 1 node of hall"
    assert found.ports == (Termination("gpu-1", "1"),)
    assert (found.record.name, found.record.role, found.record.device_type) == (
        "infiniband.hall",
        *FABRIC_TYPES[:1] * 2,
    )


def test_switches_that_nothing_joins_are_fabrics_of_their_own() -> None:
    """A node in both does not join them; each is named after its first switch."""
    fleet = joined(TWO_LEAVES, ("gpu-1", "1", "leaf-1", "1"), ("gpu-1", "2", "leaf-2", "1"))
    assert [each.name for each in fabrics(fleet)] == ["infiniband.hall.leaf-1", "infiniband.hall.leaf-2"]


def test_names_are_fit_for_ansible() -> None:
    """Two sites whose names become alike stay apart."""
    devices = [device("leaf/1", "leaf", site="Hall 1"), device("n1", "gpu-server", site="Hall 1")]
    assert [each.name for each in fabrics(joined(devices, ("n1", "1", "leaf/1", "1")))] == ["infiniband.Hall_1"]
    devices += [device("leaf-2", "leaf", site="Hall_1"), device("n2", "gpu-server", site="Hall_1")]
    found = fabrics(joined(devices, ("n1", "1", "leaf/1", "1"), ("n2", "1", "leaf-2", "1")))
    assert [each.name for each in found] == ["infiniband.Hall_1.leaf-2", "infiniband.Hall_1.leaf_1"]


@pytest.mark.parametrize(
    ("near", "far", "infiniband"),
    [
        (IB, IB, True),
        (IB, ETHERNET, True),
        (ETHERNET, IB, False),
        ("", IB, True),
        (None, IB, True),
        ("", ETHERNET, False),
        (ETHERNET, ETHERNET, False),
    ],
)
def test_a_cable_is_of_the_kind_that_its_first_end_tells_and_else_its_other_one(
    near: str | None, far: str, infiniband: bool
) -> None:
    """Of None the source has no such device, or no such interface."""
    devices = [device("leaf-1", "leaf", kind=far)]
    devices += [] if near is None else [device("gpu-1", "gpu-server", kind=near)]
    for end in ("1", "absent") if near is None else ("1",):
        fleet = joined(devices, ("gpu-1", end, "leaf-1", "1"))
        assert bool(cables_of(fleet, INFINIBAND)) is infiniband
        assert len(cables_of(fleet, ETHERNET_FABRIC)) == 1 - infiniband


def test_ethernet_of_which_no_switch_can_be_asked_makes_no_fabric() -> None:
    """Nor does a cable between two nodes."""
    ethernet = [device("gpu-1", "gpu-server", kind=ETHERNET), device("tor-1", "leaf", kind=ETHERNET)]
    assert fabrics(joined(ethernet, ("gpu-1", "1", "tor-1", "1"))) == ()
    nodes = [device("gpu-1", "gpu-server"), device("gpu-2", "gpu-server")]
    assert fabrics(joined(nodes, ("gpu-1", "1", "gpu-2", "1"))) == ()


def test_an_ethernet_fabric_is_read_from_the_switches_that_can_be_asked() -> None:
    """A network of which none can be asked is no fabric, and a second network of the site all the same."""
    asked = {"ansible_network_os": "arista.eos.eos"}
    devices = [
        device("gpu-1", "gpu-server", kind=ETHERNET),
        replace(device("leaf-1", "leaf", kind=ETHERNET), primary_address="192.0.2.1/24", context=asked),
        device("spine-1", "spine", kind=ETHERNET),
        device("mgmt-1", "management-switch", kind=ETHERNET),
    ]
    cables = (("gpu-1", "1", "leaf-1", "1"), ("leaf-1", "4", "spine-1", "1"), ("gpu-1", "2", "mgmt-1", "1"))
    (found,) = fabrics(joined(devices, *cables))
    assert (found.name, found.kind, found.record.device_type) == (
        "ethernet.hall.leaf-1",
        "ethernet",
        "ethernet-fabric",
    )
    assert (found.switches, found.asked) == ({"leaf-1", "spine-1"}, {"leaf-1"})
    assert found.ports == (Termination("gpu-1", "1"),)


def called(fleet: Fleet, **names: object) -> Fleet:
    """A fleet of which some switches name their fabric."""
    devices = {
        name: replace(each, context={**each.context, NAMED: names[name]}) if name in names else each
        for name, each in fleet.devices.items()
    }
    return replace(fleet, devices=devices)


def test_a_fabric_is_called_as_its_switches_say_and_the_others_keep_their_names() -> None:
    fleet = joined(
        [*TWO_LEAVES, device("spine_1", "spine")],
        ("gpu-1", "1", "leaf-1", "1"), ("gpu-1", "2", "leaf-2", "1"), ("leaf-1", "4", "spine_1", "1"),
    )  # fmt: skip
    assert [(each.name, each.usual) for each in fabrics(called(fleet, spine_1="rails a"))] == [
        ("infiniband.hall.leaf-2", "infiniband.hall.leaf-2"),
        ("infiniband.hall.rails_a", "infiniband.hall.leaf-1"),
    ]
    alone = joined(TWO_LEAVES[:2], ("gpu-1", "1", "leaf-1", "1"))
    assert [each.name for each in fabrics(called(alone, **{"leaf-1": "rails"}))] == ["infiniband.hall.rails"]


@pytest.mark.parametrize(
    "names",
    [
        pytest.param({"leaf-1": "rails", "leaf-2": "rails"}, id="two fabrics of one name"),
        pytest.param({"leaf-1": "leaf-2"}, id="the name of another one"),
        pytest.param({"leaf-1": "rails", "spine-1": "storage"}, id="two names"),
        pytest.param({"leaf-1": ""}, id="none"),
        pytest.param({"leaf-1": "x" * 41}, id="too long"),
    ],
)
def test_a_name_that_does_not_tell_fabrics_apart_is_passed_over(names: dict[str, object]) -> None:
    fleet = joined(
        [*TWO_LEAVES, device("spine-1", "spine")],
        ("gpu-1", "1", "leaf-1", "1"), ("gpu-1", "2", "leaf-2", "1"), ("leaf-1", "4", "spine-1", "1"),
    )  # fmt: skip
    assert [each.name for each in fabrics(called(fleet, **names))] == [
        "infiniband.hall.leaf-1",
        "infiniband.hall.leaf-2",
    ]


@given(fleets(), st.data())
def test_whatever_switches_say_each_fabric_has_one_name_and_who_says_nothing_keeps_it(
    fleet: Fleet, data: st.DataObject
) -> None:
    switches = sorted({name for each in fabrics(fleet) for name in each.switches})
    told = (
        st.dictionaries(st.sampled_from(switches), st.sampled_from(["a", "b", *switches]))
        if switches
        else st.just({})
    )
    names = data.draw(told)
    before, after = fabrics(fleet), fabrics(called(fleet, **names))
    assert len({each.name for each in after}) >= len({each.name for each in before})
    assert sorted(each.usual for each in after) == sorted(each.name for each in before)
    for each in after:
        assert each.name == each.usual or names.keys() & each.switches


@given(fleets())
def test_every_switch_with_an_infiniband_cable_is_in_exactly_one_fabric(fleet: Fleet) -> None:
    """And every port of a node that such a cable joins to one."""
    ends = {
        (near, far) for each in cables_of(fleet, INFINIBAND) for near, far in ((each.a, each.b), (each.b, each.a))
    }
    switches = {near.device for near, _ in ends if fleet.devices[near.device].role not in NODE_ROLES}
    found = fabrics(fleet)
    assert sorted(name for each in found for name in each.switches) == sorted(switches)
    ports = {near for near, far in ends if near.device not in switches and far.device in switches}
    assert {port for each in found for port in each.ports} == ports
