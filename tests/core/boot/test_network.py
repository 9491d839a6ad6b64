"""The network-config asks for an address on the interface that a node boots from, and waits for no other."""

import gzip
from base64 import b64decode

from fleet_runner.core.boot.network import network, packed
from fleet_runner.core.inventory.records import Device, Interface

ONE, TWO = "02:00:00:00:00:01", "02:00:00:00:00:02"
NODE = Device(
    "gpu-01",
    "sku",
    "gpu-server",
    "hall-1",
    interfaces=(
        Interface("ib0", "infiniband-ndr", mac="02:00:00:00:00:09"),
        Interface("eth0", "1000base-t", mac=ONE),
        Interface("eth1", "25gbase-x-sfp28", mac=TWO),
        Interface("eth2", "25gbase-x-sfp28"),
        Interface("bmc", "1000base-t", mac="02:00:00:00:00:0b", mgmt_only=True),
    ),
)


def test_the_interface_it_boots_from_is_the_only_one_and_keeps_its_address() -> None:
    found = network(NODE, TWO)
    entry = {"match": {"macaddress": TWO}, "dhcp4": True, "dhcp6": False, "dhcp-identifier": "mac"}
    assert found == {"version": 2, "ethernets": {"boot-020000000002": entry}}


def test_without_a_known_address_each_ethernet_interface_asks_and_none_is_waited_for() -> None:
    found = network(NODE)["ethernets"].values()
    assert [entry["match"]["macaddress"] for entry in found] == [ONE, TWO]
    assert all(entry["dhcp4"] and entry["optional"] for entry in found)


def test_an_interface_that_the_source_does_not_know_asks_as_well() -> None:
    assert list(network(NODE, "02:00:00:00:00:77")["ethernets"]) == ["boot-020000000077"]


def test_a_slash_in_an_interface_name_is_in_no_key() -> None:
    node = Device("a", "sku", "gpu-server", "hall-1", interfaces=(Interface("Ethernet 1/1", "1000base-t", mac=ONE),))
    assert list(network(node)["ethernets"]) == ["boot-020000000001"]


def test_a_node_with_an_ipv6_address_asks_for_one_too() -> None:
    node = Device("gpu-01", "sku", "gpu-server", "hall-1", primary_address="2001:db8::5/64")
    assert network(node, ONE)["ethernets"]["boot-020000000001"]["dhcp6"] is True


def test_it_fits_on_a_command_line_and_is_the_same_each_time() -> None:
    document = b'{"version": 2, "ethernets": {}}\n'
    text = packed(document)
    assert gzip.decompress(b64decode(text)) == document
    assert text == packed(document)
    assert not set(text) & set(" \n\"'")
