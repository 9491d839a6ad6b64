"""Did the server log a hardware fault since the node entered its state?

What an entry means is in one table. Faults that another check sees for itself, as they are now, are recorded: an
event log only tells that they were. Times are ages by the clock of the BMC that wrote them, which need not be right.

An OpenBMC, as a GB200's, logs failures of its own programs as Critical: "InternalFailure" alone, with a process id
at most, is a daemon that could not do something. It names no part, and comes as often as a daemon starts too early;
so it is recorded. What the daemon should have told is asked by the checks that read it, UNKNOWN where it is not told.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import redfish
from fleet_runner.core.checks.parsers import redfish_log as parser
from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.checks.parsers.redfish_log import Entry, Log
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile
from fleet_runner.core.inventory.profile import Section

NAME = SECTION = "sel"

DAY = 86_400.0

BAD = frozenset({"Warning", "Critical"})

CLEAR = "Clear the log after the repair: entries that stay are found again."


class Rule(NamedTuple):
    """Entries of one kind: a pattern over the sensor's type and the message, what follows, and what it means."""

    code: str
    pattern: re.Pattern[str]
    remedy: Remedy
    meaning: str
    steps: tuple[str, ...] = ()


def _rule(code: str, words: str, remedy: Remedy, meaning: str, *steps: str) -> Rule:
    return Rule(code, re.compile(words, re.ASCII | re.IGNORECASE), remedy, meaning, steps)


NOTES = re.compile(
    r"AC Power on|Session Audit|LAN Link|Lockout changed|Clock Synch|Event Logging Disabled|ThrottleReason"
    r"|Driver Event Message|\bXID\b",
    re.ASCII,
)
"""What BMCs warn of and nobody repairs: power that came, logins, their own network; and what GPUs' drivers log, which
`xid` reads where they do."""

RULES: tuple[Rule, ...] = (
    _rule(
        "sel.bmc",
        r"^: (?:xyz\.openbmc_project\.Common\.Error\.)?InternalFailure\.?\s{0,4}$",
        Remedy.RECORD,
        "a program of the BMC itself failed, which says nothing of the server's parts",
    ),
    _rule(
        "sel.memory_uncorrectable",
        r"uncorrectable (?:memory|ecc|machine check.*memory)|multi-?bit (?:ecc|memory)|\bMEM0001\b|DIMM.*uncorrect"
        r"|memory.*uncorrectable",
        Remedy.TRIAGE,
        "memory had an uncorrectable error",
        "Find the DIMM that the entry names, and replace it.",
    ),
    _rule(
        "sel.memory_correctable",
        r"correctable (?:memory|ecc).*(?:limit|threshold|rate|logging)|(?:limit|threshold).*correctable ecc",
        Remedy.WATCH,
        "memory corrects more errors than its limit; `memory_errors` counts them",
    ),
    _rule(
        "sel.cpu",
        r"\bIERR\b|CAT_?ERR|MCERR|machine check|FRB[123]|processor.*(?:internal error|configuration error|failed)"
        r"|CPU.*(?:internal error|failure)",
        Remedy.TRIAGE,
        "a processor stopped on an internal error",
        "Read the BMC's crash dump, and find the processor that stopped first.",
        "Run the vendor's CPU diagnostic; replace the processor or the board that it names.",
    ),
    _rule(
        "sel.thermal_trip",
        r"thermal ?trip|therm_?trip|non-?recoverable.*going high|critical over ?temperature",
        Remedy.TRIAGE,
        "a part became so hot that it was switched off",
        "Check the fans, the air baffles and the heat sink of the part that the entry names.",
    ),
    _rule(
        "sel.pcie_fatal",
        r"(?:bus|PCIe?|PCI Express).{0,40}\b(?:fatal|uncorrectable)|PCI (?:SERR|PERR)|\bSERR\b",
        Remedy.TRIAGE,
        "a PCIe device had a fatal error",
        "Find the slot that the entry names; reseat its card and its riser.",
    ),
    _rule(
        "sel.drive",
        r"drive fault|drive.*(?:failed|failure)|in critical array|\bDisk.*fail",
        Remedy.TRIAGE,
        "a drive failed",
        "Find the bay that the entry names, and look at the drive in it.",
    ),
    _rule(
        "sel.power",
        r"power supply|power unit|\bPSU?[0-9]{0,2}\b.*(?:fail|lost)|redundancy (?:lost|degraded)",
        Remedy.RECORD,
        "a power supply failed or lost its input; `power_supplies` checks whether it still does",
    ),
    _rule("sel.fan", r"(?<![a-z])fan", Remedy.RECORD, "a fan failed; `sensors` checks whether it still does"),
    _rule(
        "sel.sensor",
        r"temperature|(?<![a-z])temp(?![a-z])|voltage|\bvolt|\bcurrent\b",
        Remedy.RECORD,
        "a sensor was beyond its limit; `sensors` checks whether it still is",
    ),
    _rule(
        "sel.boot",
        r"watchdog|firmware (?:error|hang)|boot error|no bootable|OS (?:critical )?stop|Operating System",
        Remedy.RECORD,
        "a boot hung or a watchdog ended it; the checks of boots cover that",
    ),
    _rule(
        "sel.intrusion",
        r"physical security|intrusion|chassis.*open",
        Remedy.WATCH,
        "the chassis was opened outside planned work",
    ),
)  # fmt: skip
"""Rows in the order in which they are tried. Types and offsets as in the IPMI 2.0 specification, table 42-3; words as
AMI, Dell, OpenBMC and Supermicro write them."""

