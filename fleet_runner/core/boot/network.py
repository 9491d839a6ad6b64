"""How a node's network is set up while it boots: cloud-init's network-config, version 2, made from its interfaces."""

import zlib
from base64 import b64encode
from collections.abc import Iterable
from typing import Any

from fleet_runner.core.inventory.records import Device, Interface

NOT_ETHERNET = ("infiniband", "virtual", "bridge", "lag")
"""How interface types begin that carry no DHCP: another medium, or nothing of their own to plug into."""


def network(device: Device, mac: str = "") -> dict[str, Any]:
    """Return the network-config of a node that boots from the interface with this MAC address.

    Only that interface is set up, and asks for its address as iPXE did, by its MAC, so that it keeps the one it has:
    systemd waits for every interface that is, and one without a cable would hold up the boot. Without a known MAC
    address each Ethernet interface asks, and none is waited for.
    """
    six = ":" in (device.primary_address or "")
    asking = [mac] if mac else sorted({each.mac for each in ethernet(device.interfaces) if each.mac})
    return {"version": 2, "ethernets": {_key(at): _entry(at, six=six, wait=bool(mac)) for at in asking}}


def ethernet(interfaces: Iterable[Interface]) -> tuple[Interface, ...]:
    """Return the interfaces that a node may boot from."""
    return tuple(each for each in interfaces if not (each.mgmt_only or each.kind.startswith(NOT_ETHERNET)))


_SMALL_WINDOW, _LITTLE_MEMORY = 16 + 12, 4
"""zlib's settings for gzip that looks 4 KiB back: documents are small, and its defaults take ten times that."""


def packed(document: bytes) -> str:
    """Return a network-config as the kernel command line carries it ("network-config="): base64 of gzip."""
    packer = zlib.compressobj(9, zlib.DEFLATED, _SMALL_WINDOW, _LITTLE_MEMORY)
    return b64encode(packer.compress(document) + packer.flush()).decode("ascii")


def _key(mac: str) -> str:
    """Return a key for an interface: cloud-init makes a file name of it, and "Ethernet 1/1" would be none."""
    return f"boot-{mac.replace(':', '')}"


def _entry(mac: str, *, six: bool, wait: bool) -> dict[str, Any]:
    entry = {"match": {"macaddress": mac}, "dhcp4": True, "dhcp6": six, "dhcp-identifier": "mac"}
    return entry if wait else {**entry, "optional": True}
