"""A fabric in layers: nodes below leaves below spines, with each designed link's rail."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fleet_runner.core.cabling.fabrics import Fabric, cables_of
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.picture_layout import natural
from fleet_runner.core.inventory.records import PLANNED, REMOVED, Fleet, rack_key

MIXED = 0
"""The rail of a leaf that has several, and of a link between switches."""


@dataclass(frozen=True, slots=True)
class Layers:
    """A fabric's devices by layer, by name, and its designed links.

    `rails` numbers node ports as each node's own ports follow each other, from 1. `racks` is keyed by device:
    "SITE/RACK", "SITE" where no rack is known.
    """

    nodes: tuple[str, ...]
    leaves: tuple[str, ...]
    spines: tuple[str, ...]
    links: tuple[Link, ...]
    rails: Mapping[Port, int]
    racks: Mapping[str, str]

    def rail(self, joined: Link) -> int:
        """Return the rail of a link; MIXED between switches."""
        return self.rails.get(joined.a) or self.rails.get(joined.b) or MIXED


def layers(fleet: Fleet, fabric: Fabric) -> Layers:
    """Return a fabric in layers: a leaf is a switch that a node is joined to. What is yet to come is left out."""
    every = [
        link(cable.a, cable.b) for cable in cables_of(fleet, fabric.kind) if cable.status not in {PLANNED, REMOVED}
    ]
    mine = [each for each in every if each.a.device in fabric.switches or each.b.device in fabric.switches]
    nodes = {port.device for port in fabric.ports}
    leaves = {near.device for a, b in mine for near, far in ((a, b), (b, a)) if far.device in nodes} - nodes
    devices = nodes | fabric.switches
    return Layers(
        nodes=_named(nodes),
        leaves=_named(leaves & fabric.switches),
        spines=_named(fabric.switches - leaves),
        links=tuple(mine),
        rails=_rails(every, nodes),
        racks={name: _rack(fleet, name) for name in devices},
    )


def _named(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=natural))


def _rails(every: Iterable[Link], nodes: set[str]) -> dict[Port, int]:
    ports: dict[str, set[Port]] = defaultdict(set)
    for joined in every:
        for port in joined:
            if port.device in nodes:
                ports[port.device].add(port)
    ordered = (sorted(mine, key=lambda port: natural(port.interface)) for mine in ports.values())
    return {port: number for mine in ordered for number, port in enumerate(mine, start=1)}


def _rack(fleet: Fleet, name: str) -> str:
    device = fleet.devices.get(name)
    if device is None:
        return ""
    return rack_key(device.site, device.rack) if device.rack else device.site
