"""What is gathered of a node for a person to look at: texts of the node, resources of its BMC, and their names."""

from collections.abc import Mapping
from typing import Any

from fleet_runner.core.checks.evidence import Read, ReadKind
from fleet_runner.core.checks.parsers.json_text import json_object, objects
from fleet_runner.core.checks.reads import bmc
from fleet_runner.core.inventory.profile import Profile, gpu_maker

READ = "gather_progress"

BYTES = 8_000_000
"""The most that one text may have; its end, of a log, would be better, but what prints it decides."""

_JOURNAL = ("journalctl", "--no-pager", "-n", "60000")


def _named(*reads: Read) -> dict[str, Read]:
    return {f"{read.name}.txt" if read.kind is ReadKind.COMMAND else f"{read.name}.json": read for read in reads}


_GPUS: Mapping[str, Mapping[str, Read]] = {
    "NVIDIA": _named(
        Read("nvidia-smi", ReadKind.COMMAND, ("nvidia-smi", "-q"), seconds=60.0, max_bytes=BYTES),
        Read("nvidia-smi-xml", ReadKind.COMMAND, ("nvidia-smi", "-q", "-x"), seconds=60.0, max_bytes=BYTES),
        Read("nvlink", ReadKind.COMMAND, ("nvidia-smi", "nvlink", "-s"), seconds=60.0, max_bytes=BYTES),
        Read("nvlink-errors", ReadKind.COMMAND, ("nvidia-smi", "nvlink", "-e"), seconds=60.0, max_bytes=BYTES),
        Read("fabric-manager", ReadKind.COMMAND, ("tail", "-c", "4000000", "/var/log/fabricmanager.log")),
    ),
    "AMD": _named(
        *(
            Read(f"amd-smi-{what}", ReadKind.COMMAND, ("amd-smi", what), seconds=90.0, max_bytes=BYTES)
            for what in ("static", "metric", "bad-pages", "process", "topology")
        )
    ),
}

_NODE: Mapping[str, Read] = _named(
    Read("dmesg", ReadKind.COMMAND, ("dmesg", "--time-format", "iso"), max_bytes=BYTES),
    Read("journal", ReadKind.COMMAND, (*_JOURNAL, "-b", "0"), seconds=60.0, max_bytes=BYTES),
    Read("journal-last-boot", ReadKind.COMMAND, (*_JOURNAL, "-b", "-1"), seconds=60.0, max_bytes=BYTES),
    Read("lspci", ReadKind.COMMAND, ("lspci", "-D", "-vvv", "-nn"), seconds=60.0, max_bytes=BYTES),
    Read("uptime", ReadKind.COMMAND, ("env", "TZ=UTC", "uptime", "-s")),
    Read("units-failed", ReadKind.COMMAND, ("systemctl", "--no-pager", "--failed")),
    Read("pstore", ReadKind.FILES, ("/sys/fs/pstore/dmesg-*", "/var/lib/systemd/pstore/*/dmesg.txt")),
)


def of_node(healthy: Profile) -> Mapping[str, Read]:
    """Return the files of a node of a device type, and how each is read."""
    return {**_GPUS.get(gpu_maker(healthy), {}), **_NODE}


BMC: Mapping[str, tuple[str, ...]] = {
    "bmc-logs.json": bmc.LOGS,
    "bmc-health.json": bmc.HEALTH,
    "bmc-sensors.json": (*bmc.SENSORS, *bmc.SUPPLIES),
    "bmc-firmware.json": ("/redfish/v1/UpdateService/FirmwareInventory/*",),
}
"""Files of its BMC, and the patterns of the resources in each."""

BUG_REPORT = "nvidia-bug-report.log.gz"


def entry(name: str, why: str = "", size: int = 0) -> dict[str, Any]:
    """Return what is said of a file: why it is not there, or not whole, and how large it is."""
    return {"name": name, "why": why, "bytes": size}


def parse(text: str) -> tuple[dict[str, Any], ...]:
    """Read the entries that a play brings; EvidenceError for anything else."""
    rows = objects(json_object(text, READ).get("files"), READ)
    return tuple(
        entry(str(row.get("name"))[:80], str(row.get("why") or "")[:300], _size(row.get("bytes"))) for row in rows
    )


def _size(value: Any) -> int:
    return value if isinstance(value, int) and value >= 0 else 0
