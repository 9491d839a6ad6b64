"""Is the adapter beside every GPU the one that the profile names: does its traffic leave by its own rail?

An adapter in another slot, or two that were exchanged with their cables, leave every cable as designed: only the PCIe
tree tells.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, text_of
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import smi_topology
from fleet_runner.core.checks.parsers.smi_topology import BEHIND_SWITCH, DISTANCES
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile

NAME, SECTION = "gpu_nics", "nic_of_gpu"

FEW = 2
"""The most GPUs that two exchanged adapters explain: where more have another one, names may have shifted."""

_GPU = re.compile(r"[0-9]{1,3}")


class Nearest(NamedTuple):
    """The adapters nearest to a GPU, and how far they are ("PXB")."""

    adapters: tuple[str, ...]
    distance: str

    def __str__(self) -> str:
        return f"{' and '.join(self.adapters)} ({self.distance})"


def judge(readings: Readings, expected: Expected) -> Result:
    """Judge each GPU that the profile gives an adapter; UNKNOWN where GPUs or adapters are missing.

    Without those, the numbers of GPUs and adapters may have shifted, and would name others. Nobody is judged by a
    machine whose PCIe switches cannot be seen, like a virtual one.
    """
    wanted = _wanted(expected.profile)
    table = smi_topology.parse(text_of(readings["nvidia_smi_topology"]))
    if not table.adapters:
        raise EvidenceError("nvidia-smi topo -m lists no adapter; is the driver of the adapters loaded?")
    near = {gpu: _nearest(distances) for gpu, distances in table.gpus.items()}
    observed = {str(gpu): [*each.adapters, each.distance] for gpu, each in near.items()}
    if not wanted:
        told = f"the adapters beside {len(near)} GPUs are recorded; the profile's {SECTION} names none"
        return conclude(NAME, [], told, {"nearest": observed})
    _complete(wanted, near, table.adapters)
    wrong = {gpu: name for gpu, name in wanted.items() if not _beside(near[gpu], name)}
    findings = [_finding(wrong, near, expected)] if wrong else []
    return conclude(NAME, findings, f"{len(wanted)} GPUs have their own adapter beside them", {"nearest": observed})


def _wanted(values: profile.Profile) -> dict[int, str]:
    """Return the adapter of each GPU; plays carry the numbers as text."""
    given = profile.section(values, SECTION).values
    if not all(_GPU.fullmatch(str(gpu)) and isinstance(name, str) and name for gpu, name in given.items()):
        raise EvidenceError(
            f"fleet_profile.{SECTION}: found {dict(given)!r:.80}, expected the name of an adapter for each number of"
            " a GPU, as {0: mlx5_0}; correct the device type's file in inventory/group_vars"
        )
    return {int(str(gpu)): name for gpu, name in given.items()}


def _nearest(distances: Mapping[str, str]) -> Nearest:
    least = min(distances.values(), key=DISTANCES.index)
    return Nearest(tuple(name for name, distance in distances.items() if distance == least), least)


def _beside(nearest: Nearest, name: str) -> bool:
    return nearest.distance in BEHIND_SWITCH and name in nearest.adapters


def _complete(wanted: Mapping[int, str], near: Mapping[int, Nearest], adapters: tuple[str, ...]) -> None:
    """Raise EvidenceError where what is missing makes the others' numbers doubtful."""
    if wanted.keys() != near.keys():
        raise EvidenceError(
            f"nvidia-smi topo -m lists {len(near)} GPUs, expected the {len(wanted)} of fleet_profile.{SECTION};"
            " their numbers may have shifted: look at parts_gpu"
        )
    missing = sorted(set(wanted.values()) - set(adapters))
    if missing:
        raise EvidenceError(
            f"nvidia-smi topo -m does not list {', '.join(missing)}; where an adapter is missing, the names of others"
            " may have shifted: look at parts_hca"
        )
    if not any(each.distance in BEHIND_SWITCH for each in near.values()):
        raise EvidenceError(
            "nvidia-smi topo -m shows no adapter behind any GPU's PCIe switch (PIX or PXB); a virtual machine may"
            " hide the switches"
        )


def _finding(wrong: Mapping[int, str], near: Mapping[int, Nearest], expected: Expected) -> Finding:
    """One for the node: an exchange shows at two GPUs. More of them may be names only, for which nobody is sent."""
    told = [
        f"GPU {gpu}: expected {_with_interface(name, expected)}, found {near[gpu]}" for gpu, name in wrong.items()
    ]
    finding = about(expected.node, "gpu.nic_affinity", "GPU adapters")
    if len(wrong) > FEW:
        more = "; or the adapters' names have shifted: compare their PCI addresses and serials with another node's"
        return finding(message=f"not the designed adapter beside {'; '.join(told)}{more}", remedy=Remedy.WATCH)
    return finding(
        message=f"not the designed adapter beside {'; '.join(told)}",
        remedy=Remedy.TRIAGE,
        steps=(
            "Compare the serials of these adapters by slot with the source of truth: was one put into another slot?",
            "Compare `ls -l /sys/class/infiniband` with another node's: is only the name another?",
            "Put each adapter into the slot of its GPU, with its own cable; move no cable between switches.",
        ),
    )


def _with_interface(name: str, expected: Expected) -> str:
    interface = profile.hca_interfaces(expected.profile).get(name)
    return f"{name} ({interface})" if interface else name


CHECK = Check(
    name=NAME,
    question="Is the adapter beside every GPU the one that the profile names?",
    reads=("nvidia_smi_topology",),
    judge=judge,
    section=SECTION,
    codes=(
        Code(
            "gpu.nic_affinity",
            (Remedy.TRIAGE, Remedy.WATCH),
            f"the nearest adapter of one or two GPUs is not that of `{SECTION}`; of more, names may have shifted",
        ),
    ),
    source="`nvidia-smi topo -m`: PIX and PXB are paths that do not pass the processor, which GPUDirect RDMA needs"
    " to run at full speed (NVIDIA's GPUDirect RDMA documentation).",
)
