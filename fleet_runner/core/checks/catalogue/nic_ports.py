"""Are the node's Ethernet interfaces up, as fast as they should be, and do they lose nothing?

They are those that the source of truth connects to something, and those that the profile names. A port that is down
or slow has the key that the cabling's checks give to its link: one fault, one ticket. How often a link goes down is
for `link_flaps` to judge, which knows when; the kernel's own count is recorded.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import net_interfaces as parser
from fleet_runner.core.checks.parsers.bonding import Bond
from fleet_runner.core.checks.parsers.net_interfaces import Interface
from fleet_runner.core.checks.shared.counter_growth import Growth, growth
from fleet_runner.core.checks.shared.link_ends import CLEAN, both, here, missing_key, slow_key, there
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile
from fleet_runner.core.inventory.profile import Section

NAME, SECTION = "nic_ports", "network"

CARRIER_CHANGES = 10
"""Changes of a carrier within a day from which on a link is told of: five losses, and as many returns (AzNHC)."""

ERRORS = ("rx_errors", "tx_errors", "rx_crc_errors", "rx_missed_errors")
"""Counters that a good link does not move; what a busy host drops (rx_dropped) is only told."""

ERROR_SHARE = 1e-6
"""Errors for each received packet beyond which somebody should look: a link within its bit error rate of 1e-12 (IEEE
802.3) loses about one packet of 9000 bytes in ten million."""

ERRORS_LEAST = 100
"""Fewer errors in a day are no matter, however little was sent."""

_TYPE = re.compile(r"(?:(?P<gigabits>[0-9]{1,4}(?:\.5)?)g|(?P<megabits>[0-9]{2,4}))base-", re.ASCII)
"""NetBox's interface types begin with their speed: "25gbase-x-sfp28", "1000base-t"."""


class ExpectedInterface(NamedTuple):
    """What is expected of an interface; None where nothing is."""

    name: str
    speed_mbps: int | None
    mtu: int | None


class Counted(NamedTuple):
    """How far an interface's counters grew."""

    mine: Mapping[str, int]
    growth: Growth


def judge(readings: Readings, expected: Expected) -> Result:
    """Judge the interfaces that are wanted, and the bonds of the profile; an interface that nobody wants is none."""
    section = profile.section(expected.profile, SECTION)
    network = parser.parse(text_of(readings["network_interfaces"]))
    wanted = _wanted(section, expected)
    bonds = _bonds(section)
    if not wanted and not bonds:
        return conclude(NAME, [], "no Ethernet interface is connected, and the profile names none", {})
    known = [network.interfaces[name] for name in wanted if name in network.interfaces]
    if wanted and not known:
        raise EvidenceError(
            f"none of {', '.join(list(wanted)[:3])} is among the node's interfaces"
            f" ({', '.join(list(network.interfaces)[:8])}): the source of truth has other names; correct it"
        )
    counts = {f"{each.name}/{name}": count for each in known for name, count in _counts(each).items()}
    grown = growth(NAME, counts, readings["network_interfaces"], expected, anew=True)
    findings: list[Finding] = []
    for name, each in wanted.items():
        findings += _findings(network.interfaces.get(name), each, expected)
    for nic in known:
        mine = {name: grown.grown.get(f"{nic.name}/{name}", 0) for name in _counts(nic)}
        findings += _errors(nic.name, Counted(mine, grown), expected.node)
    told = {finding.component for finding in findings}
    for name, members in bonds.items():
        findings += _bond((name, members), network.bonds.get(name), told, expected)
    unread = [text for each in known for text in _unread(each, wanted[each.name])]
    unread += [text for name in bonds if name in network.bonds for text in _untold(name, network.bonds[name])]
    bonded = {member.name for bond in network.bonds.values() for member in bond.members}
    observed = {
        "interfaces": {each.name: f"{each.state} {each.speed_mbps or '?'} Mb/s" for each in known},
        # A bond gives its members its own address.
        "macs": {each.name: each.mac for each in known if each.mac and each.name not in bonded},
        "bonds": {name: [member.name for member in bond.members] for name, bond in network.bonds.items()},
        "counts": {
            each.name: {name: count for name, count in _counts(each).items() if name != "rx_packets"}
            for each in known
        },
        "grown": grown.grown,
        "looks": grown.looks,
    }
    passed = f"{len(wanted)} interfaces and {len(bonds)} bonds are up"
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _wanted(section: Section, expected: Expected) -> dict[str, ExpectedInterface]:
    """Return the connected interfaces of the source of truth with the speed of their type, and the profile's own."""
    mtu = section.whole("mtu") if section.has("mtu") else None
    kinds = _kinds(expected.device)
    joined = {str(each.get("interface")) for each in expected.device.get("links") or () if isinstance(each, Mapping)}
    found = {
        name: ExpectedInterface(name, _speed(kind), mtu)
        for name, kind in kinds.items()
        if name in joined and not kind.startswith("infiniband")
    }
    for name, given in _mapping(section, "interfaces").items():
        mine = Section(f"{SECTION}.interfaces.{name}", given if isinstance(given, Mapping) else {})
        found[name] = ExpectedInterface(
            name,
            mine.whole("speed_mbps") if mine.has("speed_mbps") else None,
            mine.whole("mtu") if mine.has("mtu") else mtu,
        )
    return found


