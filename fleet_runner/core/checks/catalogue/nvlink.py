"""Are all NVLinks of every GPU up, at their speed, and free of errors?"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import nvlink
from fleet_runner.core.checks.parsers.nvidia_smi import Gpu, component
from fleet_runner.core.checks.parsers.nvlink import Links
from fleet_runner.core.checks.shared import previous_look
from fleet_runner.core.checks.shared.gpus import answering, described
from fleet_runner.core.checks.shared.previous_look import Earlier
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile

NAME, SECTION = "nvlink", "nvlink"

SPEED_SHARE = 0.99
"""Of the profile's speed: the tool rounds it (26.562 for 26.5625)."""

PER_MINUTE_MAX: Mapping[str, float] = {
    "Replay Errors": 1,
    "Recovery Errors": 1,
    "CRC Errors": 100 * 60,
    "CRC Flit Errors": 100 * 60,
    "CRC Data Errors": 100 * 60,
}
"""From which rate on DCGM's health watch calls a link failed: a replay or recovery each minute, 100 CRC errors each
second."""

FATAL = frozenset({"Link recovery failed events"})
"""Counters of NVLink 5 of which DCGM calls a single one a failure."""

COUNTED = frozenset({
    *PER_MINUTE_MAX,
    *FATAL,
    "ECC Errors",
    "Malformed packet Errors",
    "Buffer overrun Errors",
    "Rx Errors",
    "Rx remote Errors",
    "Rx General Errors",
    "Local link integrity Errors",
    "Link recovery successful events",
    "Effective Errors",
    "Symbol Errors",
})  # fmt: skip
"""Counters that stand still on a good link. Raw errors, FEC's bins and what was sent move on every one."""

MOST_NAMED = 6
"""Links that a message names."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What was read of one GPU: its links, and the errors of each by name; none where they could not be read."""

    gpu: Gpu
    links: Links | None
    errors: Mapping[int, Mapping[str, int]]


def judge(readings: Readings, expected: Expected) -> Result:
    """Hold each GPU's links against the profile, and its counters against those of the last look."""
    section = profile.section(expected.profile, SECTION)
    wanted, speed = section.whole("links"), section.number("gbytes_per_second")
    found, counted = nvlink.status(text_of(readings["nvlink_status"])), _counted(readings)
    seen = [
        Seen(gpu, found.get((gpu.uuid or "").lower()), counted.get((gpu.uuid or "").lower(), {}))
        for gpu in answering(readings)
    ]
    before = previous_look.look(expected, NAME)
    findings = [finding for each in seen for finding in _links(each, wanted, speed, expected)]
    findings += [finding for each in seen for finding in _errors(each, before, expected)]
    unread = [why for each in seen for why in _unread(each, wanted)]
    up = {each.gpu.pci: len(each.links.gbytes_per_second) for each in seen if each.links}
    kept = {each.gpu.pci: {str(link): _bad(counts) for link, counts in each.errors.items()} for each in seen}
    passed = f"{len(seen)} GPUs have {wanted} NVLinks each at {speed:g} GB/s"
    return unless_unread(conclude(NAME, findings, passed, {"links": up, "errors": kept}), unread)


def _counted(readings: Readings) -> dict[str, dict[int, dict[str, int]]]:
    """Return the counters, where they could be read: they say more, and their lack says nothing."""
    reading = readings.get("nvlink_errors")
    if reading is None or reading.rc != 0:
        return {}
    try:
        return nvlink.errors(reading.text)
    except EvidenceError:
        return {}


def _bad(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if name in COUNTED}


def _links(seen: Seen, wanted: int, speed: float, expected: Expected) -> Iterator[Finding]:
    gpu, links = seen.gpu, seen.links
    if links is None:
        return
    down = set(range(wanted)) if links.dead else set(links.inactive)
    if _whole(seen) and not links.reason:
        down |= set(range(wanted)) - links.gbytes_per_second.keys()
    short = wanted - len(links.gbytes_per_second)
    if down and short > 0:
        yield about(expected.node, "nvlink.down", component(gpu))(
            message=f"{described(gpu, expected)} has {wanted - short} of {wanted} NVLinks up; down: {_named(down)};"
            " a reboot retrains them",
            remedy=Remedy.REBOOT,
        )
    slow = {link for link, found in links.gbytes_per_second.items() if found < speed * SPEED_SHARE}
    if slow:
        least = min(links.gbytes_per_second[link] for link in slow)
        yield about(expected.node, "nvlink.slow", component(gpu))(
            message=f"NVLinks {_named(slow)} of {described(gpu, expected)} run at {least:g} GB/s, expected {speed:g};"
            " a reboot retrains them",
            remedy=Remedy.REBOOT,
        )


