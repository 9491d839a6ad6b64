"""What a node's RoCE ports are set to, from the tools that tell it, and what of it is not as the profile says.

A setting that is wrong is put right where it is made, in the image or by its configuration management: one finding
for each setting, whichever ports have it. No cable and no part is to blame, and nobody is sent into the hall.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, fault_key
from fleet_runner.core.checks.check import Readings
from fleet_runner.core.checks.evidence import ReadEnd
from fleet_runner.core.checks.parsers import dcb, ethtool, mlnx_qos
from fleet_runner.core.checks.parsers.net_interfaces import Interface
from fleet_runner.core.checks.parsers.roce_files import SIDES, RoceFiles
from fleet_runner.core.checks.reads import apart
from fleet_runner.core.checks.verdicts import Finding, Remedy
from fleet_runner.core.inventory.roce import RoceProfile

Told = TypeVar("Told")

CORRECT = "correct the image's network settings"


@dataclass(frozen=True, slots=True)
class PortSettings:
    """What one interface is set to; None and empty where nobody tells. `unread` says why, by setting.

    `dscp` has the code points that are told, `ecn` each side of DCQCN and priority.
    """

    interface: str
    mtu: int | None = None
    pfc: frozenset[int] | None = None
    trust: str = ""
    dscp: Mapping[int, int] = field(default_factory=dict[int, int])
    ecn: Mapping[tuple[str, int], bool] = field(default_factory=dict[tuple[str, int], bool])
    fec: frozenset[str] = frozenset()
    unread: Mapping[str, str] = field(default_factory=dict[str, str])


class Answers:
    """What each tool said of each interface."""

    def __init__(self, readings: Readings) -> None:
        self._said = {name: apart(readings[name]) for name in TOOLS}

    def of(self, tool: str, interface: str, parse: Callable[[str], Told]) -> tuple[Told | None, str]:
        """Return what a tool said of an interface, or why that is not known."""
        said = self._said[tool].get(interface)
        if said is None:
            return None, f"{TOOLS[tool]} was not asked"
        if said.end is ReadEnd.MISSING:
            return None, f"{TOOLS[tool]} is not on the node"
        if said.end is not ReadEnd.OK or said.rc:
            why = said.error.strip().splitlines()
            return None, f"{TOOLS[tool]}: {why[0] if why else f'it ended with {said.rc}':.120}"
        try:
            return parse(said.text), ""
        except EvidenceError as error:
            return None, str(error)


TOOLS: Mapping[str, str] = {
    "mlnx_qos": "mlnx_qos",
    "dcb_pfc": "dcb",
    "dcb_app": "dcb",
    "ethtool_fec": "ethtool",
    "ethtool_statistics": "ethtool",
}
"""The reads of each interface, and the tool of each."""


def settings(found: Interface, answers: Answers, kernel: RoceFiles) -> PortSettings:
    """Return what an interface is set to. Where two tools tell the same setting differently, neither is believed."""
    name = found.name
    qos, no_qos = answers.of("mlnx_qos", name, mlnx_qos.parse)
    switched, no_dcb = answers.of("dcb_pfc", name, dcb.pfc)
    mapped, no_app = answers.of("dcb_app", name, dcb.dscp)
    active, no_fec = answers.of("ethtool_fec", name, ethtool.fec)
    pfc, trust, points = _both(qos.pfc if qos else None, switched), qos.trust if qos else "", qos.dscp if qos else {}
    unread: dict[str, str] = {}
    if pfc is None:
        apart_ = (
            f"mlnx_qos says PFC {numbers(qos.pfc)}, dcb {numbers(switched)}" if qos and switched is not None else ""
        )
        unread["pfc"] = apart_ or _why(no_qos, no_dcb)
    if not trust and mapped:
        trust = "dscp"  # the kernel has entries for code points only while the port trusts them
    unread |= {} if trust else {"trust": _why(no_qos, no_app) or "dcb tells no priorities of DSCP; mlnx_qos tells"}
    unread |= {} if points or mapped else {"dscp": _why(no_qos, no_app) or "no priorities of DSCP are told"}
    if found.state == "down" or found.carrier == 0:
        active, no_fec = None, "the link is down"
    unread |= {} if active else {"fec": no_fec}
    ecn = {(side, priority): on for (interface, side, priority), on in kernel.ecn.items() if interface == name}
    return PortSettings(name, found.mtu, pfc, trust, points or mapped or {}, ecn, active or frozenset(), unread)


def _both(one: frozenset[int] | None, other: frozenset[int] | None) -> frozenset[int] | None:
    if one is None or other is None:
        return other if one is None else one
    return one if one == other else None


def _why(*reasons: str) -> str:
    return " and ".join(dict.fromkeys(reason for reason in reasons if reason))


def numbers(priorities: Iterable[int]) -> str:
    """Return priorities as people write them: "3, 4"; "none" of none."""
    return ", ".join(map(str, sorted(priorities))) or "none"


class Wrong(NamedTuple):
    """A setting that is not as the profile says: its code's ending, its part, what was found and what is expected."""

    code: str
    component: str
    found: str
    expected: str


