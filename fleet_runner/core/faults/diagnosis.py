"""What is most likely wrong with a node: suspects, ranked, with the evidence for each and what to do about it.

Only what is known is weighed; nothing here condemns a part, a person does.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import NamedTuple

from fleet_runner.core.checks.verdicts import Finding, Remedy
from fleet_runner.core.faults.escalation import Attempt
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.tickets.rma_cases import Case


class Seen(NamedTuple):
    """A finding, when it was seen, and by which check."""

    at: float
    check: str
    finding: Finding


@dataclass(frozen=True, slots=True)
class Known:
    """What a diagnosis is made from: what the checks say now, what was pushed, tried and replaced before.

    `cases` are those of this node, open and ended; `slots` says where a component is, as far as that was seen.
    """

    seen: tuple[Seen, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    cases: tuple[Case, ...] = ()
    slots: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Suspect:
    """A part that may be to blame. `score` only ranks; `evidence`, `tries` and `asks` are one sentence each."""

    component: str
    slot: str = ""
    score: float = 0.0
    evidence: tuple[str, ...] = ()
    tries: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()


class Advice(NamedTuple):
    """What to try for faults of some codes, and what a vendor asks for."""

    codes: tuple[str, ...]
    tries: tuple[str, ...]
    asks: tuple[str, ...]


WEIGHTS: Mapping[Remedy, float] = {
    Remedy.RECORD: 0.0,
    Remedy.WATCH: 1.0,
    Remedy.RECABLE: 4.0,
    Remedy.RESTART: 3.0,
    Remedy.RESET: 4.0,
    Remedy.REBOOT: 5.0,
    Remedy.POWER_CYCLE: 6.0,
    Remedy.REFLASH: 3.0,
    Remedy.TRIAGE: 7.0,
    Remedy.RMA: 10.0,
}
"""How much a finding or an alarm of a remedy says; our judgement, and only the order matters."""

TRIED = 3.0
"""What an attempt adds that did not help against a fault of the part."""

REPLACED = 4.0
"""What each part adds that was replaced in the slot before: then the slot itself is suspect."""

TOGETHER = 2
"""GPUs that are at fault at once from which on what they share is a suspect too."""

GPU_ASKS = (
    "the output of the maker's report, NVIDIA's nvidia-bug-report.sh, taken before the node is booted again",
    "serial number, part number, VBIOS and driver version (gathered/nvidia-smi-xml.txt or amd-smi-static.txt)",
    "the driver's lines (Xids) with their times (gathered/dmesg.txt), and the result of the maker's field diagnostic",
)

AMD_ASKS = (
    "the output of AMD's rocm_techsupport.sh, taken before the node is booted again",
    "serial number, part number, VBIOS and driver version (gathered/amd-smi-static.txt)",
    "the driver's lines (amdgpu) with their times (gathered/dmesg.txt), and the output of AMD's validation suite",
)

ADVICE: tuple[Advice, ...] = (
    Advice(
        ("gpu.bad_pages*", "gpu.ras", "amdgpu.*", "xgmi.*", "rvs.*"),
        ("Run AMD's validation suite (rvs -r 3) on the idle node, and compare the GPU with its neighbours.",),
        AMD_ASKS,
    ),
    Advice(
        ("xid.79", "gpu.lost", "gpu.missing", "reset.gpu_lost", "pcie.missing"),
        (
            "Remove all power for a minute, then boot: only this brings back a GPU that fell off the bus.",
            "If it is the slot that repeats, move the GPU to another slot: does the fault go with it?",
        ),
        GPU_ASKS,
    ),
    Advice(
        ("gpu.remap*", "gpu.un*", "gpu.sram*", "xid.48", "xid.64", "xid.9[45]", "xid.140"),
        (
            "Look at the row remapper (nvidia-smi -q): a failed remapping means RMA, a pending one a reset.",
            "Run dcgmi diag -r 3, and look whether the counters of uncorrectable errors grow.",
        ),
        GPU_ASKS,
    ),
    Advice(
        ("nvlink.*", "sxid.*", "xid.74", "xid.14[4-9]", "xid.150", "gpu.fabric*", "fabric_manager.*"),
        (
            "Compare the links of all GPUs (nvidia-smi nvlink -s -e): one GPU, one NVSwitch, or the baseboard?",
            "Look at Fabric Manager's log and at the switches it names before a GPU is replaced.",
        ),
        (*GPU_ASKS, "Fabric Manager's log (gathered/fabric-manager.txt)"),
    ),
    Advice(
        ("gpu.no_address",),
        ("Let the BIOS decode above 4 GB, with enough room for PCIe; a virtual machine needs as much.",),
        GPU_ASKS,
    ),
    Advice(
        ("xid.*", "gpu.*", "gpu_burn.*", "dcgm.*", "gemm.*"),
        ("Run dcgmi diag -r 3 on the idle node, and compare the GPU with its neighbours.",),
        GPU_ASKS,
    ),
    Advice(
        ("memory.*", "dimm.*", "sel.memory*", "health.dimm"),
        ("Reseat the DIMM, clear the event log, and see if the error comes back in the same slot.",
         "Exchange it with a neighbour: does the fault go with the DIMM, or stay with the slot?"),
        ("the BMC's event log with the slot (gathered/bmc-logs.json)", "the DIMM's serial and part number"),
    ),
    Advice(
        ("psu.*", "power.*", "sel.power"),
        ("Exchange the two ends of its power cord, then the supply with a neighbour.",),
        ("the BMC's event log", "the supply's serial number and firmware version"),
    ),
    Advice(("fan.*", "sensor.*", "sel.fan", "sel.thermal*", "*.hot", "gpu_thermals.*", "leak.*"),
           ("Look at the fans, the air's way, and liquid cooling's flow before a part is replaced.",),
           ("the BMC's sensors and event log",)),
    Advice(
        ("nvme.*", "disk.*", "fs.*"),
        ("Look at the drive's own log (nvme smart-log), and reseat it.",),
        ("the drive's serial number, firmware version and SMART log",),
    ),
    Advice(
        ("hca.stopped", "hca.command_timeout", "hca.access_failed", "*.queue_timeout"),
        (
            "Compare its driver and firmware with nodes that are well: ethtool -i, mstflint -d ADDRESS query.",
            "If it comes back after a reboot, seat the adapter anew, then replace it.",
        ),
        ("the adapter's serial number and firmware", "the kernel's log around it (gathered/dmesg.txt)"),
    ),
    Advice(
        ("hca.*", "ib.*", "nic.*", "optics.*", "link.*", "cabling.*"),
        ("Clean and reseat the cable at both ends, then exchange it: does the fault go with it?",),
        ("the adapter's and the module's serial numbers and firmware (mlxlink -m)",),
    ),
    Advice(("boot.*", "node.*", "kernel.*", "cpu.*", "platform.*"),
           ("Look at the node's console and at the BMC's event log around its last boot.",),
           ("the BMC's event log, the BIOS version, and the kernel's last words (gathered/pstore.json)",)),
)  # fmt: skip
"""What to try and what a vendor asks for, by codes; the first row that knows one speaks. Our judgement, from NVIDIA's
Xid catalogue and its RMA guide for memory."""

_PLACE = re.compile(r"\((?P<slot>[^,()]{1,60}), serial (?P<serial>[^,()\s]{1,60})\)")
_ORDINAL = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth"}


@dataclass(slots=True)
class _File:
    """What is known of one component."""

    codes: list[str] = field(default_factory=list[str])
    faults: set[str] = field(default_factory=set[str])
    evidence: list[str] = field(default_factory=list[str])
    score: float = 0.0
    slot: str = ""


def diagnose(known: Known) -> tuple[Suspect, ...]:
    """Return the suspects, the likeliest first; nothing where nothing is known to be wrong."""
    files: dict[str, _File] = {}
    for seen in known.seen:
        _add(files, seen.finding.component, seen.finding, f"{_day(seen.at)} {seen.check}: {seen.finding.message}")
    for alarm in known.alarms:
        mine = _file(files, alarm.component, alarm.code, alarm.fault)
        stands = "stands" if alarm.cleared_at is None else f"cleared: {alarm.cleared_because}"
        if alarm.authenticated:
            mine.score += WEIGHTS[alarm.remedy] / (1.0 if alarm.cleared_at is None else 2.0)
        else:
            stands = f"told without authentication, {stands}"
        mine.evidence.append(f"{_day(alarm.last_at)} pushed {alarm.count} times ({stands}): {alarm.message}")
    for component, mine in files.items():
        mine.slot = mine.slot or known.slots.get(component, "")
        _weigh_attempts(mine, known.attempts)
        _weigh_cases(mine, known.cases)
    suspects = [_suspect(component, mine) for component, mine in files.items() if mine.score]
    suspects += _shared(suspects)
    return tuple(sorted(suspects, key=lambda each: (-each.score, each.component)))


def _add(files: dict[str, _File], component: str, finding: Finding, sentence: str) -> None:
    mine = _file(files, component, finding.code, finding.fault)
    mine.score += WEIGHTS[finding.remedy]
    mine.evidence.append(sentence)
    place = _PLACE.search(finding.message)
    mine.slot = place["slot"] if place and not mine.slot else mine.slot


def _file(files: dict[str, _File], component: str, code: str, fault: str) -> _File:
    mine = files.setdefault(component, _File())
    mine.codes.append(code)
    mine.faults.add(fault)
    return mine


def _weigh_attempts(mine: _File, attempts: Iterable[Attempt]) -> None:
    for each in attempts:
        if not mine.faults.isdisjoint(each.faults):
            came = {True: "helped", False: "did not help", None: "has no known result"}[each.helped]
            mine.evidence.append(f"{_day(each.at)} {each.remedy} {came}{f': {each.because}' if each.because else ''}")
            mine.score += TRIED if each.helped is False else 0.0


def _weigh_cases(mine: _File, cases: Iterable[Case]) -> None:
    """Say how many parts were replaced in the slot before: the slot repeats, not the part."""
    before = [(case, part) for case in cases for part in case.parts if mine.slot and part.slot == mine.slot]
    if not before:
        return
    nth = _ORDINAL.get(len(before) + 1, f"{len(before) + 1}th")
    parts = "; ".join(f"{part.out or 'one'} with {case.vendor} {case.number}" for case, part in before)
    mine.evidence.append(f"This is the {nth} part to fail in slot {mine.slot}; before it: {parts}")
    mine.score += REPLACED * len(before)


def _suspect(component: str, mine: _File) -> Suspect:
    advice = [found for code in mine.codes if (found := _advice(code)) is not None]
    tries = dict.fromkeys(step for each in advice for step in each.tries)
    asks = dict.fromkeys(step for each in advice for step in each.asks)
    if any("This is the" in each for each in mine.evidence):
        tries = {
            "Suspect the slot, its riser and its power before the next part: exchange two of them.": None
        } | tries
    return Suspect(component, mine.slot, mine.score, tuple(mine.evidence), tuple(tries), tuple(asks))


def _advice(code: str) -> Advice | None:
    return next((row for row in ADVICE if any(fnmatchcase(code, glob) for glob in row.codes)), None)


def _shared(suspects: list[Suspect]) -> list[Suspect]:
    """Return what several GPUs share where they are at fault together."""
    gpus = [each for each in suspects if each.component.startswith("GPU ") and each.score >= WEIGHTS[Remedy.RESET]]
    if len(gpus) < TOGETHER:
        return []
    return [
        Suspect(
            "what the GPUs share (baseboard, NVSwitches, power, PCIe switch)",
            score=max(each.score for each in gpus) + len(gpus),
            evidence=(f"{len(gpus)} GPUs are at fault at once: {', '.join(each.component for each in gpus)}",),
            tries=("Look for one cause of all of them first: power, a PCIe switch, an NVSwitch, the baseboard.",),
            asks=("the BMC's event log and sensors of the baseboard (gathered/bmc-logs.json)",),
        )
    ]


def _day(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}"
