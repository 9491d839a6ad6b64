"""Is every link of an Ethernet fabric as designed? What its switches hear over LLDP, joined from both ends.

A BMC, a power strip or a switch that nobody asks may never speak LLDP: their links that are not heard are counted,
and no doubt. A node's own port, or one of a switch that was read, should be heard: if it is not, the cable may be
gone or LLDP may be off, and the answer is UNKNOWN. Of a cable between two switches that an earlier sweep heard, it is
a fault.
"""

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling import ethernet_sweep, extent, lost_links
from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.design import designed, infiniband, macs, managed, places, planned
from fleet_runner.core.cabling.ethernet_design import EthernetDesign
from fleet_runner.core.cabling.names import names
from fleet_runner.core.checks.answers import conclude, text_of, unless_unread
from fleet_runner.core.checks.catalogue.fabric_cabling import (
    MOST_FAULTS,
    MOST_NAMED,
    SUSPECT,
    codes,
    finding,
    idle,
    share,
    suspected,
    unsure,
)
from fleet_runner.core.checks.check import Check, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers.neighbours import several
from fleet_runner.core.checks.shared.previous_look import look
from fleet_runner.core.checks.verdicts import UNSURE, Result

NAME = "fabric_ethernet"

BETWEEN = "between"
"""What it observes beside: the links between switches that were heard, now or before."""


def judge(readings: Readings, expected: Expected) -> Result:
    """FAIL for each fault of the fabric's own links; UNKNOWN for a switch not read, and for what should be heard."""
    told = several.parse(text_of(readings["switch_lldp"]))
    if not told.heard:
        why = "; ".join(f"{name}: {each}" for name, each in sorted(told.unread.items())[:3])
        raise EvidenceError(f"no switch could be read: {why or 'none can be asked'}")
    where = places(expected.fabric)
    own = frozenset(expected.device.get("switches", ()))
    links = extent.own(designed(expected.fabric, lambda kind: not infiniband(kind)), own)
    later = planned(expected.fabric)
    design = EthernetDesign(
        tuple(links),
        names([port for each in links for port in each], {}, {}),
        where,
        macs(expected.fabric),
        managed(expected.fabric),
        later,
        idle(expected),
        share(expected),
    )
    earlier = look(expected, NAME)
    before = lost_links.remembered(earlier.value(BETWEEN), links) if earlier is not None else frozenset()
    swept = ethernet_sweep.judge(design, told, before)
    verdicts, left, mute = swept.verdicts, swept.left, swept.mute
    seen = Bound(dict.fromkeys(swept.believed, ""))
    faults = verdicts.faults
    suspect = verdicts.suspect or (f"{len(faults)} faults at once." if len(faults) > MOST_FAULTS else "")
    untold = [*(doubt.designed for doubt in verdicts.doubts), *verdicts.silent, *verdicts.unmapped]
    placed = sorted(later.intersection(links) & swept.believed)
    observed = {
        "designed": len(links) - len(left.planned),
        "matched": verdicts.matched,
        "planned": len(left.planned),
        "placed": [[*each.a, *each.b] for each in placed[:MOST_NAMED]],
        "mute": len(mute),
        "learned": swept.learned,
        "by_nodes": swept.by_nodes,
        UNSURE: unsure([*untold, *mute], seen, left),
        "suspect": suspect,
        "unbound": len(verdicts.unbound),
        "read": len(told.heard),
        "unread": sorted(told.unread),
        BETWEEN: lost_links.written(swept.between),
    }
    if suspect:
        return conclude(NAME, [suspected(expected.node, suspect)], "", observed)
    unread = [f"{name} was not read: {why}" for name, why in sorted(swept.unread.items())]
    unread += [str(doubt) for doubt in verdicts.doubts]
    unread += [f"neither end of {a} to {b} is heard" for a, b in verdicts.silent]
    unread += [
        f"a port at {a} to {b} is heard by a name that the design does not use, or for another port"
        for a, b in verdicts.unmapped
    ]
    findings = [finding(fault, where.servers) for fault in faults]
    passed = f"Ethernet links as designed: {verdicts.matched}{swept.words()}"
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


CHECK = Check(
    name=NAME,
    question="Is every Ethernet link of the fabric connected as designed?",
    reads=("switch_lldp",),
    judge=judge,
    needs_fabric=True,
    remembers=True,
    codes=(*codes(), SUSPECT),
    source="The designed cables of the source of truth; `docs/cabling.md` says how each kind of fault is recognised.",
)
