"""How a node's network is set up while it boots: cloud-init's network-config, version 2, made from its interfaces."""

import gzip
from base64 import b64encode
from collections.abc import Iterable
from typing import Any

from fleet_runner.core.records import Device, Interface

NOT_ETHERNET = ("infiniband", "virtual", "bridge", "lag")
"""How interface types begin that carry no DHCP: another medium, or nothing of their own to plug into."""


def network(device: Device, mac: str = "") -> dict[str, Any]:
    """Return the network-config of a node that boots from the interface with this MAC address.

    That interface asks for an address as iPXE did, by its MAC, so that it keeps the one it has; the others wait for
    whoever sets them up later. Without a known MAC address each Ethernet interface asks, and none is waited for.
    """
    known = {each.mac: each for each in ethernet(device.interfaces) if each.mac}
    asking = {mac} if mac else set(known)
    six = ":" in (device.primary_address or "")
    found: dict[str, Any] = {}
    for at in sorted({*known, *asking}):
        found[_id(at, known.get(at))] = _entry(at, six=six, asks=at in asking, waits=at == mac)
    return {"version": 2, "ethernets": found}


def ethernet(interfaces: Iterable[Interface]) -> tuple[Interface, ...]:
    """Return the interfaces that a node may boot from."""
    return tuple(each for each in interfaces if not each.kind.startswith(NOT_ETHERNET))


def packed(document: bytes) -> str:
    """Return a network-config as the kernel command line carries it ("network-config="): base64 of gzip."""
    return b64encode(gzip.compress(document, mtime=0)).decode("ascii")


def _id(mac: str, interface: Interface | None) -> str:
    """Return the key of an interface: it only has to be its own, the kernel's name is matched by MAC address."""
    return interface.name if interface else f"boot-{mac.replace(':', '')}"


def _entry(mac: str, *, six: bool, asks: bool, waits: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {"match": {"macaddress": mac}, "dhcp4": asks}
    if asks:
        entry["dhcp-identifier"] = "mac"
        entry["dhcp6"] = six
    if not waits:
        entry["optional"] = True
    return entry
