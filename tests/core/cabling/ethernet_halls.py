"""An Ethernet fabric for tests of whole sweeps: servers on rails of leaves, each leaf at each spine."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from fleet_runner.core.cabling.ethernet_design import EthernetDesign
from fleet_runner.core.cabling.ethernet_sweep import SweepVerdicts, judge
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.names import names
from fleet_runner.core.checks.parsers.forwarding import Learned
from fleet_runner.core.checks.parsers.lldp import Neighbour
from fleet_runner.core.checks.parsers.neighbours.several import HeardByNode, HeardBySwitches

UPLINK = 33
"""The first port of a leaf to a spine."""


class Hall(NamedTuple):
    """A designed fabric, and the address of each server's port."""

    links: tuple[Link, ...]
    servers: tuple[str, ...]
    switches: tuple[str, ...]
    macs: dict[str, Port]

    @property
    def names(self) -> tuple[str, ...]:
        """Return every device."""
        return (*self.servers, *self.switches)


def hall(servers: int, rails: int, spines: int, leaf_servers: int = 4) -> Hall:
    """Return a fabric: a block of servers has a leaf for each rail."""
    hosts = tuple(f"gpu-{number:02d}" for number in range(servers))
    found: list[Link] = []
    leaves: list[str] = []
    for number, host in enumerate(hosts):
        for rail in range(rails):
            leaf = f"leaf-{number // leaf_servers}-{rail}"
            leaves += [leaf] if leaf not in leaves else []
            found.append(link(Port(host, f"eth{rail}"), Port(leaf, f"swp{number % leaf_servers + 1}")))
    top = tuple(f"spine-{number}" for number in range(spines))
    for at, leaf in enumerate(leaves):
        found += [link(Port(leaf, f"swp{UPLINK + n}"), Port(spine, f"swp{at + 1}")) for n, spine in enumerate(top)]
    macs = {
        f"02:00:00:00:{number:02x}:{rail:02x}": Port(host, f"eth{rail}")
        for number, host in enumerate(hosts)
        for rail in range(rails)
    }
    return Hall(tuple(found), hosts, (*leaves, *top), macs)


def heard(cables: Iterable[Link], read: Collection[str], mute: Collection[str] = ()) -> dict[str, list[Neighbour]]:
    """Return what each device that is read hears of devices that are not mute."""
    found: dict[str, list[Neighbour]] = {name: [] for name in read}
    for each in cables:
        for near, far in (each, each[::-1]):
            if near.device in found and far.device not in mute:
                found[near.device].append(Neighbour(near.interface, far.device, far.interface, ""))
    return found


def learned(cables: Iterable[Link], it: Hall, read: Collection[str]) -> dict[str, tuple[Learned, ...]]:
    """Return the addresses that each switch that is read has learned at the ports of servers."""
    address = {port: mac for mac, port in it.macs.items()}
    found: dict[str, list[Learned]] = {name: [] for name in read}
    for each in cables:
        for near, far in (each, each[::-1]):
            if near.device in found and far in address:
                found[near.device].append(Learned(near.interface, address[far]))
    return {name: tuple(rows) for name, rows in found.items()}


def swept(
    it: Hall,
    told: dict[str, list[Neighbour]],
    unread: dict[str, str] | None = None,
    macs: dict[str, tuple[Learned, ...]] | None = None,
    nodes: dict[str, list[Neighbour]] | None = None,
    *,
    between: Collection[Link] = (),
    carriers: dict[Link, tuple[str, ...]] | None = None,
) -> SweepVerdicts:
    """Judge what switches told; `between` are the links between switches that were heard before."""
    design = EthernetDesign(
        it.links,
        names([end for each in it.links for end in each], {}, {}),
        Places({}, {}, frozenset(it.servers), carriers or {}),
        it.macs,
    )
    found = {name: tuple(rows) for name, rows in told.items()}
    before = {name: HeardByNode(1.0, tuple(rows)) for name, rows in (nodes or {}).items()}
    return judge(design, HeardBySwitches(found, unread or {}, macs or {}, before), frozenset(between))
