"""A fabric of servers, leaves and spines, built from a few numbers: its cables, its netlist, its console lines."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

GUID_HCA = 0xE41D2D0300000000
GUID_SWITCH = 0xFC6A1C0300000000
"""What the GUIDs of this fabric begin with: vendors' prefixes, with numbers made up."""

FACTORY_NAME = "MT4129 ConnectX7   Mellanox Technologies"
"""What an adapter calls itself until somebody names it."""

RATE = "4xHDR"
"""What each link of this fabric runs at; HDR is the simulator's top speed."""

TRUNK_LEAVES = 4
"""Leaves whose cables to one spine share a trunk."""


class End(NamedTuple):
    """A port, as the design names it: ("gpu-007", "mlx5_3") or ("leaf-02", "33")."""

    device: str
    port: str

    def __str__(self) -> str:
        return f"{self.device} {self.port}"


class Plug(NamedTuple):
    """One cable."""

    a: End
    b: End


class Shelf(NamedTuple):
    """A device that lies ready and that no design knows: its port, its name in the fabric, the rate it can run at."""

    end: End
    name: str
    rate: str = RATE


@dataclass(frozen=True, slots=True)
class Fabric:
    """`leaf_servers` servers share a leaf per rail; each leaf has `ways` cables to each of the spines.

    The first `plane` servers have one more port, in a plane of its own that no cable joins to the others.
    """

    servers: int = 64
    rails: int = 8
    leaf_servers: int = 32
    spines: int = 8
    ways: int = 3
    radix: int = 64
    plane: int = 0

    @property
    def leaves(self) -> int:
        """Return how many leaves there are."""
        return -(-self.servers // self.leaf_servers) * self.rails

    def cables(self) -> list[Plug]:
        """Return the design: servers to leaves, leaves to spines, then the other plane."""
        down = [self.down(server, rail) for server in range(self.servers) for rail in range(self.rails)]
        up = [
            self.up(leaf, spine, way)
            for leaf in range(self.leaves)
            for spine in range(self.spines)
            for way in range(self.ways)
        ]
        return [*down, *up, *map(self._other, range(self.plane))]

    def down(self, server: int, rail: int) -> Plug:
        """Return a server's cable of a rail; both are counted from 0."""
        group, slot = divmod(server, self.leaf_servers)
        leaf = End(leaf_name(group * self.rails + rail), str(slot + 1))
        return Plug(End(server_name(server), f"mlx5_{rail}"), leaf)

    def up(self, leaf: int, spine: int, way: int) -> Plug:
        """Return one of a leaf's cables to a spine; all are counted from 0."""
        port = self.leaf_servers + spine * self.ways + way + 1
        return Plug(End(leaf_name(leaf), str(port)), End(spine_name(spine), str(leaf * self.ways + way + 1)))

    def of(self, device: str) -> list[Plug]:
        """Return every designed cable of a device."""
        return [cable for cable in self.cables() if device in (cable.a.device, cable.b.device)]

    def free(self, leaf: str, number: int) -> End:
        """Return a port of a leaf that no designed cable uses, counted from 0."""
        return End(leaf, str(self.leaf_servers + self.spines * self.ways + number + 1))

    def trunk(self, leaf: int, spine: int) -> list[Plug]:
        """Return the cables that share the trunk of a leaf's cables to a spine."""
        first = leaf - leaf % TRUNK_LEAVES
        return [self.up(each, spine, way) for each in range(first, first + TRUNK_LEAVES) for way in range(self.ways)]

    def csv(self) -> str:
        """Return the design as device,port,device,port."""
        rows = [f"{a.device},{a.port},{b.device},{b.port}" for a, b in self.cables()]
        return "\n".join(["device,port,device,port", *rows]) + "\n"

    def netlist(self, shelf: Iterable[Shelf] = ()) -> str:
        """Return what ibsim loads: every device with its own side of its cables, and what lies on the shelf.

        A rate can only be given to a port with a cable, so the shelf is a switch that nothing else is plugged into.
        """
        lying = {each.end: each for each in shelf}
        cables = [*self.cables(), *(shelved(end, number) for number, end in enumerate(lying))]
        ports: dict[str, list[str]] = {}
        names: dict[str, str] = {}
        for cable in cables:
            for near, far in (cable, reversed(cable)):
                names[record(near)] = lying[near].name if near in lying else _name(near)
                rate = lying[near].rate if near in lying else RATE
                ports.setdefault(record(near), []).append(
                    f'[{number(near)}]\t{console(far)}\t\t# "{far.device}" lid 0 {rate}'
                )
        heads = (self._head(each, place, names[each]) for place, each in enumerate(ports))
        records = (head + "\n".join(rows) + "\n" for head, rows in zip(heads, ports.values(), strict=True))
        return "speed=7\nextspeed=7\n\n" + "\n".join(records) + "\n"

    def _other(self, server: int) -> Plug:
        return Plug(End(server_name(server), f"mlx5_{self.rails}"), End("plane-2", str(server + 1)))

    def _head(self, name: str, place: int, said: str) -> str:
        if name.startswith("S-"):
            return f'switchguid=0x{GUID_SWITCH + place * 256:x}\nSwitch\t{self.radix} "{name}"\t\t# "{said}"\n'
        return f'caguid=0x{GUID_HCA + place * 256:x}\nCa\t1 "{name}"\t\t# "{said}"\n'

    def guids(self) -> Iterator[tuple[str, int]]:
        """Return the node GUID of each record of the netlist, by the record's name."""
        names = dict.fromkeys(record(end) for cable in self.cables() for end in cable)
        for place, name in enumerate(names):
            yield name, (GUID_SWITCH if name.startswith("S-") else GUID_HCA) + place * 256


def server_name(server: int) -> str:
    """Return the name of a server, counted from 0."""
    return f"gpu-{server + 1:03d}"


def leaf_name(leaf: int) -> str:
    """Return the name of a leaf, counted from 0."""
    return f"leaf-{leaf + 1:02d}"


def spine_name(spine: int) -> str:
    """Return the name of a spine, counted from 0."""
    return f"spine-{spine + 1:02d}"


def shelved(end: End, number: int) -> Plug:
    """Return the cable that holds a device on the shelf, in the order in which they lie there."""
    return Plug(end, End("shelf", str(number + 1)))


def number(end: End) -> int:
    """Return the port's number: an HCA has one port."""
    return 1 if end.port.startswith("mlx5_") else int(end.port)


def record(end: End) -> str:
    """Return the netlist's name for what a port is part of: each HCA is a record of its own."""
    return f"H-{end.device}-{end.port}" if end.port.startswith("mlx5_") else f"S-{end.device}"


def console(end: End) -> str:
    """Return a port as ibsim's console and netlist write it."""
    return f'"{record(end)}"[{number(end)}]'


def unlink(cable: Plug) -> str:
    """Return the console line that takes a cable out."""
    return f"Unlink {console(cable.a)}"


def relink(end: End) -> str:
    """Return the console line that plugs the cable back in which was last taken out of a port."""
    return f"ReLink {console(end)}"


def join(cable: Plug) -> str:
    """Return the console line that puts a cable in."""
    return f"Link {console(cable.a)} {console(cable.b)}"


def renumber(name: str, guid: int) -> list[str]:
    """Return the console lines that give a record another node GUID, and its port the one behind it."""
    port = [f'Guid "{name}"[1] {guid + 1:#x}'] if name.startswith("H-") else []
    return [f'Guid "{name}" {guid:#x}', *port]


def deafen(name: str, percent: int = 100) -> str:
    """Return the console line that has a record lose so much of what it is asked; its ports stay up."""
    return f'Error "{name}" {percent}'


def count(end: End, counter: str, value: int) -> str:
    """Return the console line that sets an error counter of a port ("PortCounters.LinkDownedCounter")."""
    return f"PerformanceSet {console(end)} {counter}={value}"


def _name(end: End) -> str:
    return f"{end.device} {end.port}" if end.port.startswith("mlx5_") else end.device
