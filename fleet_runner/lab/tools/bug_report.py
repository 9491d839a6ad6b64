"""`nvidia-bug-report.sh --output-file FILE`: a report of a few lines, packed, as the script leaves it."""

import gzip
import sys

from fleet_runner.lab.tools.node import Node


def run(node: Node, args: list[str]) -> int:
    """Write FILE.gz."""
    path = args[args.index("--output-file") + 1] + ".gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(f"Start of NVIDIA bug report log file of {node.name}\n")
        file.write("/proc/cmdline\nBOOT_IMAGE=/vmlinuz join_token=abcdef.0123456789abcdef quiet\n")
        file.writelines(f"{text}\n" for _, text in node.state["kernel_log"])
    sys.stdout.write("nvidia-bug-report.sh will now collect information about your system\n")
    return 0
