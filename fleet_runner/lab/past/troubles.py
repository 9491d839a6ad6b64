"""The faults of the simulated hall: what a check finds, and with which remedy."""

from typing import NamedTuple

from fleet_runner.core.checks.answers import about
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.lifecycle.states import Event
from fleet_runner.lab.past.measures import ADDRESSES


class Trouble(NamedTuple):
    """A kind of fault: what it is called, who finds it, what is said of it, what follows, and how often it comes."""

    code: str
    check: str
    component: str
    message: str
    remedy: Remedy
    event: Event
    share: float
    steps: tuple[str, ...] = ()

    def on(self, node: str, gpu: int) -> Finding:
        """Return it as a check finds it on a node."""
        part = self.component.format(gpu=ADDRESSES[gpu])
        message = f"{part}: {self.message}"
        return about(node, self.code, part)(message=message, remedy=self.remedy, steps=self.steps)


GPU = "GPU {gpu}"
EXCHANGE = ("Run a field diagnostic of the GPU.", "Exchange it, and write down both serial numbers.")

TROUBLES: tuple[Trouble, ...] = (
    Trouble("xid.79", "xid", GPU, "Xid 79, the GPU has fallen off the bus",
            Remedy.POWER_CYCLE, Event.REBOOT_NEEDED, 0.38),
    Trouble("xid.119", "xid", GPU, "Xid 119, the GPU's system processor does not answer the driver",
            Remedy.RESET, Event.RESET_NEEDED, 0.32),
    Trouble("xid.48", "xid", GPU, "Xid 48, a memory error that could not be corrected",
            Remedy.RESET, Event.RESET_NEEDED, 0.14),
    Trouble("fan.failed", "sensors", "FAN 4", "the fan stands still",
            Remedy.TRIAGE, Event.TRIAGE_NEEDED, 0.09, ("Exchange fan 4; the server may stay on.",)),
    Trouble("psu.faulty", "power_supplies", "PSU 2", "the power supply reports Critical",
            Remedy.TRIAGE, Event.TRIAGE_NEEDED, 0.07, ("Exchange power supply 2.",)),
)  # fmt: skip

WORN_OUT = Trouble(
    "gpu.remapped_rows", "gpu_retired", GPU, "memory rows were remapped after errors that could not be corrected",
    Remedy.TRIAGE, Event.TRIAGE_NEEDED, 0.0, EXCHANGE,
)  # fmt: skip
SLOW = Trouble(
    "gpu_burn.slow", "gpu_burn", GPU, "slower under load than the other GPUs of its kind",
    Remedy.TRIAGE, Event.FAILED, 0.0, EXCHANGE,
)  # fmt: skip
NO_BOOT = Trouble(
    "boot.no_dhcp", "network_boot", "eth0", "the machine never asked for an address",
    Remedy.TRIAGE, Event.FAILED, 0.0, ("Look at the cable and the boot order of eth0.",),
)  # fmt: skip
SWAPPED = Trouble(
    "cabling.swap", "cabling_infiniband", "ib1, ib4", "two cables are exchanged",
    Remedy.RECABLE, Event.FAILED, 0.0, ("Exchange the cables of ib1 and ib4 at the server.",),
)  # fmt: skip
FLAPS = Trouble(
    "link.flaps", "link_flaps", "ib2", "the link to sim-leaf-3 went down again and again",
    Remedy.RECABLE, Event.FAILED, 0.0, ("Clean and seat the cables of sim-leaf-3, ports 17 to 32.",),
)  # fmt: skip


def failed(trouble: Trouble, finding: Finding) -> Result:
    """Return what the check of a fault says when it finds it."""
    return Result(trouble.check, Verdict.FAIL, finding.message, (finding,))


def gone(trouble: Trouble) -> Result:
    """Return what the check of a fault says once it is gone."""
    return Result(trouble.check, Verdict.PASS, "nothing found")
