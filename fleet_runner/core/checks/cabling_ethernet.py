"""Is every Ethernet link of the node as designed? Its own LLDP neighbours are held against the design."""

import re
from collections.abc import Iterable, Mapping

from fleet_runner.core.cabling.design import designed, infiniband, places
from fleet_runner.core.cabling.judge import hold
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.names import Bound, Names, bind_port, names
from fleet_runner.core.checks.answers import conclude, text_of, unless_unread
from fleet_runner.core.checks.cabling_infiniband import finding
from fleet_runner.core.checks.check import Check, Readings
from fleet_runner.core.evidence import Expected
from fleet_runner.core.parsers import lldp
from fleet_runner.core.parsers.lldp import Neighbour
from fleet_runner.core.verdicts import Result

NAME = "cabling_ethernet"

_PLAIN_PORT = re.compile(r"[A-Za-z]+([0-9]{1,9})$")
"""An interface that is a word and a number: "swp7" may be what the design calls "7"; "Ethernet1/7/2" may not."""

_ADDRESS = re.compile(r"([0-9a-fA-F]{2}[:.-]){5}[0-9a-fA-F]{2}$")


def judge(readings: Readings, expected: Expected) -> Result:
    """FAIL for a neighbour that is not the designed one; a port that hears nobody it can name is UNKNOWN."""
    heard = lldp.parse(text_of(readings["lldp"]))
    links = designed(expected.fabric, lambda kind: not infiniband(kind))
    mine = {port: each for each in links for port in each if port.device == expected.node}
    if not mine:
        return conclude(NAME, [], "no Ethernet link is designed for it", {"designed": 0})
    observed = _observed(expected.node, heard, names([port for each in links for port in each], {}, {}))
    told = {port: _one(observed.get(port, set()), mine.get(port)) for port in mine.keys() | observed.keys()}
    silent = sorted(port for port in mine if told[port] is None)
    where = places(expected.fabric)
    seen = {each: "" for each in told.values() if each}
    answering = {each for port, each in mine.items() if port not in silent}
    faults = hold(answering, Bound(seen), where).faults
    count = len(set(mine.values()))
    facts = {"designed": count, "silent": [port.interface for port in silent]}
    findings = [finding(fault, where.servers) for fault in faults]
    unread = [f"{port.interface} hears no LLDP neighbour that can be told" for port in silent]
    return unless_unread(conclude(NAME, findings, f"Ethernet links as designed: {count}", facts), unread)


def _observed(node: str, heard: Iterable[Neighbour], known: Names) -> Mapping[Port, set[Link]]:
    """Return the links that each of the node's ports hears of, from neighbours that give their name."""
    found: dict[Port, set[Link]] = {}
    for each in heard:
        near = bind_port(node, each.interface, known)
        far = _far(each, known)
        if far is not None:
            found.setdefault(near, set()).add(link(near, far))
    return found


def _far(heard: Neighbour, known: Names) -> Port | None:
    """A neighbour names its port by id or, where the id is an address, by description."""
    if not heard.system:
        return None
    device = bind_port(heard.system, "", known).device
    spoken = known.spoken.get(device, {})
    for name in (heard.port, heard.description):
        plain = _PLAIN_PORT.match(name)
        port = spoken.get(name) or (spoken.get(str(int(plain[1]))) if plain else None)
        if port:
            return port
    told = heard.description if not heard.port or _ADDRESS.match(heard.port) else heard.port
    return Port(device, told) if told else None


def _one(heard: set[Link], mine: Link | None) -> Link | None:
    """Several systems may answer at a port, a switch and an adapter's own agent: the designed one counts."""
    if mine in heard:
        return mine
    return next(iter(heard)) if len(heard) == 1 else None


CHECK = Check(
    name=NAME,
    question="Is every Ethernet link of the node joined as designed?",
    reads=("lldp",),
    judge=judge,
    needs_fabric=True,
)
