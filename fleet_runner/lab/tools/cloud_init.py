"""`cloud-init status --format json`: how far the first boot came."""

import json
import sys
import time

from fleet_runner.lab.tools.node import Node


def run(node: Node, args: list[str]) -> int:
    """Print the status; exit 1 where cloud-init failed, as the tool does."""
    failed = node.state["boot"]["milestone"] == "phone_home"
    status = "error" if failed else "done"
    if "json" not in " ".join(args):
        sys.stdout.write(f"status: {status}\n")
        return int(failed)
    errors = ["('cloud_final', RuntimeError('phone home: it could not be told'))"] if failed else []
    updated = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(node.state["boot"]["ready"]))
    answer = {
        "boot_status_code": "enabled-by-generator",
        "datasource": "nocloud",
        "detail": "DataSourceNoCloudNet [seed=cmdline,seedfrom=http://127.0.0.1/seed/]",
        "errors": errors,
        "extended_status": status,
        "last_update": updated,
        "recoverable_errors": {},
        "status": status,
    }
    sys.stdout.write(json.dumps(answer, indent=1) + "\n")
    return int(failed)