def _speed(kind: str) -> int | None:
    told = _TYPE.match(kind)
    if told is None:
        return None
    return int(told["megabits"]) if told["megabits"] else int(float(told["gigabits"]) * 1000)


def _kinds(device: Mapping[str, Any]) -> dict[str, str]:
    rows = device.get("interfaces") or ()
    if not isinstance(rows, list | tuple) or not all(isinstance(row, Mapping) for row in rows):
        raise EvidenceError(f"fleet_device.interfaces: found {rows!r:.80}, expected a list; look at the inventory")
    return {str(row.get("name")): str(row.get("kind") or "") for row in rows if not row.get("mgmt_only")}


def _bonds(section: Section) -> dict[str, int]:
    """Return how many members each bond of the profile must have."""
    return {
        name: Section(f"{SECTION}.bonds", {name: members}).whole(name)
        for name, members in _mapping(section, "bonds").items()
    }


def _mapping(section: Section, name: str) -> dict[str, Any]:
    value = section.values.get(name) or {}
    if not isinstance(value, Mapping):
        raise EvidenceError(
            f"fleet_profile.{section.key}.{name}: found {value!r:.80}, expected a mapping; correct the device type's"
            " file in inventory/group_vars"
        )
    return {str(key): each for key, each in value.items()}


def _findings(found: Interface | None, wanted: ExpectedInterface, expected: Expected) -> Iterator[Finding]:
    name = wanted.name
    if found is None:
        yield about(expected.node, "nic.missing", name)(
            message=f"{name} is not among the node's interfaces, expected by the source of truth or the profile",
            remedy=Remedy.TRIAGE,
            steps=(
                f"Look whether the kernel sees the adapter of {name} (lspci), and reseat it if not.",
                "If the interface only has another name, correct the source of truth.",
            ),
        )
        return
    if found.state == "down" or found.carrier == 0:
        yield _cable(
            about(expected.node, "nic.down", name)(
                message=f"{name} is {found.state or 'without a carrier'}, expected up", remedy=Remedy.RECABLE
            ),
            missing_key(expected, name),
            expected,
        )
        return
    if wanted.speed_mbps and found.speed_mbps and found.speed_mbps < wanted.speed_mbps:
        yield _cable(
            about(expected.node, "nic.slow", name)(
                message=f"{name} runs at {found.speed_mbps} Mb/s, expected {wanted.speed_mbps}", remedy=Remedy.RECABLE
            ),
            slow_key(expected, name),
            expected,
        )
    if found.duplex == "half":
        yield about(expected.node, "nic.half_duplex", name)(
            message=f"{name} runs at half duplex, expected full; set both ends to negotiate", remedy=Remedy.WATCH
        )
    if wanted.mtu and found.mtu and found.mtu != wanted.mtu:
        yield about(expected.node, "nic.mtu", name)(
            message=f"{name} has an MTU of {found.mtu}, expected {wanted.mtu}; correct the image's network settings",
            remedy=Remedy.WATCH,
        )


def _cable(finding: Finding, fault: str, expected: Expected) -> Finding:
    steps = (
        f"At {here(expected, finding.component)}: {CLEAN}.",
        f"At its other end, {there(expected, finding.component)}: do the same.",
        "If it stays, replace the cable with its modules.",
    )
    touched = both(expected, finding.component)
    return replace(finding, fault=fault or finding.fault, steps=steps, devices=touched)


def _counts(found: Interface) -> dict[str, int]:
    kept = {name: found.statistics[name] for name in (*ERRORS, "rx_packets") if name in found.statistics}
    return kept if found.carrier_changes is None else kept | {"carrier_changes": found.carrier_changes}


