"""Is every expected file system mounted, writable, and not too full?"""

import re
from collections.abc import Iterator, Mapping

from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import mounts
from fleet_runner.core.checks.parsers.kernel_log import Rule
from fleet_runner.core.checks.parsers.mounts import Mount, Space
from fleet_runner.core.checks.shared import kernel_messages
from fleet_runner.core.checks.shared.kernel_messages import Known
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory.profile import Section, section

NAME = "file_systems"

READ_ONLY = frozenset({"ro", "emergency_ro", "shutdown"})
"""Options that say that nothing can be written: mounted so, or made so by the file system after an error."""

_EXT4 = r"EXT[234]-fs \((?P<what>[\w.-]{1,60})\): "
_XFS = r"XFS \((?P<what>[\w.-]{1,60})\): "

_DEVICE = r"\(device (?P<what>[\w.-]{1,60})[^)\n]{0,80}\)"

_GAVE_UP = "the kernel made it read-only, or shut it down, after an error"

LOGGED = (
    Known(
        Rule("fs.errors", "Remounting filesystem read-only", re.compile(_EXT4 + "Remounting filesystem read-only")),
        Remedy.REBOOT,
        _GAVE_UP,
    ),
    Known(
        Rule(
            "fs.errors", "forced readonly", re.compile(r"BTRFS(?: \w{1,10})? " + _DEVICE + ".{0,80}forced readonly")
        ),
        Remedy.REBOOT,
        _GAVE_UP,
    ),
    Known(
        Rule("fs.errors", "Shutting down filesystem", re.compile(_XFS + ".{0,200}Shutting down filesystem")),
        Remedy.REBOOT,
        _GAVE_UP,
    ),
    Known(
        Rule("fs.logged", "EXT4-fs error", re.compile(r"EXT4-fs error " + _DEVICE)),
        Remedy.WATCH,
        "the kernel found an error in it",
    ),
    Known(
        Rule("fs.logged", "while writing superblock", re.compile(_EXT4 + "I/O error while writing superblock")),
        Remedy.WATCH,
        "the kernel found an error in it",
    ),
    Known(
        Rule(
            "fs.beyond",
            "beyond end of device",
            re.compile(r"[^\n:]{1,40}(?::\d{1,8})?: (?P<why>attempt to access beyond end of device)"),
        ),
        Remedy.WATCH,
        "a file system is larger than its device",
        "disks",
    ),
    Known(
        Rule("fs.server", "not responding, ", re.compile(r"nfs: server (?P<what>[\w.:-]{1,80}) not responding, ")),
        Remedy.RECORD,
        "the file server did not answer for a while",
    ),
    Known(
        Rule(
            "fs.server",
            "was lost; in progress operations",
            re.compile(
                r"Lustre(?:Error: \d{1,4}-\d{1,2})?: \S{1,120}: Connection to (?P<what>[\w.-]{1,80})"
                r" \(at [^)\n]{1,80}\) was lost; in progress operations"
            ),
        ),
        Remedy.RECORD,
        "the file server did not answer for a while",
    ),
    Known(
        Rule(
            "fs.evicted",
            "This client was evicted by ",
            re.compile(
                r"LustreError: (?:\d{1,4}-\d{1,2}: )?\S{1,120}: This client was evicted by (?P<what>[\w.-]{1,80});"
                r" (?P<why>in progress operations using this service will fail)"
            ),
        ),
        Remedy.RECORD,
        "the file server threw the node out, and what was read or written there failed",
    ),
    Known(
        Rule(
            "fs.locks",
            "Lock reclaim failed",
            re.compile(r"(?:NFS: )?nfs4_reclaim_open_state: (?P<why>Lock reclaim failed)"),
        ),
        Remedy.WATCH,
        "locks on files of its server were lost, and programs go on without them",
        "NFS",
    ),
)
"""What the kernel logs about file systems; gpud looks for the same."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Hold the mounts against the profile's, and look for file systems that the kernel gave up."""
    wanted = section(expected.profile, NAME)
    there = mounts.mounts(text_of(readings["findmnt"]))
    reading = readings.get("df")
    room = mounts.space(text_of(reading)) if reading is not None else {}
    needed = wanted.texts("mounts")
    findings = [finding for place in needed for finding in _mounted(there.get(place), place, expected.node)]
    findings += kernel_messages.findings(readings["dmesg"], LOGGED, expected)
    findings += [finding for place in needed for finding in _full(room.get(place), place, wanted, expected.node)]
    unread = [f"findmnt does not report how {place} is mounted" for place in needed if _untold(there.get(place))]
    unread += _unread(needed, there, room, wanted)
    free = {place: round(room[place].free or 0.0, 3) for place in needed if place in room}
    observed = {"mounts": len(there), "free": free}
    passed = f"{len(needed)} file systems are mounted and writable"
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _mounted(mount: Mount | None, place: str, node: str) -> Iterator[Finding]:
    if mount is None:
        yield about(node, "fs.missing", place)(
            message=f"nothing is mounted at {place}, expected a file system", remedy=Remedy.REBOOT
        )
    elif mount.options is not None and mount.options & READ_ONLY:
        yield about(node, "fs.read_only", place)(
            message=f"{place} ({mount.source:.80}, {mount.type}) is read-only, expected read-write",
            remedy=Remedy.REBOOT,
        )


