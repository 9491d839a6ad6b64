"""Which switches can be asked for their neighbours, and with which command."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.switches import (
    ARP,
    COMMANDS,
    FORWARDING,
    MOST_VRFS,
    arp,
    arp_in_vrfs,
    can_be_asked,
    command,
    forwarding,
    gnmi,
    gnmi_path,
    vrfs,
)
from fleet_runner.core.inventory.records import Device
from tests.core.checks.healthy.__init__ import text_of

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
        ("openconfig", "openconfig"),
    ],
)
def test_a_system_is_known_with_its_collection_and_without(told: str, known: str) -> None:
    assert command(told) == command(known) == COMMANDS[known]
    assert forwarding(told) == forwarding(known) == FORWARDING.get(known, "")
    assert arp(told) == arp(known) == ARP.get(known, "")


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


def test_vrfs_other_than_the_default_are_asked_where_the_system_tells_of_one_at_a_time() -> None:
    text = text_of("os10/vrf.txt")
    assert vrfs("os10") == "show ip vrf | no-more"
    assert arp_in_vrfs("os10", text) == (
        "show ip arp vrf tenant-blue | no-more",
        "show ip arp vrf tenant_red | no-more",
    )
    assert {vrfs(system) for system in ARP if not system.endswith("os10")} == {""}
    assert arp_in_vrfs("os10", text.rstrip("\n")) == ("show ip arp vrf tenant-blue | no-more",)
    assert arp_in_vrfs("os10", "") == ()
    many = "".join(f"red{number}  Vlan{number}\n" for number in range(30))
    assert len(arp_in_vrfs("os10", many)) == MOST_VRFS


@given(st.text(alphabet=st.sampled_from("ab1-_. \t\r\n;|$`'\"&(){}<>/*"), max_size=80))
def test_no_name_of_a_vrf_says_more_than_a_name(named: str) -> None:
    for words in arp_in_vrfs("os10", named):
        name = words.removeprefix("show ip arp vrf ").removesuffix(" | no-more")
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name, re.ASCII)


def test_paths_are_asked_over_gnmi_and_nothing_else() -> None:
    for questions in (COMMANDS, FORWARDING):
        assert {system for system, words in questions.items() if gnmi(words)} == {"openconfig"}
    assert not any(map(gnmi, ARP.values()))


def test_a_path_is_of_the_origin_openconfig_but_of_sonics_target() -> None:
    path = COMMANDS["openconfig"]
    assert gnmi_path(path, ["openconfig-lldp", "arista-intf-augments"]) == ("openconfig", ["lldp", "interfaces"])
    assert gnmi_path(path, ["openconfig-lldp", "sonic-db"]) == ("", ["openconfig-lldp:lldp", "interfaces"])
