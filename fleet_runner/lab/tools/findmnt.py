"""`findmnt --json`: the node's root, in its memory, and its scratch disks."""

import json
import sys

from fleet_runner.lab.tools.node import Node

SCRATCH, DEVICE = "/raid", "md0"


def run(node: Node, args: list[str]) -> int:
    """Print the tree of mounts."""
    del args
    how = "ro" if node.fault("read_only_disk") is not None else "rw"
    scratch = {"target": SCRATCH, "source": f"/dev/{DEVICE}", "fstype": "ext4", "options": f"{how},noatime"}
    root = {"target": "/", "source": "tmpfs", "fstype": "tmpfs", "options": "rw,relatime,size=1056563184k"}
    json.dump({"filesystems": [{**root, "children": [scratch]}]}, sys.stdout, indent=1)
    sys.stdout.write("\n")
    return 0