def _untold(mount: Mount | None) -> bool:
    return mount is not None and mount.options is None


def _full(space: Space | None, place: str, wanted: Section, node: str) -> Iterator[Finding]:
    if space is None:
        return
    for name, share, what in (
        ("free_share_min", space.free, "of its space"),
        ("free_inodes_share_min", space.free_inodes, "of its inodes"),
    ):
        if share is not None and wanted.has(name) and share < wanted.number(name):
            yield about(node, "fs.full", place)(
                message=f"{place} has {share:.1%} {what} left, expected at least {wanted.number(name):.0%}",
                remedy=Remedy.WATCH,
            )


def _unread(
    needed: tuple[str, ...], there: Mapping[str, Mount], room: Mapping[str, Space], wanted: Section
) -> list[str]:
    """Say of which local file systems nobody knows how full they are; those of servers are not asked."""
    if not wanted.has("free_share_min") and not wanted.has("free_inodes_share_min"):
        return []
    local = [place for place in needed if place in there and there[place].source.startswith("/dev/")]
    return [f"df does not report how full {place} is" for place in local if place not in room]


CHECK = Check(
    name=NAME,
    question="Is every expected file system mounted, writable, and not too full?",
    reads=("findmnt", "dmesg"),
    also=("df",),
    judge=judge,
    section=NAME,
    codes=(
        Code("fs.missing", (Remedy.REBOOT,), "nothing is mounted at a place of `file_systems.mounts`"),
        Code("fs.read_only", (Remedy.REBOOT,), "a file system that should be writable is read-only"),
        Code(
            "fs.errors", (Remedy.REBOOT,), "the kernel made a file system read-only, or shut it down, after an error"
        ),
        Code("fs.logged", (Remedy.WATCH,), "the kernel logged an error in a file system"),
        Code("fs.beyond", (Remedy.WATCH,), "the kernel was asked for blocks beyond the end of a disk"),
        Code("fs.full", (Remedy.WATCH,), "less space, or fewer inodes, left than `file_systems` asks for"),
        Code("fs.locks", (Remedy.WATCH,), "a file server came back and did not give programs their locks back"),
        Code("fs.server", (Remedy.RECORD,), "a file server did not answer for a while; no fault of the node"),
        Code(
            "fs.evicted",
            (Remedy.RECORD,),
            "a Lustre server threw the node out, and what programs read or wrote there failed",
        ),
    ),
    source="The profile's `file_systems`; Meta's GCM warns at 80 % used and fails at 85 %; the log's messages are"
    " those that gpud looks for.",
)
