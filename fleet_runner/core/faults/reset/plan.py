"""What is to be done on a node for the remedies RESTART and RESET: decided from the faults and from what is there.

How GPUs may be reset is NVIDIA's word (manual of nvidia-smi, `--gpu-reset`): with Fabric Manager running, and where
there is no NVSwitch, each GPU from Ampere on can be reset alone; without it, and before Ampere, all GPUs that NVLink
connects go into one command. Fabric Manager is therefore left running.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.nvidia_smi import Gpu, Report
from fleet_runner.core.checks.parsers.systemctl import Unit
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.pci import canonical
from fleet_runner.core.inventory import profile

FABRIC_MANAGER = "nvidia-fabricmanager.service"

SERVICES: tuple[tuple[str, str], ...] = (
    ("fabric_manager.*", FABRIC_MANAGER),
    ("gpu.fabric_*", FABRIC_MANAGER),
    ("gpu.persistence", "nvidia-persistenced.service"),
    ("dcgm.*", "nvidia-dcgm.service"),
)
"""The unit that is restarted for a fault, by the fault's code. One that is about a unit (SERVICE) names its own."""

SERVICE = "service.*"

UNIT = re.compile(r"[A-Za-z0-9@_.:-]{1,100}\.service")

SWITCH = ("sxid.*", "fabric_manager.*")
"""Codes of faults of NVSwitches: all GPUs that they connect are reset."""

OLD = re.compile(r"\b[PV]100\b")
"""Models before Ampere that have NVLinks."""


class Fault(NamedTuple):
    """A fault as its key tells it: see `core.checks.answers.fault_key`."""

    code: str
    component: str


@dataclass(frozen=True, slots=True)
class Order:
    """What the node is to do: restart `units`, or reset `gpus` (PCI addresses), all of them where it names none.

    `because` says why; `gone` are GPUs that should be reset and that the driver does not reach: nothing is done then.
    """

    remedy: Remedy
    units: tuple[str, ...] = ()
    gpus: tuple[str, ...] = ()
    because: str = ""
    gone: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {
            "remedy": self.remedy.value,
            "units": list(self.units),
            "gpus": list(self.gpus),
            "because": self.because,
            "gone": list(self.gone),
        }


def named(keys: Iterable[str]) -> tuple[Fault, ...]:
    """Return the faults that keys name ("node/code/component"); what is no such key is about nothing known."""
    parts = [key.split("/", 2) for key in keys]
    return tuple(Fault(part[1], part[2]) for part in parts if len(part) == 3)  # noqa: PLR2004  node, code, component


def restart(faults: Iterable[Fault], healthy: Mapping[str, Any]) -> Order:
    """Return the restart of each service that failed; EvidenceError where none is known for these faults.

    A fault's own word names a unit only where the profile lists it (`services.active`): faults come from outside.
    """
    found = tuple(faults)
    active = profile.section(healthy, "services").texts("active") if profile.has(healthy, "services.active") else ()
    units = dict.fromkeys(unit for fault in found for unit in _units(fault, active))
    if not units:
        codes = ", ".join(sorted({fault.code for fault in found})) or "none"
        raise EvidenceError(
            f"no service is known to be restarted for these faults ({codes}); expected one of "
            f"{', '.join(glob for glob, _ in SERVICES)} or service.* of a unit in services.active"
        )
    return Order(Remedy.RESTART, units=tuple(units), because=f"restarted for {_codes(found)}")


def reset(faults: Iterable[Fault], report: Report, fabric_manager: Unit | None) -> Order:
    """Return which GPUs are reset: those that the faults name where they can be reset alone, else all."""
    found = tuple(faults)
    there = {gpu.pci: gpu for gpu in report.gpus}
    wanted = tuple(dict.fromkeys(pci for fault in found if (pci := _gpu(fault)) is not None))
    gone = tuple(pci for pci in wanted if pci not in there or there[pci].lost)
    if gone:
        return Order(Remedy.RESET, gpus=wanted, because=f"reset for {_codes(found)}", gone=gone)
    whole = _whole(found, wanted, report.gpus, fabric_manager)
    if whole:
        return Order(Remedy.RESET, because=f"all GPUs are reset for {_codes(found)}: {whole}")
    return Order(Remedy.RESET, gpus=wanted, because=f"reset for {_codes(found)}")


def _units(fault: Fault, active: tuple[str, ...]) -> Iterable[str]:
    if fnmatchcase(fault.code, SERVICE):
        unit = fault.component if fault.component.endswith(".service") else f"{fault.component}.service"
        return [unit] if UNIT.fullmatch(unit) and {unit, fault.component} & set(active) else []
    return [unit for glob, unit in SERVICES if fnmatchcase(fault.code, glob)]


def _gpu(fault: Fault) -> str | None:
    kind, _, address = fault.component.partition(" ")
    return canonical(address.split()[0]) if kind == "GPU" and address.split() else None


def _whole(found: tuple[Fault, ...], wanted: tuple[str, ...], gpus: tuple[Gpu, ...], unit: Unit | None) -> str:
    """Say why all GPUs have to be reset together; "" where those that are wanted can be reset alone."""
    if not wanted or any(_gpu(fault) is None for fault in found):
        return "not every fault names a GPU"
    if any(fnmatchcase(fault.code, glob) for fault in found for glob in SWITCH):
        return "an NVSwitch is among them"
    if any(OLD.search(gpu.model) for gpu in gpus):
        return "before Ampere, GPUs that NVLink connects are reset in one command"
    if unit is not None and unit.load == "loaded" and unit.active != "active":
        return "Fabric Manager does not run, so GPUs that NVLink connects are reset in one command"
    return ""


def _codes(found: tuple[Fault, ...]) -> str:
    return (
        ", ".join(dict.fromkeys(f"{fault.code} ({fault.component})" for fault in found)) or "no fault that is known"
    )
