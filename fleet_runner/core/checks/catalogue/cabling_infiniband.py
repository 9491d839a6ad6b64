"""Is every InfiniBand link of the node as designed? Its fabrics are read, and the node's own faults are reported."""

from collections.abc import Iterable
from dataclasses import replace

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling.binding import bind
from fleet_runner.core.cabling.design import designed, infiniband, places, planned
from fleet_runner.core.cabling.explain import Fault, Kind, listed
from fleet_runner.core.cabling.judge import Verdicts, hold
from fleet_runner.core.cabling.left_out import left_out
from fleet_runner.core.cabling.links import Link
from fleet_runner.core.cabling.rails import eyes
from fleet_runner.core.checks.answers import conclude, text_of, unless_unread
from fleet_runner.core.checks.catalogue.fabric_cabling import codes, finding, idle, known_names, share, unsure
from fleet_runner.core.checks.check import Check, Readings
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.parsers import ibnetdiscover
from fleet_runner.core.checks.parsers.discovery import Discovery
from fleet_runner.core.checks.reads import apart
from fleet_runner.core.checks.verdicts import UNSURE, Finding, Remedy, Result

NAME = "cabling_infiniband"

RECORDED = (Kind.REPLACED_HCA, Kind.REPLACED_SWITCH)
"""Faults that somebody has to write down, and that keep no node from service."""


def judge(readings: Readings, expected: Expected) -> Result:
    """FAIL for each fault that touches the node, whatever is wrong elsewhere; another fabric's capture is UNKNOWN.

    A node that earns production has all of its cables, those that are still called planned as well.
    """
    links = designed(expected.fabric, infiniband)
    mine = _of(expected.node, links)
    captures, unread = _captures(readings["ibnetdiscover"])
    if not mine:
        return conclude(NAME, [], "no InfiniBand link is designed for it", {"designed": 0})
    where = places(expected.fabric)
    joined = {frozenset(each[:2]): each for capture in captures for each in capture.links}
    alone = {port for capture in captures for port in capture.unanswered}
    seen = bind(joined.values(), known_names(links, expected), alone)
    left = left_out(links, seen.links, planned(expected.fabric).difference(mine), idle(expected) - {expected.node})
    verdicts = hold(left.rest(links), seen, where, share=share(expected))
    if verdicts.misnamed:
        more = _blind(expected) if verdicts.misnamed else []
        raise EvidenceError("; ".join([f"the fabric as {expected.node} sees it: {verdicts.suspect}", *more]))
    if len(verdicts.unbound) > verdicts.matched:
        raise EvidenceError(_another(verdicts, expected.node))
    findings = [_own(fault, where.servers) for fault in verdicts.faults if expected.node in fault.devices]
    doubts = [doubt for doubt in verdicts.doubts if _of(expected.node, [doubt.designed])]
    silent = _of(expected.node, verdicts.silent)
    unmapped = _of(expected.node, verdicts.unmapped)
    own = left.at({expected.node})
    observed = {
        "designed": len(mine),
        "fabric_matched": verdicts.matched,
        "fabric_designed": verdicts.designed,
        UNSURE: unsure([*(doubt.designed for doubt in doubts), *silent, *unmapped], seen, own),
    }
    untold = [str(doubt) for doubt in doubts]
    if silent:
        untold += [f"no data about {listed(silent)}", *unread, *_blind(expected)]
    untold += [f"no port number is known of {listed(unmapped)}"] if unmapped else []
    passed = f"InfiniBand links as designed: {len(mine) - len(own.away)}{own.words()}"
    return unless_unread(conclude(NAME, findings, passed, observed), untold)


def _of(node: str, links: Iterable[Link]) -> list[Link]:
    return [each for each in links if node in {each.a.device, each.b.device}]


def _captures(reading: Reading) -> tuple[list[Discovery], list[str]]:
    """Return what each look at a fabric brought, and why others brought nothing; EvidenceError if none did."""
    looks = apart(reading)
    if not looks:
        return [_capture(reading)], []
    found: list[Discovery] = []
    unread: list[str] = []
    for adapter, each in looks.items():
        try:
            found.append(_capture(each))
        except EvidenceError as error:
            unread.append(f"{adapter}: {error}")
    if not found:
        raise EvidenceError("; ".join(unread))
    return found, unread


def _capture(reading: Reading) -> Discovery:
    if reading.end is not ReadEnd.OK:
        raise EvidenceError(f"{reading.name}: {reading.error or reading.end}")
    return ibnetdiscover.whole(ibnetdiscover.parse(text_of(reading)))


def _another(verdicts: Verdicts, node: str) -> str:
    return (
        f"the fabric as {node} sees it: {len(verdicts.unbound)} observed links are not in the design,"
        f" {verdicts.matched} are; expected most of them: this may be another fabric, or another fabric's design"
    )


def _blind(expected: Expected) -> list[str]:
    """Say what to declare where not every fabric of the node could be read."""
    fabrics = eyes(expected.fabric, expected.node, expected.profile)
    several = f"{expected.node} has ports in {len(fabrics)} fabrics, and not all were read"
    told = f"{several}: name its adapters in hca_interfaces of its device type's file (docs/cabling.md)"
    return [] if all(fabrics) else [told]


def _own(fault: Fault, servers: frozenset[str]) -> Finding:
    """A new adapter whose link is as designed keeps no node from service: somebody has to write it down."""
    found = finding(fault, servers)
    return replace(found, remedy=Remedy.RECORD) if fault.kind in RECORDED else found


CHECK = Check(
    name=NAME,
    question="Is every InfiniBand link of the node connected as designed, at full width and speed?",
    reads=("ibnetdiscover",),
    judge=judge,
    needs_fabric=True,
    codes=codes(*RECORDED),
    source="The designed cables of the source of truth; `docs/cabling.md` says how each kind of fault is recognised.",
)
