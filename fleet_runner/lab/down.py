"""Taking a lab down: its own processes end, its files stay unless they are to go."""

import shutil

from fleet_runner.lab import boot_server, processes
from fleet_runner.lab.folder import Lab
from fleet_runner.lab.netbox import starting
from fleet_runner.lab.up import BMC


def down(lab: Lab, *, delete: bool = False) -> int:
    """End what the lab started, BMCs, boot service, NetBox and the nodes' processes; return how many that were."""
    ended = int(starting.end(lab)) + int(processes.end(lab, BMC)) + int(processes.end(lab, boot_server.SERVICE))
    ended += sum(processes.end_node(lab, name) for name in lab.nodes())
    if delete:
        shutil.rmtree(lab.root)
    return ended
