"""Kea's configuration (DHCPv4), as JSON."""

import json
from collections.abc import Sequence
from typing import Any

from fleet_runner.core.boot.dhcp.firmware import FIRMWARES, HTTP_CLIENT, IPXE_ALONE, IPXE_OPTION, Firmware
from fleet_runner.core.boot.dhcp.networks import Network, Networks
from fleet_runner.core.boot.dhcp.reservations import Reservation


def render(found: Networks, reservations: Sequence[Reservation]) -> str:
    """Return the configuration of a DHCP server; TFTP is another program's."""
    server: dict[str, Any] = {
        "interfaces-config": {"interfaces": list(found.interfaces), "dhcp-socket-type": "raw"},
        "lease-database": {"type": "memfile", "persist": True, "name": found.lease_file, "lfc-interval": 3600},
        "authoritative": True,
        # One machine, one address: firmware, iPXE and the system give different client ids, and any of a node's
        # network cards may be the one that boots.
        "match-client-id": False,
        "ip-reservations-unique": False,
        "host-reservation-identifiers": ["hw-address"],
        "client-classes": _classes(found),
        "subnet4": [
            _subnet(network, [each for each in reservations if each.network == network]) for network in found.networks
        ],
    }
    if found.lease_hook:
        library = f"{found.kea_hooks_dir}/libdhcp_run_script.so"
        server["hooks-libraries"] = [{"library": library, "parameters": {"name": found.lease_hook, "sync": False}}]
    note = "Written by fleet-runner from the source of truth and the boot networks; changes here are overwritten."
    return json.dumps({"Dhcp4": {"user-context": {"comment": note}, **server}}, indent=1) + "\n"


def _classes(found: Networks) -> list[dict[str, Any]]:
    ipxe = {
        "name": "fleet-ipxe",
        "test": f"option[{IPXE_OPTION}].exists",
        "boot-file-name": found.script_url,
        "option-data": [{"code": IPXE_OPTION, "csv-format": False, "data": IPXE_ALONE.hex()}],
    }
    return [ipxe, *(_class(found, each) for each in FIRMWARES)]


def _class(found: Networks, firmware: Firmware) -> dict[str, Any]:
    types = " or ".join(f"substring(option[93].hex, 0, 2) == 0x{kind:04x}" for kind in firmware.types)
    row = {"name": f"fleet-{firmware.name}", "test": f"not option[{IPXE_OPTION}].exists and ({types})"}
    if not firmware.http:
        return {**row, "boot-file-name": found.loaders[firmware.loader]}
    answer = {"name": "vendor-class-identifier", "data": HTTP_CLIENT, "always-send": True}
    return {**row, "boot-file-name": found.loader_url(firmware.loader), "option-data": [answer]}


def _subnet(network: Network, reservations: Sequence[Reservation]) -> dict[str, Any]:
    """Return one subnet; its id is its address, so that leases stay its own when another is added or removed."""
    return {
        "id": int(network.subnet.network_address),
        "subnet": str(network.subnet),
        "next-server": str(network.server),
        "valid-lifetime": network.lease_seconds,
        "pools": [{"pool": f"{network.dynamic[0]} - {network.dynamic[1]}"}] if network.dynamic else [],
        "option-data": _options(network),
        "reservations": [
            {"hw-address": mac, "ip-address": str(each.address), "user-context": {"node": each.node}}
            for each in reservations
            for mac in each.macs
        ],
    }


def _options(network: Network) -> list[dict[str, str]]:
    values = {
        "routers": str(network.router or ""),
        "domain-name-servers": ", ".join(map(str, network.dns)),
        "domain-name": network.domain,
    }
    return [{"name": name, "data": value} for name, value in values.items() if value]
