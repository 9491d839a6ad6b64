"""Of a healthy node: what its adapters and their links answer, check by check."""

import json
from collections.abc import Callable
from typing import Any

from fleet_runner.core.checks.parsers import (
    bonding,
    dcb,
    ethtool,
    infiniband_ports,
    mlnx_qos,
    net_interfaces,
    path_tests,
    roce_files,
)
from tests.core.checks.healthy import text_of

PORTS, INTERFACES = text_of("infiniband/ports.json"), text_of("network/interfaces.json")

ROCE_FILES, QOS = text_of("roce/files.json"), text_of("mlnx_qos/dscp.txt")
DCB_PFC, DCB_APP = text_of("dcb/pfc.json"), text_of("dcb/app.json")
FEC, STATISTICS = text_of("ethtool/fec.txt"), text_of("ethtool/statistics.txt")

PATHS = text_of("paths/two_pairs.json")


def by_interface(text: str) -> str:
    """Return what both RoCE interfaces answer to one command."""
    return json.dumps({name: {"end": "ok", "rc": 0, "error": "", "text": text} for name in ("eth1", "eth2")})


PROFILE: dict[str, Any] = {
    "infiniband": {"rate_gbps": 400, "firmware": ["28.41.1000"]},
    "hca_events": {},
    "roce": {
        "interfaces": {"mlx5_2": "eth1", "mlx5_3": "eth2"},
        "mtu": 9000,
        "pfc": [3],
        "trust": "dscp",
        "dscp": {"26": 3},
        "ecn": [3],
        "fec": ["RS"],
    },
    "network": {"interfaces": {"eth1": {"speed_mbps": 25_000}, "eth2": {}}, "bonds": {"bond0": 2}, "mtu": 9000},
}
"""Sections of the profile; `parts` are laid over those of `judging`."""

HEALTHY: dict[str, dict[str, str]] = {
    "ib_ports": {"infiniband": PORTS},
    "hca_events": {"dmesg": text_of("dmesg/boot.txt")},
    "fabric_paths": {"path_tests": PATHS},
    "nic_ports": {"network_interfaces": INTERFACES},
    "roce_ports": {
        "network_interfaces": INTERFACES,
        "roce": ROCE_FILES,
        "mlnx_qos": by_interface(QOS),
        "dcb_pfc": by_interface(DCB_PFC),
        "dcb_app": by_interface(DCB_APP),
        "ethtool_fec": by_interface(FEC),
        "ethtool_statistics": by_interface(STATISTICS),
    },
}

PARSERS: dict[str, tuple[Callable[[str], object], str]] = {
    "infiniband_ports": (infiniband_ports.parse, PORTS),
    "net_interfaces": (net_interfaces.parse, INTERFACES),
    "roce_files": (roce_files.parse, ROCE_FILES),
    "path_tests": (path_tests.parse, PATHS),
    "mlnx_qos": (mlnx_qos.parse, QOS),
    "dcb_pfc": (dcb.pfc, DCB_PFC),
    "dcb_app": (dcb.dscp, DCB_APP),
    "ethtool_fec": (ethtool.fec, FEC),
    "ethtool_statistics": (ethtool.statistics, STATISTICS),
    "bonding": (bonding.parse, "Bonding Mode: active-backup\n\nSlave Interface: eth1\nMII Status: up\n"),
}
"""Parsers, each with a text that it can read."""
