"""The devices of a node that a wipe is about, from what its tools say: whose each is, and what each can do.

What is not a local disk is `left`, with why. What cannot be told for sure is `unread`: nobody erases what he does not
know. `hurdle` is what stands in the way of erasing one's own disk.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256
from string import ascii_letters, digits

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.evidence import ReadEnd, Reading
from fleet_runner.core.checks.parsers import hdparm, lsblk, nvme_tool, tpm2
from fleet_runner.core.checks.parsers.lsblk import Block
from fleet_runner.core.checks.parsers.nvme_tool import Sanitize
from fleet_runner.core.lifecycle.wipe import reads
from fleet_runner.core.lifecycle.wipe.methods import Method

TPM = "tpm"

VIRTUAL = ("loop", "ram", "zram", "nbd", "rbd", "drbd", "md", "dm-", "sr", "fd", "mtdblock")
"""How the names of block devices begin that are no disks, whatever lsblk calls their type."""

FABRIC = frozenset({"fc", "fcoe", "iscsi", "tcp", "rdma", "nbd"})
"""Transports of disks that stand somewhere else."""

ANYTHING = frozenset({Method.SECURE_DISCARD, Method.OVERWRITE})
"""Methods that no disk announces: they are tried where the profile names them."""

LONGEST = 100
"""Of the name of a disk's files, without a hash; serial numbers of NVMe and ATA have 20 characters at most."""

_PLAIN = frozenset(f"{ascii_letters}{digits}-")
_NAMESPACE = re.compile(r"(/dev/nvme\d+)n\d+")


class Kind(StrEnum):
    """What a device is."""

    DISK = "disk"
    TPM = "tpm"


@dataclass(frozen=True, slots=True)
class Device:
    """A drive with all its namespaces, or the TPM. `serial` is what lsblk says; the act checks it once more."""

    key: str
    kind: Kind
    paths: tuple[str, ...] = ()
    model: str = ""
    serial: str = ""
    firmware: str = ""
    bytes: int = 0
    can: frozenset[Method] = frozenset()
    sanitize: Sanitize | None = None
    enabled: bool = False
    left: str = ""
    unread: str = ""
    hurdle: str = ""

    @property
    def name(self) -> str:
        """Return what people know it by: "/dev/nvme0n1 (MODEL, serial S1)"."""
        if self.kind is Kind.TPM:
            return f"the TPM ({self.model} {self.firmware})" if self.model else "the TPM"
        return f"{self.paths[0]} ({self.model or 'no model'}, serial {self.serial or 'unknown'})"


Seen = Mapping[str, Reading]


def devices(seen: Seen, *, tpm: bool) -> tuple[Device, ...]:
    """Return every disk that the node has, and its TPM where that is asked for; EvidenceError without a list."""
    blocks = lsblk.parse(_read(seen, reads.LSBLK))
    ways = _transports(seen, blocks)
    found = [_disk(block, ways, seen) for block in blocks]
    merged = _unambiguous([_merged(each, seen) for each in _drives(found).values()])
    return (*merged, _tpm(seen)) if tpm else merged


def _read(seen: Seen, name: str) -> str:
    reading = seen.get(name)
    if reading is None or reading.end is not ReadEnd.OK:
        why = (reading.error or reading.end.value) if reading else "it was not read"
        raise EvidenceError(f"{name}: {why}")
    if reading.rc:
        said = (reading.error or reading.text).strip().splitlines() or [""]
        raise EvidenceError(f"{name}: it exited with {reading.rc}, expected 0: {said[-1]:.200}")
    return reading.text


def _transports(seen: Seen, blocks: Sequence[Block]) -> Mapping[str, frozenset[str]]:
    if not any(block.transport == "nvme" for block in blocks):
        return {}
    try:
        return nvme_tool.transports(_read(seen, reads.NVME_LIST))
    except EvidenceError:
        return {}  # each drive then says that it cannot be told how it is reached


