"""Is every InfiniBand link of the node as designed? The whole fabric is read, the node's own faults are reported."""

from dataclasses import replace

from fleet_runner.core import profile
from fleet_runner.core.cabling.design import designed, guids, infiniband, places
from fleet_runner.core.cabling.explain import Fault, Kind
from fleet_runner.core.cabling.judge import judge as hold
from fleet_runner.core.cabling.names import names
from fleet_runner.core.checks.answers import conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Readings
from fleet_runner.core.evidence import Expected
from fleet_runner.core.parsers import ibnetdiscover
from fleet_runner.core.verdicts import Finding, Remedy, Result

NAME = "cabling_infiniband"


def judge(readings: Readings, expected: Expected) -> Result:
    """FAIL for each fault that touches the node; a capture with a line missing or cut is UNKNOWN."""
    discovery = ibnetdiscover.whole(ibnetdiscover.parse(text_of(readings["ibnetdiscover"])))
    links = designed(expected.fabric, infiniband)
    mine = [each for each in links if expected.node in {each.a.device, each.b.device}]
    if not mine:
        return conclude(NAME, [], "no InfiniBand link is designed for it", {"designed": 0})
    where = places(expected.fabric)
    ports = [port for each in links for port in each]
    adapters = profile.hca_interfaces(expected.profile)
    known = names(ports, guids(expected.fabric), dict.fromkeys(_alike(expected), adapters))
    verdicts = hold(links, discovery.links, known, where, unanswered=discovery.unanswered)
    findings = [_own(fault, where.servers) for fault in verdicts.faults if expected.node in fault.devices]
    observed = {"designed": len(mine), "fabric_matched": verdicts.matched, "fabric_designed": verdicts.designed}
    doubts = [str(doubt) for doubt in verdicts.doubts if expected.node in {port.device for port in doubt.designed}]
    doubts += [f"nothing is heard of {a} to {b}" for a, b in verdicts.silent if expected.node in {a.device, b.device}]
    if findings and verdicts.suspect:
        return conclude(NAME, [_suspect(expected.node, verdicts.suspect)], "", observed)
    return unless_unread(conclude(NAME, findings, f"InfiniBand links as designed: {len(mine)}", observed), doubts)


def _suspect(node: str, why: str) -> Finding:
    """Where most of the fabric differs, what differs at the node is no fault of its own."""
    return Finding(
        code="cabling.suspect",
        component="fabric",
        message=f"The fabric as {node} sees it: {why}",
        remedy=Remedy.RECABLE,
        fault="cabling/suspect/fabric",
        nodes=(node,),
        steps=("Move no cable yet: hold the design in the source of truth against what was built last.",),
    )


def _alike(expected: Expected) -> set[str]:
    """Return the nodes of the node's own device type: their adapters have the same names."""
    types = {name: device.get("device_type") for name, device in expected.fabric.get("devices", {}).items()}
    mine = types.get(expected.node)
    return {expected.node} | {name for name, device_type in types.items() if device_type == mine}


def _own(fault: Fault, servers: frozenset[str]) -> Finding:
    """A new adapter whose link is as designed keeps no node from service: somebody has to write it down."""
    found = finding(fault, servers)
    return replace(found, remedy=Remedy.RECORD) if fault.kind in {Kind.REPLACED_HCA, Kind.REPLACED_SWITCH} else found


def finding(fault: Fault, servers: frozenset[str]) -> Finding:
    """Return a cabling fault as a finding; every server that it is about can prove it gone.

    A dark leaf is about the leaf: that one of its servers is being worked on excuses nobody from looking at it.
    """
    ports = ", ".join(str(port) for port in sorted(fault.ports)[:4])
    nodes = tuple(device for device in fault.subjects if device in servers)
    told = (fault.message, Remedy.RECABLE, fault.key, nodes, fault.steps, fault.subjects)
    return Finding(f"cabling.{fault.kind}", ports, *told)


CHECK = Check(
    name=NAME,
    question="Is every InfiniBand link of the node joined as designed, at full width and speed?",
    reads=("ibnetdiscover",),
    judge=judge,
    needs_fabric=True,
)