def _errors(name: str, counted: Counted, node: str) -> Iterator[Finding]:
    mine, hours = counted.mine, counted.growth.hours
    changes = mine.get("carrier_changes", 0)
    if changes >= CARRIER_CHANGES:
        yield about(node, "nic.carrier_changes", name)(
            message=f"the carrier of {name} changed {changes} times in {hours}, expected fewer than"
            f" {CARRIER_CHANGES}; link_flaps shows when",
            remedy=Remedy.RECORD,
        )
    packets = mine.get("rx_packets", 0)
    for what in ERRORS:
        count, most = mine.get(what, 0), max(ERRORS_LEAST, ERROR_SHARE * packets)
        if count > most:
            yield about(node, "nic.errors", f"{name} {what}")(
                message=f"{name} counted {count} {what} in {hours} over {packets} packets, allowed {most:.0f}",
                remedy=Remedy.WATCH,
            )


def _bond(wanted: tuple[str, int], bond: Bond | None, told: set[str], expected: Expected) -> Iterator[Finding]:
    """Judge a bond; of a member whose own link has a finding (`told`), nothing is said again."""
    name, members = wanted
    if bond is None:
        yield about(expected.node, "nic.missing", name)(
            message=f"the bond {name} is not there, expected one of {members} interfaces",
            remedy=Remedy.TRIAGE,
            steps=(f"Look at the image's network settings for {name}.",),
        )
        return
    down = [each.name for each in bond.members if each.status and each.status != "up"]
    up = [each for each in bond.members if each.status == "up"]
    left = members - sum(each in told for each in down)
    if len(up) < left and all(each.status for each in bond.members):
        message = f"{len(up)} of {members} interfaces of {name} are up; down: {', '.join(down) or 'none'}"
        yield _member(name, message, expected)
    apart = [each.name for each in up if bond.lacp and _apart(bond, each.aggregator, churned=each.churned)]
    if apart:
        yield about(expected.node, "nic.lacp", name)(
            message=f"{', '.join(apart)} of {name} are not in its LACP group; look at the switch's port channel",
            remedy=Remedy.RECABLE,
            steps=tuple(
                f"Look at {there(expected, each)}: is it the port of {name}'s channel, and does it speak LACP?"
                for each in apart
            ),
        )


def _apart(bond: Bond, aggregator: int | None, *, churned: bool) -> bool:
    """Whether a member that is up carries nothing: it is in another aggregator than the one in use, or churns."""
    first = bond.aggregator if bond.aggregator is not None else next(
        (each.aggregator for each in bond.members if each.aggregator is not None), None
    )  # fmt: skip
    return churned or (aggregator is not None and first is not None and aggregator != first)


def _member(name: str, message: str, expected: Expected) -> Finding:
    return about(expected.node, "nic.bond_member", name)(
        message=message,
        remedy=Remedy.RECABLE,
        steps=(f"Look at the ports of {name} that are down, at {here(expected, name)}, and at their other ends.",),
    )


def _unread(found: Interface, wanted: ExpectedInterface) -> Iterator[str]:
    if not found.state and found.carrier is None:
        yield f"{found.name} does not report whether it is up"
    elif wanted.speed_mbps and found.speed_mbps is None and found.state == "up":
        yield f"{found.name} reports no speed"
    if wanted.mtu and found.mtu is None:
        yield f"{found.name} reports no MTU"


def _untold(name: str, bond: Bond) -> Iterator[str]:
    if any(not each.status for each in bond.members):
        yield f"{name} does not report of each of its interfaces whether it is up"


CHECK = Check(
    name=NAME,
    question="Are the node's Ethernet interfaces and bonds up, at full speed, without errors?",
    reads=("network_interfaces",),
    judge=judge,
    remembers=True,
    section=SECTION,
    codes=(
        Code("nic.missing", (Remedy.TRIAGE,), "an interface or a bond that should be there is not"),
        Code("nic.down", (Remedy.RECABLE,), "a connected interface is down or has no carrier"),
        Code("nic.slow", (Remedy.RECABLE,), "an interface runs below the speed of its type, or of the profile"),
        Code("nic.half_duplex", (Remedy.WATCH,), "an interface runs at half duplex"),
        Code("nic.mtu", (Remedy.WATCH,), "an interface has another MTU than `network.mtu`"),
        Code("nic.bond_member", (Remedy.RECABLE,), "fewer interfaces of a bond are up than `network.bonds` says"),
        Code("nic.lacp", (Remedy.RECABLE,), "an interface of a bond is up and not in its LACP group"),
        Code("nic.errors", (Remedy.WATCH,), "over a hundred errors within a day, and over one in a million packets"),
        Code("nic.carrier_changes", (Remedy.RECORD,), "ten changes of carrier within a day; `link_flaps` decides"),
    ),
    source="The source of truth's cables and interface types, the profile's `network`; five lost carriers in a day as"
    " in AzNHC; the error share from IEEE 802.3's bit error rate.",
)