def _disk(block: Block, ways: Mapping[str, frozenset[str]], seen: Seen) -> Device:
    """Say whose a block device is, before anything is asked of it."""
    name = block.path.removeprefix("/dev/")
    key = _key("disk", block.serial) if block.serial else _key("nameless", name)
    device = Device(
        key, Kind.DISK, (block.path,), block.model, block.serial,
        block.firmware, block.bytes, left=_left(block, name, ways),
    )  # fmt: skip
    if device.left:
        return device
    device = replace(device, hurdle=_hurdle(block), can=ANYTHING)
    try:
        if block.transport == "nvme":
            return _nvme(device, ways.get(name, frozenset()), seen)
        return _ata(device, seen) if block.transport == "sata" else device
    except EvidenceError as error:
        return replace(device, unread=str(error))


def _left(block: Block, name: str, ways: Mapping[str, frozenset[str]]) -> str:
    if block.type != "disk" or name.startswith(VIRTUAL) or not block.bytes:
        return "no disk of its own"
    if block.removable or block.transport == "usb":
        return "removable"
    far = (FABRIC & {block.transport}) or (ways.get(name, frozenset()) - {"pcie", ""})
    if far:
        return f"reached over {', '.join(sorted(far))}: it is in another machine"
    mapped = next((each for each in block.within() if each.type == "mpath"), None)
    return f"a path of the multipath device {mapped.path}" if mapped else ""


def _hurdle(block: Block) -> str:
    """Say what holds a disk; the kernel is asked once more when it is opened for the act."""
    mounts = [mount for each in (block, *block.within()) for mount in each.mounts]
    if mounts:
        return f"in use: mounted at {', '.join(dict.fromkeys(mounts))}"
    held = [each for each in block.within() if each.type != "part"]
    if held:
        return f"in use: part of {held[0].path} ({held[0].type})"
    return "read-only" if block.read_only else ""


def _nvme(device: Device, ways: frozenset[str], seen: Seen) -> Device:
    path = device.paths[0]
    found = nvme_tool.controller(_read(seen, reads.id_ctrl(path)))
    if found.serial != device.serial:
        raise EvidenceError(f"{path}: lsblk says serial {device.serial!r}, its controller {found.serial!r}")
    if not ways:
        raise EvidenceError(f"{path}: nvme list does not report its transport")
    can = {
        Method.SANITIZE_CRYPTO: found.sanitize_crypto,
        Method.SANITIZE_BLOCK: found.sanitize_block,
        Method.FORMAT_CRYPTO: found.format_crypto,
        Method.FORMAT_ERASE: found.formats,
    }
    sanitizes = found.sanitize_crypto or found.sanitize_block
    return replace(
        device,
        model=found.model,
        firmware=found.firmware,
        can=ANYTHING | {method for method, able in can.items() if able},
        sanitize=nvme_tool.sanitize(_read(seen, reads.sanitize(path))) if sanitizes else None,
    )


def _ata(device: Device, seen: Seen) -> Device:
    path = device.paths[0]
    found = hdparm.parse(_read(seen, reads.hdparm(path)))
    if found.serial != device.serial:
        raise EvidenceError(f"{path}: lsblk says serial {device.serial!r}, the disk {found.serial!r}")
    can = {Method.ATA_ERASE: found.supported, Method.ATA_ENHANCED: found.supported and found.enhanced}
    frozen = (
        "its security is frozen, as firmware leaves it: pull the disk and plug it in again, or boot the node anew"
    )
    return replace(
        device,
        model=found.model,
        firmware=found.firmware,
        can=ANYTHING | ({method for method, able in can.items() if able} if not found.frozen else set()),
        enabled=found.enabled,
        hurdle=device.hurdle or (frozen if found.supported and found.frozen else ""),
    )


def _drives(found: Sequence[Device]) -> dict[str, list[Device]]:
    """Bring the namespaces of one NVMe drive together (/dev/nvme0n1, /dev/nvme0n2); all else stands alone."""
    drives: dict[str, list[Device]] = defaultdict(list)
    for device in found:
        namespace = _NAMESPACE.fullmatch(device.paths[0])
        drives[namespace[1] if namespace else device.paths[0]].append(device)
    return drives


