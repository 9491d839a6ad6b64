"""What each finding is worth: a ticket now, a second look first, or nothing while something stands in its way.

A fault of cabling in service must be seen twice in a row before a person is sent: a link that comes and goes, a node
that boots and a capture that was cut look alike once. So must a test that was only slow: who came for a moment slowed
it. Before service nothing less than a pass counts, at once.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum

from fleet_runner.core.checks.answers import code_of
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.verdicts import NOT_SOUGHT, UNSURE, Finding, Remedy, Result, Verdict
from fleet_runner.core.faults.needs import ruled
from fleet_runner.core.inventory.records import Management
from fleet_runner.core.lifecycle.runs import Stored
from fleet_runner.core.lifecycle.states import FABRICS, State
from fleet_runner.core.lifecycle.view import View
from fleet_runner.core.nvlink import common_cause

NEEDS_HANDS = frozenset({Remedy.RECABLE, Remedy.REFLASH, Remedy.TRIAGE, Remedy.RMA})
"""Remedies that a person carries out, whatever state the node is in."""

BEFORE_SERVICE = frozenset(Remedy) - {Remedy.RECORD}
"""Remedies that need a person while a node earns production: nothing less than a pass lets it go on."""

SUSPECT = "cabling.suspect"
"""The finding that says: so much differs at once that the capture or the design is wrong, not the cables."""

_DARK = "cabling/dark/"


class Worth(StrEnum):
    """What follows from a finding."""

    TICKET = "ticket"
    ONCE = "seen once"  # the next look must see it too
    EXCUSED = "excused"  # it touches a device that is being worked on, or not in service; its cause is elsewhere
    UNSURE = "unsure"  # it touches a device, or both ends of a link, that could not be told
    KEPT = "kept"  # no hand is needed, or it was seen before the node came to its state


def weigh(view: View, stored: Stored) -> Iterator[tuple[Finding, Worth]]:
    """Return what each finding of one of the view's newest results is worth; of a suspect result, only that one's.

    Each has the remedy that the rules name for it.
    """
    alone = suspect(stored.result)
    for seen in stored.result.findings:
        if alone is None or seen is alone:
            finding = ruled(view.rules, view.node.device_type, seen)
            elsewhere = bool(view.domain_fault) and finding.code in common_cause.CODES
            yield finding, Worth.EXCUSED if elsewhere else _worth(view, stored, finding)


def _worth(view: View, stored: Stored, finding: Finding) -> Worth:
    whole = finding.code == SUSPECT
    touched = touches(finding)
    if stored.at < view.node.since or not (whole or finding.remedy in _hands(view)):
        return Worth.KEPT
    if is_slow(stored, finding) and view.node.state is State.PRODUCTION:
        return Worth.TICKET if _known(view, stored, finding, view.node.since) else Worth.ONCE
    if finding.remedy not in _twice(view):
        return Worth.TICKET
    if any(each <= touched for each in unsure(stored.result)):
        return Worth.UNSURE
    if touched & view.excused.keys():
        return Worth.EXCUSED
    return Worth.TICKET if _known(view, stored, finding) else Worth.ONCE


def is_slow(stored: Stored, finding: Finding) -> bool:
    """Whether a test missed a pass mark, as a tenant's moment may have brought about; its check says so (`twice`)."""
    check = CHECKS.get(stored.result.check)
    return check is not None and any(code.twice and code.code == finding.code for code in check.codes)


def speaks(result: Result) -> bool:
    """Whether a result says anything: one that names what it is unsure of has an answer about everything else."""
    return result.verdict in {Verdict.PASS, Verdict.FAIL} or bool(unsure(result))


def suspect(result: Result) -> Finding | None:
    """Return the finding that makes all others of its result worthless, if there is one."""
    return next((finding for finding in result.findings if finding.code == SUSPECT), None)


def unsure(result: Result) -> frozenset[frozenset[str]]:
    """Return what a result could not tell: devices, each alone, and links, as the two devices that each joins."""
    named = result.observed.get(UNSURE)
    if not isinstance(named, list | tuple):
        return frozenset()
    return frozenset(frozenset(map(str, each) if isinstance(each, list | tuple) else (str(each),)) for each in named)


def hides(result: Result, devices: Iterable[str]) -> bool:
    """Whether a fault of these devices cannot be seen now: one of them has no link up, or was not to be told."""
    touched = frozenset(devices)
    keys = (finding.fault for finding in result.findings)
    dark = {key.removeprefix(_DARK) for key in keys if key.startswith(_DARK)}
    return not touched.isdisjoint(dark) or any(each <= touched for each in unsure(result))


def overlooks(result: Result, fault: str) -> bool:
    """Whether a result could not look for a fault, whatever else it saw."""
    named = result.observed.get(NOT_SOUGHT)
    return isinstance(named, list | tuple) and code_of(fault) in named


def touches(finding: Finding) -> frozenset[str]:
    """Return every device that a fault touches."""
    return frozenset((*finding.nodes, *finding.devices))


def seen_once(view: View) -> tuple[tuple[Stored, Finding], ...]:
    """Return the findings that a second look must confirm, each with its result."""
    return tuple(
        (stored, finding)
        for stored in view.latest
        if speaks(stored.result)
        for finding, worth in weigh(view, stored)
        if worth is Worth.ONCE
    )


def _hands(view: View) -> frozenset[Remedy]:
    serving = view.node.state is State.PRODUCTION and view.node.management is Management.FULL
    return NEEDS_HANDS if serving or view.node.state in FABRICS else BEFORE_SERVICE


def _twice(view: View) -> frozenset[Remedy]:
    """Return the remedies that nobody is sent for after one sight."""
    if view.node.state in FABRICS:
        return frozenset(Remedy)
    return frozenset({Remedy.RECABLE}) if view.node.state is State.PRODUCTION else frozenset()


def _known(view: View, stored: Stored, finding: Finding, since: float = 0.0) -> bool:
    """Whether the result before, if it is not older than `since`, saw the fault too, or a ticket is open about it."""
    before = (each for each in view.before if each.result.check == stored.result.check and each.at >= since)
    seen = {known.fault for each in before for known in each.result.findings}
    return finding.fault in seen | {ticket.fault for ticket in view.tickets}
