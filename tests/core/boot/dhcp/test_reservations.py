"""Which node gets which address; what contradicts itself in the source of truth is nobody's, and said."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network

import pytest
from hypothesis import given

from fleet_runner.core.boot.dhcp.networks import Network
from fleet_runner.core.boot.dhcp.reservations import reserve
from fleet_runner.core.inventory.records import Device, Fleet, Interface, nodes
from tests.fleets import fleets

NETWORK = Network(
    IPv4Network("10.1.0.0/24"), IPv4Address("10.1.0.100"), IPv4Address("10.1.0.101"), (IPv4Address("10.1.0.102"),)
)
GPU = Device(
    "gpu-01",
    "box",
    "gpu-server",
    "hall-1",
    primary_address="10.1.0.1/24",
    interfaces=(
        Interface("eth1", "25gbase-x-sfp28", "02:00:00:00:00:02"),
        Interface("eth0", "1000base-t", "02:00:00:00:00:01"),
        Interface("eth2", "1000base-t"),
        Interface("ib0", "infiniband-ndr", "02:00:00:00:00:03"),
        Interface("bond0", "lag", "02:00:00:00:00:01"),
        Interface("bmc", "1000base-t", "02:00:00:00:00:0b", mgmt_only=True),
    ),
)
LEAF = Device("leaf-1", "switch", "leaf", "hall-1", primary_address="10.1.0.50")


def fleet(*devices: Device) -> Fleet:
    return Fleet(("hall-1",), {}, {}, {each.name: each for each in devices}, ())


@given(fleets())
def test_each_node_has_one_reservation_or_one_sentence(found: Fleet) -> None:
    reserved = reserve(found, (NETWORK,))
    named = [each.node for each in reserved.reservations] + [note.split()[0] for note in reserved.notes]
    assert sorted(named) == sorted(device.name for device in nodes(found))


@given(fleets())
def test_no_address_is_reserved_twice(found: Fleet) -> None:
    reserved = reserve(found, (NETWORK,)).reservations
    macs = [mac for each in reserved for mac in each.macs]
    assert len(macs) == len(set(macs))
    assert len({each.address for each in reserved}) == len(reserved)
    assert list(reserved) == sorted(reserved, key=lambda each: each.address)
    assert all(each.address in each.network.subnet for each in reserved)


def test_a_nodes_ethernet_cards_share_its_address() -> None:
    """Its BMC is no card of its own: it would take the address, and keep it."""
    (only,) = reserve(fleet(GPU, LEAF), (NETWORK,)).reservations
    assert (only.node, only.address) == ("gpu-01", IPv4Address("10.1.0.1"))
    assert only.macs == ("02:00:00:00:00:01", "02:00:00:00:00:02")


def test_two_nodes_with_one_mac_address_have_none_reserved() -> None:
    """To boot the wrong one of them would be worse."""
    other = replace(GPU, name="gpu-02", primary_address="10.1.0.2")
    reserved = reserve(fleet(GPU, other), (NETWORK,))
    assert reserved.reservations == ()
    assert reserved.notes[0] == (
        "gpu-01 has no reserved address: its MAC address 02:00:00:00:00:01 is in the source of truth at another"
        " device, too; correct one of them"
    )


@pytest.mark.parametrize(
    ("device", "said"),
    [
        (replace(GPU, interfaces=GPU.interfaces[2:4]), "none of its Ethernet interfaces has a MAC address"),
        (replace(GPU, primary_address=None), "it has no primary address"),
        (replace(GPU, primary_address="10.1.0.50/24"), "its primary address 10.1.0.50 is in the source of truth at"),
        (replace(GPU, primary_address="fd00::1/64"), "its primary address fd00::1 is IPv6"),
        (replace(GPU, primary_address="10.2.0.1"), "its primary address 10.2.0.1 is in none of the boot networks"),
        (
            replace(GPU, primary_address="10.1.0.0"),
            "belongs to a server, to the router, or to the network 10.1.0.0/24",
        ),
        (replace(GPU, primary_address="10.1.0.100"), "belongs to a server"),
        (replace(GPU, primary_address="10.1.0.101"), "belongs to a server"),
        (replace(GPU, primary_address="10.1.0.102"), "belongs to a server"),
    ],
)
def test_why_a_node_has_none_is_said(device: Device, said: str) -> None:
    reserved = reserve(fleet(device, LEAF), (NETWORK,))
    assert reserved.reservations == ()
    assert [said in note for note in reserved.notes] == [True]
