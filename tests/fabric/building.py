"""A fabric of servers, leaves and spines, built from a few numbers: its design, its netlist, its console lines."""

from dataclasses import dataclass
from typing import NamedTuple

FIRST_UPLINK = 33
"""Leaf ports below are the servers'; from here on the spines'."""


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


@dataclass(frozen=True, slots=True)
class Fabric:
    """`leaf_servers` servers share a leaf per rail; a leaf has as many cables up as down, spread over the spines."""

    servers: int = 64
    rails: int = 8
    leaf_servers: int = 32
    spines: int = 8

    @property
    def leaves(self) -> int:
        """Return how many leaves there are."""
        return -(-self.servers // self.leaf_servers) * self.rails

    def cables(self) -> list[Plug]:
        """Return the design: servers to leaves, then leaves to spines."""
        return [*self._down(), *self._up()]

    def csv(self) -> str:
        """Return the design as device,port,device,port."""
        rows = [f"{a.device},{a.port},{b.device},{b.port}" for a, b in self.cables()]
        return "\n".join(["device,port,device,port", *rows]) + "\n"

    def netlist(self) -> str:
        """Return what ibsim loads: every device with its own side of its cables."""
        ports: dict[str, list[str]] = {}
        for a, b in self.cables():
            for near, far in ((a, b), (b, a)):
                ports.setdefault(record(near), []).append(f"[{number(near)}]\t{console(far)}")
        return "\n".join(f"{_head(device)}\n" + "\n".join(rows) + "\n" for device, rows in ports.items()) + "\n"

    def _down(self) -> list[Plug]:
        return [
            Plug(End(f"gpu-{server + 1:03d}", f"mlx5_{rail}"), self._leaf_port(server, rail))
            for server in range(self.servers)
            for rail in range(self.rails)
        ]

    def _leaf_port(self, server: int, rail: int) -> End:
        group, slot = divmod(server, self.leaf_servers)
        return End(f"leaf-{group * self.rails + rail + 1:02d}", str(slot + 1))

    def _up(self) -> list[Plug]:
        each = self.leaf_servers // self.spines
        return [
            Plug(
                End(f"leaf-{leaf + 1:02d}", str(FIRST_UPLINK + spine * each + way)),
                End(f"spine-{spine + 1:02d}", str(leaf * each + way + 1)),
            )
            for leaf in range(self.leaves)
            for spine in range(self.spines)
            for way in range(each)
        ]


def number(end: End) -> int:
    """Return the port's number: an HCA has one port."""
    return 1 if end.port.startswith("mlx5_") else int(end.port)


def record(end: End) -> str:
    """Return the netlist's name for what a port is part of: each HCA is a record of its own."""
    return f"H-{end.device}-{end.port}" if end.port.startswith("mlx5_") else f"S-{end.device}"


def console(end: End) -> str:
    """Return a port as ibsim's console and netlist write it."""
    return f'"{record(end)}"[{number(end)}]'


def swap(one: Plug, other: Plug) -> list[str]:
    """Return the console lines that exchange the far ends of two cables."""
    return [
        f"Unlink {console(one.a)}",
        f"Unlink {console(other.a)}",
        f"Link {console(one.a)} {console(other.b)}",
        f"Link {console(other.a)} {console(one.b)}",
    ]


def unplug(plug: Plug) -> list[str]:
    """Return the console lines that take a cable out."""
    return [f"Unlink {console(plug.a)}"]


def _head(name: str) -> str:
    if name.startswith("S-"):
        return f'Switch\t64 "{name}"\t\t# "{name[2:]}"'
    device, _, adapter = name[2:].rpartition("-")
    return f'Ca\t1 "{name}"\t\t# "{device} {adapter}"'