OTHERS: Mapping[str, Rule] = {
    "Critical": _rule("sel.critical", "", Remedy.WATCH, "a critical entry of an unknown kind"),
    "Warning": _rule("sel.warning", "", Remedy.RECORD, "a warning of an unknown kind"),
}


def judge(readings: Readings, expected: Expected) -> Result:
    """Make one finding for each kind of fault and part; what is over again, or older than the state, is counted."""
    wanted = profile.section(expected.profile, SECTION)
    reading = readings["redfish_logs"]
    found = redfish.gathered(text_of(reading), "the BMC's event logs")
    every = parser.logs(found)
    if not every:
        raise EvidenceError("; ".join([*found.told(), "no event log of the BMC could be read"]))
    now = number(expected.run.get("now")) or reading.at
    youngest = _window(wanted, expected, now)
    fresh: dict[tuple[str, str], list[Entry]] = {}
    undated: list[str] = []
    for log in every:
        clock = log.now if log.now is not None else now
        for each in log.entries:
            if not matters(each):
                continue
            rule = meant(each)
            if each.at is None:
                undated += [f"{log.name} {each.number}"] if rule.remedy is not Remedy.RECORD else []
            elif clock - each.at <= youngest:
                fresh.setdefault((rule.code, each.part), []).append(each)
    findings = [_finding(entries, expected.node) for entries in fresh.values()]
    findings += [finding for log in every for finding in _full(log, wanted, expected.node)]
    unread = found.told() + [f"{log.name}: not all of its entries were read" for log in every if not log.whole]
    if undated:
        unread.append(f"{len(undated)} entries have no readable time ({undated[0]}); read them and clear the log")
    observed = {
        "logs": {log.name: len(log.entries) for log in every},
        "bad": sum(each.severity in BAD for log in every for each in log.entries),
        "fresh": sum(map(len, fresh.values())),
        "undated": len(undated),
    }
    passed = f"no fault of the last {_span(youngest)} is logged that still lasts; {observed['bad']} entries in all"
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _span(seconds: float) -> str:
    """Return a span in the unit that people would say it in."""
    units = ((DAY, "days"), (3600.0, "hours"), (60.0, "minutes"))
    return next((f"{seconds / size:.3g} {unit}" for size, unit in units if seconds >= size), f"{seconds:.3g} seconds")


def matters(entry: Entry) -> bool:
    """Tell if an entry is of a fault that is not over, whatever its age."""
    return entry.severity in BAD and not entry.over and not NOTES.search(_text(entry))


def meant(entry: Entry) -> Rule:
    """Return the row that an entry falls under."""
    text = _text(entry)
    return next((rule for rule in RULES if rule.pattern.search(text)), None) or OTHERS[entry.severity]


def _text(entry: Entry) -> str:
    return f"{entry.kind}: {entry.message}"


def _window(wanted: Section, expected: Expected, now: float) -> float:
    """Return how old an entry may be to count: what was before the node's state was dealt with then."""
    since = number(expected.run.get("since"))
    most = wanted.number("days") * DAY
    return most if since is None else max(0.0, min(most, now - since))


def _finding(entries: list[Entry], node: str) -> Finding:
    last = entries[-1]
    rule = meant(last)
    times = f", {len(entries)} times" if len(entries) > 1 else ""
    return about(node, rule.code, last.part)(
        message=f"{last.log} {last.number}{times}, {last.part}: {printable(last.message)[:200]}; {rule.meaning}",
        remedy=rule.remedy,
        steps=(*rule.steps, CLEAR) if rule.steps else (),
    )


def _full(log: Log, wanted: Section, node: str) -> Iterator[Finding]:
    """A log that takes nothing more hides the next fault; one that wraps loses its oldest entries, which is all."""
    share = wanted.number("full_share_max") if wanted.has("full_share_max") else 0.9
    if log.most and len(log.entries) >= share * log.most:
        yield about(node, "sel.full", log.name)(
            message=f"{log.name} holds {len(log.entries)} of {log.most} entries; save it and clear it",
            remedy=Remedy.RECORD if log.wraps else Remedy.WATCH,
        )


def _codes(rules: Iterable[Rule]) -> tuple[Code, ...]:
    return tuple(Code(rule.code, (rule.remedy,), rule.meaning) for rule in rules)


CHECK = Check(
    name=NAME,
    question="Did the server's event logs record a hardware fault since the node entered its state?",
    reads=("redfish_logs",),
    judge=judge,
    section=SECTION,
    codes=(
        *_codes((*RULES, *OTHERS.values())),
        Code("sel.full", (Remedy.WATCH, Remedy.RECORD), "a log that is nearly full; RECORD where it wraps by itself"),
    ),
    source="The IPMI 2.0 specification (sensor types and event offsets), DMTF's Redfish schemas LogService and"
    " LogEntry; the profile's `sel`.",
)
