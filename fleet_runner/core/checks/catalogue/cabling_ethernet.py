"""Is every Ethernet link of the node as designed? Its own LLDP neighbours are held against the design."""

from fleet_runner.core.cabling import ethernet
from fleet_runner.core.cabling.design import designed, infiniband, macs, places, planned
from fleet_runner.core.cabling.names import names
from fleet_runner.core.checks.answers import conclude, text_of, unless_unread
from fleet_runner.core.checks.catalogue.fabric_cabling import codes, finding
from fleet_runner.core.checks.check import Check, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import lldp
from fleet_runner.core.checks.verdicts import Result

NAME = "cabling_ethernet"


def judge(readings: Readings, expected: Expected) -> Result:
    """FAIL for a neighbour that is not the designed one; a port that hears nobody it can name is UNKNOWN.

    Unless its cable is planned: that is not expected before something is plugged.
    """
    heard = lldp.parse(text_of(readings["lldp"]))
    links = designed(expected.fabric, lambda kind: not infiniband(kind))
    mine = {port for each in links for port in each if port.device == expected.node}
    if not mine:
        return conclude(NAME, [], "no Ethernet link is designed for it", {"designed": 0})
    where = places(expected.fabric)
    known = names([port for each in links for port in each], {}, {})
    verdicts = ethernet.judge(links, {expected.node: heard}, known, where, macs(expected.fabric))
    later = planned(expected.fabric).intersection(verdicts.silent)
    untold = [*verdicts.silent, *verdicts.unmapped]
    unheard = [*(each for each in untold if each not in later), *(each.designed for each in verdicts.doubts)]
    silent = sorted(port for each in unheard for port in each if port in mine)
    count = sum(bool(mine.intersection(each)) for each in links if each not in later)
    facts = {
        "designed": count,
        "planned": sum(bool(mine.intersection(each)) for each in later),
        "silent": [port.interface for port in silent],
    }
    findings = [finding(fault, where.servers) for fault in verdicts.faults]
    unread = [f"{port.interface} receives no LLDP neighbour that can be identified" for port in silent]
    return unless_unread(conclude(NAME, findings, f"Ethernet links as designed: {count}", facts), unread)


CHECK = Check(
    name=NAME,
    question="Is every Ethernet link of the node connected as designed?",
    reads=("lldp",),
    judge=judge,
    needs_fabric=True,
    codes=codes(),
    source="The designed cables of the source of truth; `docs/cabling.md` says how each kind of fault is recognised.",
)
