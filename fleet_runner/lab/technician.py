"""The lab's technician: takes an open ticket, goes to the rack, and puts right what is wrong there."""

from collections.abc import Mapping
from typing import Any

from fleet_runner.core.lifecycle.runs import Ticket
from fleet_runner.lab import faults, plan
from fleet_runner.lab.folder import Lab

REPAIRS: Mapping[str, tuple[str, ...]] = {
    "cabling_infiniband": ("swapped_cables",),
    "fabric_cabling": ("swapped_cables", "swapped_uplinks"),
    "cabling_ethernet": ("swapped_cables",),
    "parts_gpu": ("missing_gpu", "xid"),
    "power_supplies": ("dead_psu",),
    "sensors": ("dead_fan",),
    "sel": ("memory_error",),
    "firmware_pins": ("wrong_firmware",),
    "gpu_burn": ("bad_gpu", "slow_gpu", "hot_gpu"),
    "dcgm": ("bad_gpu",),
    "gpu_thermals": ("hot_gpu",),
    "gpu_errors": ("xid",),
    "xid": ("xid",),
    "cloud_init": ("no_boot",),
    "network_boot": ("no_boot",),
    "rebooted": ("no_boot",),
}
"""The faults that hands can put right, by the check that a ticket comes from."""

CALLED = {"no_boot": "its network boot"}
"""What is put right, where the fault's own name does not say it."""


def repair(lab: Lab, ticket: Ticket) -> tuple[str, ...]:
    """Put right what a ticket is about, and return a sentence for each thing done; none means nothing was found."""
    done: list[str] = []
    for node in lab.nodes():
        mine = faults.injected(lab, node)
        for fault in REPAIRS.get(ticket.check, ()):
            options = mine.get(fault)
            if options is None or _at(fault, node, options).isdisjoint(ticket.nodes):
                continue
            if faults.fix(lab, fault, node):
                what = CALLED.get(fault, fault.replace("_", " "))
                done.append(f"{node}: put {what} right{_words(options)}.")
    return tuple(done)


def _at(fault: str, node: str, options: Mapping[str, Any]) -> set[str]:
    """Return the devices whose tickets lead to a fault."""
    if fault == "swapped_uplinks":
        return {plan.leaves()[options[rail]] for rail in ("rail", "with_rail")}
    return {node, str(options.get("with"))}


def _words(options: Mapping[str, object]) -> str:
    words = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in options.items() if value != "")
    return f" ({words})" if words else ""
