"""What is read on a node before anything of it is erased, and again after each step."""

from collections.abc import Iterable

from fleet_runner.core.checks.evidence import Read, ReadKind
from fleet_runner.core.checks.parsers import lsblk
from fleet_runner.core.checks.parsers.lsblk import Block
from fleet_runner.core.lifecycle.wipe.methods import LOG

LSBLK, NVME_LIST = "lsblk", "nvme_list"
TPM_FIXED, TPM_VARIABLE = "tpm2_fixed", "tpm2_variable"
SERIALS = ("product_serial", "chassis_serial")
"""What the machine's firmware calls the machine itself; which of the two a site writes down differs."""

BOOT_ID, UPTIME = "boot_id", "uptime"
"""Which boot of the node this is, and how old it is: an order holds in no other, and not for long."""

MOST_BYTES = 200_000
SECONDS = 30.0
"""A drive in the middle of an erase may be slow to say anything."""


def first(*, tpm: bool) -> tuple[Read, ...]:
    """Return what is asked of any node; the TPM only where it is to be cleared."""
    asked = [
        *(Read(name, ReadKind.FILE, path=f"/sys/class/dmi/id/{name}", max_bytes=1000) for name in SERIALS),
        Read(BOOT_ID, ReadKind.FILE, path="/proc/sys/kernel/random/boot_id", max_bytes=1000),
        Read(UPTIME, ReadKind.FILE, path="/proc/uptime", max_bytes=1000),
        _command(LSBLK, "lsblk", "--json", "--bytes", "--output", lsblk.COLUMNS),
        _command(NVME_LIST, "nvme", "list", "-v", "-o", "json"),
    ]
    if tpm:
        asked.append(_command(TPM_FIXED, "tpm2_getcap", "properties-fixed"))
        asked.append(_command(TPM_VARIABLE, "tpm2_getcap", "properties-variable"))
    return tuple(asked)


def each(blocks: Iterable[Block]) -> tuple[Read, ...]:
    """Return what is asked of each disk that was found, by how it is reached."""
    asked: list[Read] = []
    for block in blocks:
        path = block.path
        if block.type == "disk" and block.transport == "nvme":
            asked.append(_command(id_ctrl(path), "nvme", "id-ctrl", path, "-o", "json"))
            asked.append(_command(sanitize(path), *(path if word == "{path}" else word for word in LOG)))
            asked.append(_command(namespaces(path), "nvme", "list-ns", "--all", path, "-o", "json"))
        elif block.type == "disk" and block.transport == "sata":
            asked.append(_command(hdparm(path), "hdparm", "-I", path))
    return tuple(asked)


def id_ctrl(path: str) -> str:
    """Return the name of the reading that says what a drive can do."""
    return f"id_ctrl {path}"


def sanitize(path: str) -> str:
    """Return the name of the reading of a drive's sanitize log."""
    return f"sanitize_log {path}"


def namespaces(path: str) -> str:
    """Return the name of the reading that lists a drive's namespaces."""
    return f"namespaces {path}"


def hdparm(path: str) -> str:
    """Return the name of the reading of what an ATA disk says of itself."""
    return f"hdparm {path}"


def _command(name: str, *argv: str) -> Read:
    return Read(name, ReadKind.COMMAND, argv, seconds=SECONDS, max_bytes=MOST_BYTES)
