"""From the fabric's names to the design's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.binding import bind
from fleet_runner.core.cabling.ends import bind_end, names_no_other
from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.cabling.names import bind_port, names
from fleet_runner.core.checks.parsers.discovery import FabricLink, FabricPort

LEAF, SERVER = Port("leaf-1", "Ethernet1/7"), Port("gpu-01", "ib3")
KNOWN = names([LEAF, SERVER], {"00000000000000aa": SERVER}, {"gpu-01": {"mlx5_3": "ib3", "mlx5_4/2": "ib4"}})
SWITCH = FabricPort("MF0;leaf-1:MQM9700/U1", 7, "SW", "00000000000000bb")


def adapter(name: str, port: int = 1, guid: str = "cc") -> FabricPort:
    """One port of an HCA."""
    return FabricPort(name, port, "CA", guid.rjust(16, "0"))


def bound(end: FabricPort) -> Port:
    """Where one end of a link is, the other being leaf-1's port 7."""
    (joined,) = bind([FabricLink(SWITCH, end, 4, "NDR")], KNOWN).links
    return joined.a if joined.b == LEAF else joined.b


@pytest.mark.parametrize(
    "end",
    [
        adapter("gpu-01 mlx5_3"),
        adapter("gpu-01.example.com mlx5_3"),
        adapter("gpu-01 3"),
        adapter("gpu-01 ib3"),
        adapter("MT4129 ConnectX7   Mellanox Technologies", guid="aa"),
        adapter("gpu-99 mlx5_0", guid="aa"),
    ],
)
def test_an_adapter_is_known_by_its_guid_or_else_by_its_name(end: FabricPort) -> None:
    """A GUID says more than whatever stands in the node description."""
    assert bound(end) == SERVER


def test_the_second_port_of_an_adapter_has_a_name_of_its_own() -> None:
    assert bound(adapter("gpu-01 mlx5_4", 2)) == Port("gpu-01", "ib4")


@pytest.mark.parametrize("name", ["leaf-1", "MF0;leaf-1:MQM9700/U1", "MF0;leaf-1;x", "leaf-1.example.com"])
def test_a_switch_port_is_known_by_its_number(name: str) -> None:
    """Whether the switch is managed, and so describes its chassis too, or not."""
    seen = FabricLink(FabricPort(name, 7, "SW", "b".rjust(16, "0")), adapter("gpu-01 mlx5_3"), 4, "NDR")
    assert set(bind([seen], KNOWN).links) == {link(LEAF, SERVER)}


def test_a_switch_whose_guid_is_known_is_that_switch_and_the_port_that_it_says() -> None:
    """All ports of a switch have the switch's GUID."""
    known = names([LEAF, SERVER], {"bb".rjust(16, "0"): Port("leaf-1", "Ethernet1/1")}, {})
    seen = FabricLink(
        FabricPort("Quantum-2 Mellanox Technologies", 7, "SW", "bb".rjust(16, "0")), adapter("x mlx5_0"), 4, ""
    )
    assert set(bind([seen], known).links.items()) == {(link(LEAF, Port("x", "mlx5_0")), "")}


@pytest.mark.parametrize(
    "end",
    [
        adapter(""),
        adapter("MT4129 ConnectX7   Mellanox Technologies"),
        adapter("Mellanox Technologies Aggregation Node"),
        adapter("localhost mlx5_0"),
        adapter("gpu-01 mlx5_9"),
        adapter("gpu-01 mlx5_3", 2),
        FabricPort("Quantum Mellanox Technologies", 3, "SW", "cc".rjust(16, "0")),
    ],
)
def test_an_end_that_nothing_identifies_is_made_up_and_marked(end: FabricPort) -> None:
    """Under its description and GUID, so that two of them are never one."""
    found = bind([FabricLink(SWITCH, end, 4, "NDR")], KNOWN)
    (device,) = found.nameless
    assert device.endswith(" 0x00000000000000cc")
    assert set(found.links) == {link(LEAF, Port(device, str(end.port)))}


def test_a_device_that_the_design_does_not_know_keeps_its_name() -> None:
    assert bound(adapter("storage-7 mlx5_0", 2)) == Port("storage-7", "mlx5_0/2")
    assert bound(adapter("storage-7")) == Port("storage-7", "1")


def test_two_ends_that_claim_one_port_are_both_doubted() -> None:
    """An image that was cloned with its name: neither is believed, and no other link suffers."""
    far = FabricPort("leaf-1", 8, "SW", "00000000000000bb")
    seen = [
        FabricLink(SWITCH, adapter("gpu-01 mlx5_3", guid="c1"), 4, "NDR"),
        FabricLink(far, adapter("gpu-01 mlx5_3", guid="c2"), 4, "NDR"),
    ]
    found = bind(seen, KNOWN)
    made_up = {f"gpu-01 mlx5_3 0x00000000000000c{number}" for number in (1, 2)}
    assert found.nameless == made_up
    assert {port.device for joined in found.links for port in joined} == made_up | {"leaf-1"}


def test_of_two_ends_that_claim_one_port_the_known_guid_is_believed() -> None:
    far = FabricPort("leaf-1", 8, "SW", "00000000000000bb")
    seen = [
        FabricLink(far, adapter("gpu-01 mlx5_3", guid="c2"), 4, "NDR"),
        FabricLink(SWITCH, adapter("gpu-01 mlx5_3", guid="aa"), 4, "NDR"),
    ]
    found = bind(seen, KNOWN)
    assert link(LEAF, SERVER) in found.links
    assert found.nameless == {"gpu-01 mlx5_3 0x00000000000000c2"}