def _merged(parts: Sequence[Device], seen: Seen) -> Device:
    """Return one device of all namespaces of a drive; it can be erased if all of them can."""
    first = parts[0]
    can = frozenset.intersection(*(each.can for each in parts))
    unread = next((each.unread for each in parts if each.unread), "")
    if first.can & {Method.FORMAT_CRYPTO, Method.FORMAT_ERASE}:
        try:
            if _hidden(first, len(parts), seen):
                can -= {Method.FORMAT_CRYPTO, Method.FORMAT_ERASE}
        except EvidenceError as error:
            unread = unread or str(error)
    return replace(
        first,
        paths=tuple(path for each in parts for path in each.paths),
        bytes=sum(each.bytes for each in parts),
        can=can,
        left=next((each.left for each in parts if each.left), ""),
        unread=unread,
        hurdle=next((each.hurdle for each in parts if each.hurdle), ""),
    )


def _hidden(first: Device, shown: int, seen: Seen) -> bool:
    """Whether a drive has namespaces that are no block devices here, so that formatting those here is not all.

    EvidenceError where that is not known. A drive that says that it does not manage namespaces, and that it knows no
    such list, has none that are not attached.
    """
    name = reads.namespaces(first.paths[0])
    if _lists_none(seen.get(name)):
        drive = nvme_tool.controller(_read(seen, reads.id_ctrl(first.paths[0])))
        if not drive.manages:
            return False
    there = nvme_tool.namespaces(_read(seen, name))
    if there < shown:
        raise EvidenceError(f"{name}: it lists {there} namespaces, {shown} here")
    return there > shown


def _lists_none(answer: Reading | None) -> bool:
    """Whether a drive itself said that it has no such list; that it said nothing is something else."""
    if answer is None or answer.end is not ReadEnd.OK:
        return False
    return answer.rc != 0 and nvme_tool.unknown(f"{answer.error} {answer.text}")


def _unambiguous(found: Sequence[Device]) -> tuple[Device, ...]:
    """Leave no disk to chance: one without a serial number, or with another's, is not known."""
    times = Counter(each.serial for each in found if not each.left)
    return tuple(
        replace(each, unread=each.unread or _nameless(each, times[each.serial])) if not each.left else each
        for each in found
    )


def _nameless(device: Device, times: int) -> str:
    if not device.serial:
        return f"{device.paths[0]} reports no serial number"
    return f"{times} disks say serial {device.serial}" if times > 1 else ""


def _tpm(seen: Seen) -> Device:
    device = Device(TPM, Kind.TPM, can=frozenset({Method.TPM_CLEAR}))
    try:
        maker, version = tpm2.identity(_read(seen, reads.TPM_FIXED))
        locks = tpm2.locks(_read(seen, reads.TPM_VARIABLE))
    except EvidenceError as error:
        return replace(device, unread=f"the TPM cannot be read ({error}); a device type without one says tpm: false")
    hurdle = ""
    if locks.lockout_password:
        hurdle = "its lockout hierarchy has a password that is not known here"
    elif locks.clear_disabled:
        hurdle = "its firmware forbids to clear it from the running system"
    elif locks.locked_out:
        hurdle = "it is locked out after too many wrong passwords"
    return replace(device, model=maker, firmware=version, hurdle=hurdle)


def _key(kind: str, said: str) -> str:
    """Return what a disk's files on the node are called; no two serial numbers share a name.

    A byte that is no letter, digit or dash is written like "_20"; what would be too long ends in "__" and a hash.
    """
    raw = said.encode("utf-8", "surrogatepass")
    plain = "".join(chr(each) if chr(each) in _PLAIN else f"_{each:02x}" for each in raw)
    return f"{kind}-{plain if len(plain) <= LONGEST else f'{plain[:LONGEST]}__{sha256(raw).hexdigest()}'}"
