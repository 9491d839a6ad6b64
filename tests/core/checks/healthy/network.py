"""Of a healthy node: what its adapters and their links answer, check by check."""

from collections.abc import Callable
from typing import Any

from fleet_runner.core.checks.parsers import bonding, infiniband_ports, net_interfaces
from tests.core.checks.healthy import text_of

PORTS, INTERFACES = text_of("infiniband/ports.json"), text_of("network/interfaces.json")

PROFILE: dict[str, Any] = {
    "infiniband": {"rate_gbps": 400, "firmware": ["28.41.1000"]},
    "hca_events": {},
    "network": {"interfaces": {"eth1": {"speed_mbps": 25_000}, "eth2": {}}, "bonds": {"bond0": 2}, "mtu": 9000},
}
"""Sections of the profile; `parts` are laid over those of `judging`."""

HEALTHY: dict[str, dict[str, str]] = {
    "ib_ports": {"infiniband": PORTS},
    "hca_events": {"dmesg": text_of("dmesg/boot.txt")},
    "nic_ports": {"network_interfaces": INTERFACES},
}

PARSERS: dict[str, tuple[Callable[[str], object], str]] = {
    "infiniband_ports": (infiniband_ports.parse, PORTS),
    "net_interfaces": (net_interfaces.parse, INTERFACES),
    "bonding": (bonding.parse, "Bonding Mode: active-backup\n\nSlave Interface: eth1\nMII Status: up\n"),
}
"""Parsers, each with a text that it can read."""
