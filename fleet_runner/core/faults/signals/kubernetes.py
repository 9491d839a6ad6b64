"""What others say of a Kubernetes node's health, by its conditions: those of a declared table become signals.

They are only watched unless a rule says more, as alerts are: whoever may write a node's status may have written them.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.signals.signal import Signal, Source

PREFIX = "alert.kubernetes."
"""What the code of each begins with; the condition's type follows."""

BAD, GOOD_ONLY = "True", "False"
"""The status that is a fault: of a condition that names a problem, and of one that names what is ready."""

IGNORED = ""

HEARD: Mapping[str, str] = {
    # kubernetes/node-problem-detector: its own configuration, and GKE's.
    **dict.fromkeys(
        (
            "KernelDeadlock", "ReadonlyFilesystem", "CorruptDockerOverlay2", "FrequentKubeletRestart",
            "FrequentDockerRestart", "FrequentContainerdRestart", "FrequentUnregisterNetDevice", "KubeletUnhealthy",
            "ContainerRuntimeUnhealthy",
        ),
        BAD,
    ),
    # AKS (learn.microsoft.com, "Node Problem Detector in AKS nodes").
    **dict.fromkeys(("FilesystemCorruptionProblem", "KubeletProblem", "ContainerRuntimeProblem"), BAD),
    # aws/eks-node-monitoring-agent.
    **dict.fromkeys(
        ("KernelReady", "NetworkingReady", "StorageReady", "ContainerRuntimeReady", "AcceleratedHardwareReady"),
        GOOD_ONLY,
    ),
    # NVIDIA/NVSentinel: each of its checks that is fatal is a condition of that name.
    **dict.fromkeys(
        (
            "GpuAllWatch", "GpuDriverWatch", "GpuInforomWatch", "GpuMemWatch", "GpuNvlinkWatch",
            "GpuNvswitchFatalWatch", "GpuPcieWatch", "GpuPmuWatch", "GpuSmWatch", "GpuDcgmConnectivityFailure",
            "SysLogsXIDError", "SysLogsSXIDError", "SysLogsGPUFallenOff",
        ),
        BAD,
    ),
}  # fmt: skip
"""Conditions by their type, with the status that is a fault. A setting adds to them, or has one ignored."""

MOST = 100
"""Conditions of one node that are read."""

WORDS = 300
_TYPE, _KEY = 100, 150


def table(changes: Mapping[str, str]) -> dict[str, str]:
    """Return which conditions are heard, with what a setting changes."""
    return {name: bad for name, bad in {**HEARD, **changes}.items() if bad != IGNORED}


def faulty(conditions: Iterable[Mapping[str, Any]], heard: Mapping[str, str]) -> dict[str, Mapping[str, Any]]:
    """Return the conditions of a node that say that something is wrong, by their codes; "Unknown" says nothing."""
    read = list(conditions)[:MOST]
    return {
        f"{PREFIX}{each['type']}"[:_TYPE]: each
        for each in read
        if isinstance(each.get("type"), str) and each["type"] in heard and each.get("status") == heard[each["type"]]
    }


def sound(conditions: Iterable[Mapping[str, Any]], heard: Mapping[str, str]) -> frozenset[str]:
    """Return the codes of the conditions that say that nothing is wrong, or that are heard no more."""
    read = {each["type"]: each.get("status") for each in list(conditions)[:MOST] if isinstance(each.get("type"), str)}
    well = {BAD: GOOD_ONLY, GOOD_ONLY: BAD}
    over = (name for name, status in read.items() if name not in heard or status == well[heard[name]])
    return frozenset(f"{PREFIX}{name}"[:_TYPE] for name in over)


def signals(
    node: str, conditions: Iterable[Mapping[str, Any]], heard: Mapping[str, str], standing: Iterable[str], now: float
) -> Iterator[Signal]:
    """Yield what a node's conditions say, and take back which of the standing codes are over.

    A condition that is gone, or "Unknown", takes nothing back: its writer may be away. The rules' own time ends it.
    """
    read = [each for each in conditions if isinstance(each, Mapping)]
    for code, each in faulty(read, heard).items():
        said = f"{each['type']} is {each.get('status')}: {each.get('reason')}: {each.get('message')}"
        yield Signal(
            node, code, "", now, Source.CLUSTER, " ".join(printable(said).split())[:WORDS], Remedy.WATCH,
            key=f"{each['type']}@{each.get('lastTransitionTime')}"[:_KEY], began=_moment(each, now),
        )  # fmt: skip
    for code in sorted(set(standing) & sound(read, heard)):
        yield Signal(node, code, "", now, Source.CLUSTER, "its condition says that it is over", ended=True)


def _moment(condition: Mapping[str, Any], now: float) -> float:
    """Return when a condition changed, not after now; now where it does not say."""
    try:
        return min(now, datetime.fromisoformat(str(condition.get("lastTransitionTime"))).timestamp())
    except (ValueError, OverflowError, OSError):
        return now
