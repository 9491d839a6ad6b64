"""Which switches can be asked for their neighbours, and with which command."""

from dataclasses import replace

import pytest

from fleet_runner.core.cabling.switches import ARP, COMMANDS, FORWARDING, arp, can_be_asked, command, forwarding
from fleet_runner.core.inventory.records import Device

LEAF = Device(
    "leaf-1",
    "t",
    "leaf",
    "hall",
    primary_address="192.0.2.1/24",
    context={"ansible_network_os": "arista.eos.eos"},
)


@pytest.mark.parametrize(
    ("told", "known"),
    [
        ("eos", "arista.eos.eos"),
        ("sonic", "dellemc.enterprise_sonic.sonic"),
        ("cumulus", "nvidia.nvue.nvue"),
        ("os10", "dellemc.os10.os10"),
        ("iosxr", "cisco.iosxr.iosxr"),
    ],
)
def test_a_system_is_known_with_its_collection_and_without(told: str, known: str) -> None:
    assert command(told) == command(known) == COMMANDS[known]
    assert forwarding(told) == forwarding(known) == FORWARDING.get(known, "")
    assert arp(told) == arp(known) == ARP[known]


@pytest.mark.parametrize("told", ["", "eoss", "community.network.icx", None, 7, ["eos"]])
def test_a_system_that_is_not_known_has_no_command(told: object) -> None:
    assert command(told) == forwarding(told) == arp(told) == ""
    assert not can_be_asked(replace(LEAF, context={"ansible_network_os": told}))


def test_a_switch_in_use_with_an_address_can_be_asked() -> None:
    assert can_be_asked(LEAF)
    assert can_be_asked(replace(LEAF, primary_address=None, context={**LEAF.context, "ansible_host": "192.0.2.7"}))
    assert not can_be_asked(replace(LEAF, primary_address=None))
    assert not can_be_asked(replace(LEAF, status="offline"))
    assert not can_be_asked(replace(LEAF, context={}))