def wrong(mine: PortSettings, wanted: RoceProfile) -> Iterator[Wrong]:
    """Yield what of one interface is surely not as the profile says, its MTU aside."""
    if wanted.pfc is not None and mine.pfc is not None and mine.pfc != wanted.pfc:
        yield Wrong("pfc", "PFC", f"PFC is on for priorities {numbers(mine.pfc)}", numbers(wanted.pfc))
    if wanted.trust and mine.trust and mine.trust != wanted.trust:
        yield Wrong("trust", "trust", f"the port trusts {mine.trust}", wanted.trust)
    for point, priority in sorted(wanted.dscp.items()):
        told = mine.dscp.get(point)
        if mine.trust == "dscp" and mine.dscp and told != priority:
            into = "no priority" if told is None else f"priority {told}"
            yield Wrong("dscp", f"DSCP {point}", f"DSCP {point} goes to {into}", str(priority))
    for side, what in SIDES.items():
        off = [priority for priority in wanted.ecn if mine.ecn.get((side, priority)) is False]
        if off:
            yield Wrong("ecn", f"ECN {side}", f"the {what} of DCQCN is off for priorities {numbers(off)}", "on")
    if wanted.fec and mine.fec and not mine.fec <= {"none" if word == "off" else word for word in wanted.fec}:
        yield Wrong("fec", "FEC", f"FEC is {' and '.join(sorted(mine.fec))}", " or ".join(wanted.fec))


def findings(ports: Iterable[PortSettings], wanted: RoceProfile, node: str) -> Iterator[Finding]:
    """Yield one finding for each setting that is wrong somewhere, and one for each port's MTU as `nic_ports` does."""
    groups: dict[tuple[str, str, str], dict[str, list[str]]] = defaultdict(dict)
    for mine in ports:
        for each in wrong(mine, wanted):
            groups[each.code, each.component, each.expected].setdefault(each.found, []).append(mine.interface)
        if wanted.mtu and mine.mtu and mine.mtu != wanted.mtu:
            yield replace(
                about(node, "roce.mtu", mine.interface)(
                    message=f"{mine.interface} has an MTU of {mine.mtu}, expected {wanted.mtu}; {CORRECT}",
                    remedy=Remedy.WATCH,
                ),
                fault=fault_key(node, "nic.mtu", mine.interface),
            )
    for (code, component, expected), found in groups.items():
        told = "; ".join(f"{what} at {', '.join(names)}" for what, names in found.items())
        yield about(node, f"roce.{code}", component)(
            message=f"{told}, expected {expected}; {CORRECT}", remedy=Remedy.WATCH
        )


def announced(
    told: Mapping[str, frozenset[int]], interfaces: Iterable[str], wanted: RoceProfile, node: str
) -> Iterator[Finding]:
    """Yield one finding for all ports whose switch announces another PFC by DCBX than the profile has."""
    groups: dict[frozenset[int], list[str]] = defaultdict(list)
    for name in interfaces:
        if wanted.pfc is not None and told.get(name, wanted.pfc) != wanted.pfc:
            groups[told[name]].append(name)
    if groups:
        found = "; ".join(f"{numbers(pfc)} at {', '.join(names)}" for pfc, names in groups.items())
        yield about(node, "roce.dcbx", "DCBX")(
            message=f"by DCBX the switch announces PFC for priorities {found}, expected"
            f" {numbers(wanted.pfc or ())}; correct the configuration of the switch's port",
            remedy=Remedy.WATCH,
        )


def unread(mine: PortSettings, wanted: RoceProfile) -> Iterator[str]:
    """Yield what the profile wants of an interface and nobody tells."""
    asked = {
        "pfc": wanted.pfc is not None and mine.pfc is None,
        "trust": bool(wanted.trust) and not mine.trust,
        "dscp": bool(wanted.dscp) and not mine.dscp,
        "fec": bool(wanted.fec) and not mine.fec,
    }
    for what, missing in asked.items():
        if missing:
            yield f"{mine.interface}: {what} is not known: {mine.unread[what]}"
    if wanted.mtu and mine.mtu is None:
        yield f"{mine.interface} reports no MTU"
    if any((side, priority) not in mine.ecn for side in SIDES for priority in wanted.ecn):
        yield (
            f"{mine.interface}: no file of its driver (/sys/class/net/{mine.interface}/ecn) tells whether DCQCN is"
            " on; take ecn out of the profile"
        )
