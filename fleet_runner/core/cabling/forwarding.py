"""What is plugged into ports that hear nobody over LLDP, by the addresses that switches learned there.

It is weaker evidence than LLDP: addresses travel through switches that nobody sees, and a server may lend one port's
address to another. So it counts only at a port that is designed for a server and hears nobody, where all addresses
that the source of truth knows are of one server. It may confirm a designed link, or tell that two servers took each
other's port, where both are seen there; all else is doubt. Two ports of one server are never told to be exchanged:
Linux itself exchanges their addresses where a bond fails over (`fail_over_mac=follow`).
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from fleet_runner.core.cabling.ethernet import BelievedLinks, tellings
from fleet_runner.core.cabling.ethernet_design import EthernetDesign
from fleet_runner.core.cabling.links import Link, Port, far_ends
from fleet_runner.core.checks.parsers.forwarding import OF_HOST, Learned
from fleet_runner.core.checks.parsers.lldp import Neighbour

LearnedBySwitches = Mapping[str, Iterable[Learned]]
"""The addresses that each switch learned, by its name in the design."""


def joined(
    heard: BelievedLinks, learned: LearnedBySwitches, design: EthernetDesign
) -> tuple[BelievedLinks, frozenset[Link]]:
    """Return what was heard with what addresses tell beside it, and the believed links that they alone tell."""
    far = far_ends(design.links)
    servers = design.places.servers
    hosts = {port for port, other in far.items() if other.device in servers and port.device not in heard.unclear}
    taken = {port for each in heard.links | heard.disputed for port in each} | heard.hearing | heard.unmapped
    told = tellings(_hosts(learned, design, hosts, taken), design.names, design.links, design.macs).links
    ends: dict[Port, Port] = {}
    for near, each in told.items():
        end = each.b if near == each.a else each.a
        if near in hosts and end.device in servers and taken.isdisjoint(each):
            ends[near] = end
    claims = Counter(ends.values())
    sure = {
        near: end
        for near, end in ends.items()
        if claims[end] == 1 and (far[near] == end or _exchanged(near, end, ends, far))
    }
    links = frozenset(told[near] for near in sure)
    doubts = frozenset(told[near] for near in ends if near not in sure)
    return replace(heard, links=heard.links | links, disputed=heard.disputed | doubts), links


def up(learned: LearnedBySwitches, design: EthernetDesign) -> frozenset[str]:
    """Return the devices at the designed far end of ports at which anything was learned: those cables are up."""
    far = far_ends(design.links)
    return frozenset(far[port].device for port in ports_up(learned, design) if port in far)


def ports_up(learned: LearnedBySwitches, design: EthernetDesign) -> frozenset[Port]:
    """Return the designed ports at which anything was learned."""
    spoken = design.names.spoken
    found = (spoken.get(device, {}).get(row.interface) for device, rows in learned.items() for row in rows)
    return frozenset(port for port in found if port is not None)


def _hosts(
    learned: LearnedBySwitches, design: EthernetDesign, ports: Collection[Port], taken: Collection[Port]
) -> dict[str, list[Neighbour]]:
    """Return the known addresses at ports of one host, as its port would say them itself; `taken` ones need none.

    An address that was learned at several `ports`, which are designed for servers, tells of none.
    """
    macs, spoken = design.macs, design.names.spoken
    at = {(spoken.get(switch, {}).get(row.interface), row.mac) for switch, rows in learned.items() for row in rows}
    count = Counter(mac for port, mac in at if port in ports)
    found: dict[str, list[Neighbour]] = {}
    for switch, rows in learned.items():
        mine: dict[str, list[str]] = defaultdict(list)
        known = spoken.get(switch, {})
        for row in rows:
            port = known.get(row.interface)
            if port is None or (port in ports and port not in taken):  # none may be spelled otherwise than designed
                mine[row.interface].append(row.mac)
        found[switch] = [
            Neighbour(interface, "", mac, "")
            for interface, told in mine.items()
            if len(told) <= OF_HOST and len({macs[mac].device for mac in told if mac in macs}) == 1
            for mac in told
            if mac in macs and count[mac] == 1
        ]
    return found


def _exchanged(near: Port, end: Port, ends: Mapping[Port, Port], far: Mapping[Port, Port]) -> bool:
    """Whether two servers are at each other's port: what is here belongs where what belongs here is."""
    other = far.get(end)
    return other is not None and ends.get(other) == far[near] and end.device != far[near].device