def _whole(seen: Seen) -> bool:
    """Whether a link that is not listed is not there: the last GPU's list may be cut, unless its counters agree."""
    links = seen.links
    if links is None or not links.gbytes_per_second:
        return False
    return links.whole or seen.errors.keys() == links.gbytes_per_second.keys() | links.inactive


def _named(links: set[int]) -> str:
    told = ", ".join(str(link) for link in sorted(links)[:MOST_NAMED])
    return told + (f" and {len(links) - MOST_NAMED} more" if len(links) > MOST_NAMED else "")


def _errors(seen: Seen, before: Earlier | None, expected: Expected) -> Iterator[Finding]:
    """Judge by growth since the last look; what was counted before that is history."""
    gpu = seen.gpu
    if before is None:
        return
    minutes = max(1.0, before.seconds / 60)
    for link, counts in seen.errors.items():
        grown = {
            name: growth
            for name, count in _bad(counts).items()
            if (growth := before.growth(count, "errors", gpu.pci, str(link), name))
        }
        if not grown:
            continue
        code, remedy = _weighed(grown, minutes)
        told = ", ".join(f"{growth:.0f} {name}" for name, growth in sorted(grown.items()))
        yield about(expected.node, code, f"{component(gpu)} NVLink {link}")(
            message=f"NVLink {link} of {described(gpu, expected)} counted {told} in {minutes:.0f} min, expected none",
            remedy=remedy,
        )


def _weighed(grown: Mapping[str, float], minutes: float) -> tuple[str, Remedy]:
    """Return the code and the remedy for what a link's counters grew by."""
    if any(name in FATAL or growth / minutes >= PER_MINUTE_MAX.get(name, inf) for name, growth in grown.items()):
        return "nvlink.failing", Remedy.RESET
    if all(name.startswith("CRC ") for name in grown):
        return "nvlink.crc", Remedy.RECORD  # what was broken was sent again, and arrived
    return "nvlink.errors", Remedy.WATCH


def _unread(seen: Seen, wanted: int) -> Iterator[str]:
    name, links = component(seen.gpu), seen.links
    if links is None:
        yield f"nvidia-smi nvlink -s does not list {name}"
    elif links.reason:
        yield f"{name}: {links.reason}"
    elif not links.dead and len(links.gbytes_per_second) + len(links.inactive) < wanted and not _whole(seen):
        told = len(links.gbytes_per_second)
        yield f"nvidia-smi nvlink -s lists {told} of {wanted} NVLinks of {name}, and may have been cut; read it again"


CHECK = Check(
    name=NAME,
    question="Are all NVLinks of every GPU up, at their speed, and free of new errors?",
    reads=("nvidia_smi", "nvlink_status"),
    judge=judge,
    remembers=True,
    also=("nvlink_errors",),
    section=SECTION,
    codes=(
        Code("nvlink.down", (Remedy.REBOOT,), "fewer links up than the profile's"),
        Code("nvlink.slow", (Remedy.REBOOT,), "a link below the profile's speed"),
        Code("nvlink.failing", (Remedy.RESET,), "errors beyond DCGM's limits, or a recovery that failed"),
        Code("nvlink.errors", (Remedy.WATCH,), "errors since the last look, below those limits"),
        Code("nvlink.crc", (Remedy.RECORD,), "nothing but CRC errors since the last look, below their limit"),
    ),
    source="DCGM's health watch for NVLink (a replay or recovery a minute, 100 CRC errors a second; NVLink 5:"
    " recoveries that failed); links and speeds as `nvidia-smi nvlink -s` prints them on such GPUs.",
)
