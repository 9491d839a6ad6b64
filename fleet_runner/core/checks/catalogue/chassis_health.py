"""What does the BMC itself say of the server's parts, and is its clock right?

A part that is called Critical is a person's case. What only sums its parts up (a system, a chassis that others look
into) is looked at again, since the part has its own finding, here or in another check.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import redfish
from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.checks.parsers.redfish import Gathered, rows_in, status_of, text_in, type_of
from fleet_runner.core.checks.parsers.redfish_log import moment
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile

NAME = SECTION = "chassis_health"

PARTS: Mapping[str, str] = {"Processor": "cpu", "Memory": "dimm", "Storage": "storage"}
"""Types of resources that are parts, and what a finding calls them."""

MODULES = frozenset({"Module", "Component", "Card"})
"""Types of chassis that are parts themselves: a GPU's, an NVSwitch's."""

_BOARD = re.compile(r"/(?:HGX_|EROT_)[^/]*$", re.ASCII)


class Part(NamedTuple):
    """A resource with its health; `sums` says that it only sums up what lies in it."""

    name: str
    kind: str
    health: str
    why: str
    sums: bool


def judge(readings: Readings, expected: Expected) -> Result:
    """Judge each resource by its own health; one that answers with an error makes a PASS UNKNOWN."""
    wanted = profile.section(expected.profile, SECTION)
    reading = readings["redfish_health"]
    found = redfish.gathered(text_of(reading), "the BMC's parts")
    parts = [part for uri, body in found.bodies.items() for part in _parts(uri, body)]
    findings = [_finding(part, expected.node) for part in parts if part.health in {"Warning", "Critical"}]
    now = number(expected.run.get("now")) or reading.at
    clocks = dict(_clocks(found, now))
    findings += list(_off(clocks, wanted.number("clock_seconds_max"), expected.node))
    unread = found.told()
    if not any(part.health for part in parts):
        unread.append("the BMC reports no health of any part")
    observed = {
        "parts": len(parts),
        "told": sum(bool(part.health) for part in parts),
        "serials": {
            uri.rpartition("/")[2][:60]: serial[:60]
            for uri, body in found.of("ComputerSystem").items()
            if not _BOARD.search(uri) and (serial := text_in(body, "SerialNumber").strip())
        },
        "clock_seconds_off": {name: round(off) for name, off in clocks.items()},
    }
    passed = f"the BMC reports {observed['told']} of {len(parts)} parts as OK, and its clock is right"
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _parts(uri: str, body: Mapping[str, Any]) -> Iterator[Part]:
    status = status_of(body)
    if not status.there:
        return
    typed = type_of(body)
    kind = PARTS.get(typed) or ("module" if text_in(body, "ChassisType") in MODULES else typed.lower() or "part")
    leaf = typed in PARTS or kind == "module"
    name = (text_in(body, "Id") or uri.rpartition("/")[2])[:60]
    yield Part(f"{typed or 'part'} {name}", kind, status.health or status.rollup, _why(body), not leaf)
    for summary, part in (("ProcessorSummary", "Processors"), ("MemorySummary", "Memory")):
        row = body.get(summary)
        if isinstance(row, dict) and status_of(row).there:
            each = status_of(row)
            yield Part(f"{part} of {name}", "system", each.health or each.rollup, _why(row), sums=True)


def _why(body: Mapping[str, Any]) -> str:
    raw = body.get("Status")
    told = [text_in(each, "Message") for each in rows_in(raw, "Conditions")] if isinstance(raw, dict) else []
    return printable("; ".join(text for text in list(dict.fromkeys(told))[:2] if text))[:200]


def _finding(part: Part, node: str) -> Finding:
    critical = part.health == "Critical"
    hard, mild = (Remedy.WATCH, Remedy.RECORD) if part.sums else (Remedy.TRIAGE, Remedy.WATCH)
    remedy = hard if critical else mild
    code = "health.whole" if part.sums else f"health.{part.kind}"
    why = f": {part.why}" if part.why else ""
    return about(node, code, part.name)(
        message=f"the BMC reports {part.health} for {part.name}, expected OK{why}",
        remedy=remedy,
        steps=(f"Read the BMC's event log for {part.name}.", "Reseat the part; if it stays, replace it.")
        if remedy is Remedy.TRIAGE
        else (),
    )


def _clocks(found: Gathered, now: float) -> Iterator[tuple[str, float]]:
    """Yield how far the clock of each manager is ahead; a GPU baseboard's own is set by nobody."""
    for uri, body in found.of("Manager").items():
        shown = moment(text_in(body, "DateTime"))
        if shown is not None and not _BOARD.search(uri):
            yield uri.rpartition("/")[2], shown - now


def _off(clocks: Mapping[str, float], most: float, node: str) -> Iterator[Finding]:
    for name, off in clocks.items():
        if abs(off) > most:
            way = "ahead" if off > 0 else "behind"
            yield about(node, "health.clock", f"Manager {name}")(
                message=f"the clock of the BMC {name} is {abs(off):.0f} s {way}, expected at most {most:g};"
                " set its NTP servers",
                remedy=Remedy.RECORD,
            )


CHECK = Check(
    name=NAME,
    question="Does the BMC report every part as healthy, and is its clock right?",
    reads=("redfish_health",),
    judge=judge,
    section=SECTION,
    codes=(
        Code("health.cpu", (Remedy.TRIAGE, Remedy.WATCH), "a processor is reported as Critical or Warning"),
        Code("health.dimm", (Remedy.TRIAGE, Remedy.WATCH), "a memory module is reported as Critical or Warning"),
        Code(
            "health.storage", (Remedy.TRIAGE, Remedy.WATCH), "a storage controller is reported as Critical or Warning"
        ),
        Code(
            "health.module",
            (Remedy.TRIAGE, Remedy.WATCH),
            "a GPU's or a switch's module is reported as Critical or Warning",
        ),
        Code(
            "health.whole",
            (Remedy.WATCH, Remedy.RECORD),
            "a sum of several parts is reported as Critical or Warning",
        ),
        Code(
            "health.clock", (Remedy.RECORD,), "a BMC's clock is off by more than `chassis_health.clock_seconds_max`"
        ),
    ),
    source="DMTF's Redfish schemas: Status.Health of ComputerSystem, Chassis, Manager, Processor, Memory and"
    " Storage; the profile's `chassis_health`.",
)
