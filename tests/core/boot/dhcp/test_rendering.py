"""Configurations that are rendered: nothing from the source of truth gets out of its place in them."""

import json
import re
from ipaddress import IPv4Network

import pytest
from hypothesis import given

from fleet_runner.core.boot.dhcp import KINDS, render
from fleet_runner.core.boot.dhcp.networks import Networks, read
from fleet_runner.core.inventory.records import Device, Fleet, Interface, nodes
from tests.fleets import fleets

GPU = Device(
    "gpu-01",
    "box",
    "gpu-server",
    "hall-1",
    primary_address="10.1.0.1",
    interfaces=(
        Interface("eth0", "1000base-t", "02:00:00:00:00:01"),
        Interface("eth1", "1000base-t", "02:00:00:00:00:02"),
    ),
)
FLEET = Fleet(("hall-1",), {}, {}, {"gpu-01": GPU, "gpu-02": Device("gpu-02", "box", "gpu-server", "hall-1")}, ())
LINE = re.compile(r"# [A-Za-z0-9._-]+|dhcp-host=([0-9a-f]{2}(:[0-9a-f]{2}){5},)+[0-9.]+")


def networks(**more: object) -> Networks:
    return read(
        {"interfaces": ["eth1"], "server": "10.1.0.100", "networks": [{"subnet": "10.1.0.0/24"}], **more},
        "http://10.1.0.100:8480",
    )


@given(fleets())
def test_a_node_is_two_lines_of_dnsmasqs_and_nothing_else(found: Fleet) -> None:
    rendered = render("dnsmasq", found, networks())
    without = render("dnsmasq", Fleet((), {}, {}, {}, ()), networks()).text.splitlines()
    more = rendered.text.splitlines()[len(without) :]
    assert len(more) == 2 * rendered.reserved
    assert all(map(LINE.fullmatch, more))
    assert rendered.reserved + len(rendered.notes) == len(nodes(found))


@given(fleets())
def test_keas_reservations_are_the_same_as_dnsmasqs(found: Fleet) -> None:
    (subnet,) = json.loads(render("kea", found, networks()).text)["Dhcp4"]["subnet4"]
    kea = {(each["hw-address"], each["ip-address"]) for each in subnet["reservations"]}
    lines = re.findall(r"^dhcp-host=(.*),([0-9.]+)$", render("dnsmasq", found, networks()).text, re.MULTILINE)
    assert kea == {(mac, address) for macs, address in lines for mac in macs.split(",")}


def test_a_proxy_and_a_tftp_server_know_no_node() -> None:
    for kind in ("dnsmasq-proxy", "tftp"):
        rendered = render(kind, FLEET, networks())
        assert (rendered.reserved, rendered.notes) == (0, ())
        assert "02:00:00:00:00:01" not in rendered.text


def test_nobody_is_told_of_leases_without_a_hook() -> None:
    for kind in ("dnsmasq", "kea"):
        assert "/usr/local/lib/hook" not in render(kind, FLEET, networks()).text
        assert "/usr/local/lib/hook" in render(kind, FLEET, networks(lease_hook="/usr/local/lib/hook")).text


def test_dnsmasq_has_room_for_every_node_and_the_whole_range() -> None:
    """Its own limit is 1000 leases."""
    small = networks(networks=[{"subnet": "10.1.0.0/24", "range": ["10.1.0.10", "10.1.0.20"]}])
    large = networks(networks=[{"subnet": "10.0.0.0/8", "range": ["10.2.0.0", "10.2.15.255"], "dns": ["10.0.0.1"]}])
    assert "dhcp-lease-max=1000\n" in render("dnsmasq", FLEET, small).text
    assert "dhcp-lease-max=4097\n" in render("dnsmasq", FLEET, large).text


def test_dnsmasq_names_itself_neither_router_nor_name_server() -> None:
    text = render("dnsmasq", FLEET, networks()).text
    assert "dhcp-option=tag:net0,option:router\n" in text
    assert "dhcp-option=tag:net0,option:dns-server\n" in text
    assert "domain-name" not in text


def test_a_subnet_keeps_its_id_in_kea_when_another_comes_before_it() -> None:
    """Kea's leases name subnets by id alone."""
    later = networks(networks=[{"subnet": "10.0.0.0/24"}, {"subnet": "10.1.0.0/24"}])
    ids = [
        {each["subnet"]: each["id"] for each in json.loads(render("kea", FLEET, found).text)["Dhcp4"]["subnet4"]}
        for found in (networks(), later)
    ]
    assert ids[0]["10.1.0.0/24"] == ids[1]["10.1.0.0/24"] == int(IPv4Network("10.1.0.0/24").network_address)


@pytest.mark.parametrize("kind", KINDS)
def test_rendering_twice_gives_the_same(kind: str) -> None:
    assert render(kind, FLEET, networks()) == render(kind, FLEET, networks())


def test_one_configuration_to_read() -> None:
    found = networks(
        networks=[
            {
                "subnet": "10.1.0.0/24",
                "router": "10.1.0.254",
                "domain": "boot.example",
                "range": ["10.1.0.8", "10.1.0.9"],
            }
        ],
        lease_hook="/usr/local/lib/hook",
        hook_user="dnsmasq",
    )
    lines = render("dnsmasq", FLEET, found).text.splitlines()
    assert lines[1:7] == [
        "port=0",
        "bind-dynamic",
        "interface=eth1",
        "except-interface=lo",
        "enable-tftp",
        "tftp-root=/usr/lib/ipxe",
    ]
    assert lines[-8:] == [
        "dhcp-option=tag:net0,option:router,10.1.0.254",
        "dhcp-option=tag:net0,option:dns-server",
        "dhcp-option=tag:net0,option:domain-name,boot.example",
        "dhcp-boot=tag:net0,tag:bios,tag:!ipxe,undionly.kpxe,,10.1.0.100",
        "dhcp-boot=tag:net0,tag:uefi-x64,tag:!ipxe,snponly.efi,,10.1.0.100",
        "dhcp-boot=tag:net0,tag:uefi-arm64,tag:!ipxe,snponly-arm64.efi,,10.1.0.100",
        "# gpu-01",
        "dhcp-host=02:00:00:00:00:01,02:00:00:00:00:02,10.1.0.1",
    ]
