"""The way into every stand-in: say in the log that it started, hang if it must, then print what the tool prints."""

import importlib
import sys
import time

from fleet_runner.lab.tools.node import Node, witness

TOOLS = {
    "chronyc": "chronyc",
    "cloud-init": "cloud_init",
    "dcb": "dcb",
    "dcgmi": "dcgmi",
    "df": "df",
    "dmesg": "dmesg",
    "ethtool": "ethtool",
    "findmnt": "findmnt",
    "gpu_burn": "gpu_burn",
    "ibnetdiscover": "ibnetdiscover",
    "ib_write_bw": "ib_write_bw",
    "ibqueryerrors": "ibqueryerrors",
    "ibstat": "ibstat",
    "lldpctl": "lldpctl",
    "mlnx_qos": "mlnx_qos",
    "mlxlink": "mlxlink",
    "nvidia-bug-report.sh": "bug_report",
    "nvidia-smi": "nvidia_smi",
    "systemctl": "systemctl",
    "tenant_job": "tenant_job",
    "uptime": "uptime",
}
"""The tools on a node's PATH, and the module that stands in for each; only that one is imported."""

HANG_SECONDS = 6 * 3600.0


def main(lab: str, name: str, tool: str) -> int:
    """Run one tool on one node and return its exit status."""
    node = Node(lab, name)
    witness(lab, "tool", name, tool=tool, args=sys.argv[1:], boot=node.state["boot"]["count"])
    hang = node.fault("tool_hang")
    if hang is not None and hang["tool"] == tool:
        time.sleep(HANG_SECONDS)
    module = importlib.import_module(f"fleet_runner.lab.tools.{TOOLS[tool]}")
    status: int = module.run(node, sys.argv[1:])
    return status