def test_rates_are_said_as_the_tools_say_them() -> None:
    ends = [
        (FabricPort("leaf-9", port, "SW", "b" * 16), FabricPort("leaf-8", port, "SW", "a" * 16)) for port in (1, 2, 3)
    ]
    rates = [(2, "NDR"), (0, "NDR"), (4, "")]
    seen = [FabricLink(*pair, *rate) for pair, rate in zip(ends, rates, strict=True)]
    assert list(bind(seen, KNOWN).links.values()) == ["2x NDR", "", ""]


def test_a_number_that_two_interfaces_end_in_names_neither() -> None:
    """1/7 and 2/7 are both port 7 of something; other numbers still serve, with or without leading zeros."""
    known = names([Port("leaf-1", name) for name in ("1/7", "2/7", "3/7", "swp08", "mgmt")], {}, {})
    assert bind_port("leaf-1", "7", known) == Port("leaf-1", "7")
    assert bind_port("leaf-1", "2/7", known) == Port("leaf-1", "2/7")
    assert bind_port("leaf-1", "8", known) == Port("leaf-1", "swp08")
    assert bind_port("other", "8", known) == Port("other", "8")


@given(st.lists(st.text(max_size=6)), st.text(max_size=6))
def test_every_interface_answers_to_its_own_name(interfaces: list[str], device: str) -> None:
    """However odd: designs are written by hand."""
    known = names([Port(device, name) for name in interfaces], {}, {})
    assert all(bind_port(device, name, known) == Port(device, name) for name in interfaces)


def test_a_port_name_of_thousands_of_digits_is_only_a_name() -> None:
    name = "9" * 5000
    assert bind_port("d", name, names([Port("d", name)], {}, {})) == Port("d", name)


def test_one_end_by_itself_is_bound_as_in_a_link() -> None:
    assert bind_end(adapter("gpu-01 mlx5_3"), KNOWN) == SERVER
    assert bind_end(adapter(""), KNOWN) == Port("unnamed 0x00000000000000cc", "1")


def test_where_two_numbers_count_nobody_knows_which_port_of_the_fabric_a_name_is() -> None:
    """Module and port: of 1/1 and 2/2, neither is port 2 for its name. Other ports of the device still are."""
    known = names([Port("leaf-1", name) for name in ("1/1", "2/2", "3/3", "swp4", "eth5")], {}, {})
    assert bind_port("leaf-1", "2", known) == Port("leaf-1", "2")
    assert bind_port("leaf-1", "2/2", known) == Port("leaf-1", "2/2")
    assert (bind_port("leaf-1", "4", known).interface, bind_port("leaf-1", "5", known).interface) == ("swp4", "eth5")


def test_where_the_first_of_two_numbers_is_always_the_same_the_other_one_is_the_port() -> None:
    known = names([Port("leaf-1", name) for name in ("Ethernet1/1", "Ethernet1/2")], {}, {})
    assert bind_port("leaf-1", "2", known) == Port("leaf-1", "Ethernet1/2")


@pytest.mark.parametrize("device", ["switch-100101", "MT12345678", "localhost"])
def test_a_device_that_the_design_calls_so_has_a_name_like_those_that_nobody_wrote(device: str) -> None:
    known = names([Port(device, "7"), Port(device, "ib3")], {}, {})
    assert bind_end(FabricPort(f"MF0;{device}:MQM9700/U1", 7, "SW", "b" * 16), known) == Port(device, "7")
    assert bind_end(adapter(f"{device} ib3"), known) == Port(device, "ib3")


@pytest.mark.parametrize(
    ("designed", "told"),
    [("gpu-01.hall.example", "gpu-01"), ("gpu-01", "gpu-01.hall.example"), ("gpu-01.hall", "gpu-01.hall")],
)
def test_a_name_is_known_where_only_one_of_design_and_fabric_has_its_domain(designed: str, told: str) -> None:
    known = names([Port(designed, "ib3"), Port(designed, "7")], {}, {})
    assert bind_end(adapter(f"{told} ib3"), known) == Port(designed, "ib3")
    assert bind_end(FabricPort(told, 7, "SW", "b" * 16), known) == Port(designed, "7")
    assert bind_port(told, "7", known) == Port(designed, "7")
    assert names_no_other(adapter(f"{told} mlx5_9"), designed)


def test_a_short_name_that_two_devices_have_is_neither() -> None:
    known = names([Port("gpu-01.east", "ib3"), Port("gpu-01.west", "ib3")], {}, {})
    assert bind_port("gpu-01", "ib3", known) == Port("gpu-01", "ib3")
    assert bind_port("gpu-01.west", "ib3", known) == Port("gpu-01.west", "ib3")
    assert bind_port("gpu-01.north", "ib3", known) == Port("gpu-01.north", "ib3")


@pytest.mark.parametrize("name", ["gpu-01", "gpu-01.example.com"])
def test_an_adapter_that_says_only_its_node_is_the_one_that_is_designed_there(name: str) -> None:
    """Of several, nothing says which; it is not port 1 of the node."""
    assert bind_end(adapter(name), names([SERVER], {}, {})) == SERVER
    both = names([SERVER, Port("gpu-01", "ib4")], {"00000000000000aa": SERVER}, {})
    assert bind_end(adapter(name), both) == Port(f"{name} 0x00000000000000cc", "1")
    assert bind_end(adapter(name, guid="aa"), both) == SERVER
    assert names_no_other(adapter(name), "gpu-01")
