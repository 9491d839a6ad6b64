"""The Ethernet rails of a lab that has them: two leaves of two makers below two spines, and two ports of each server.

The spines are an MLAG pair, with a peer link between them. Only plain functions and quick imports, as in `plan`.
"""

from typing import NamedTuple

from fleet_runner.lab import plan

FABRIC = "rails"
"""What their switches call the fabric, beside which the site has a network for management."""

RAILS = 2
SPINES = 2
UPLINKS = 2  # cables between one leaf and one spine
FIRST_UPLINK = plan.FIRST_UPLINK
PORTS = 64
PORT_TYPE = "400gbase-x-osfp"


class Maker(NamedTuple):
    """A device type of switches: what its network operating system is called, and its ports, by number from 1."""

    slug: str
    model: str
    network_os: str
    port: str
    lanes: int = 0

    def name(self, number: int) -> str:
        """Return what the port of a number is called; SONiC counts lanes from 0."""
        return self.port.format((number - 1) * self.lanes if self.lanes else number)


EOS = Maker("lab-7060x6", "Lab 7060X6-64PE", "arista.eos.eos", "Ethernet{}")
SONIC = Maker("lab-sn5600", "Lab SN5600", "dellemc.enterprise_sonic.sonic", "Ethernet{}", 8)
NVUE = Maker("lab-sn5610", "Lab SN5610", "nvidia.nvue.nvue", "swp{}")

LEAVES = {"rail-leaf-1": EOS, "rail-leaf-2": SONIC}
SPINE_SWITCHES = {"rail-spine-1": NVUE, "rail-spine-2": NVUE}
SWITCHES = {**LEAVES, **SPINE_SWITCHES}
"""Every switch, and what it is."""


def interface(rail: int) -> str:
    """Return the servers' port of a rail, counted from 0; eth0 is the management network's."""
    return f"eth{rail + 1}"


def adapter(rail: int) -> str:
    """Return the adapter of a rail; those of InfiniBand and eth0 come before."""
    return f"mlx5_{plan.RAILS + 1 + rail}"


def leaf(rail: int) -> str:
    """Return the leaf of a rail."""
    return tuple(LEAVES)[rail]


def address(switch: str) -> str:
    """Return a switch's address, beside those of the servers."""
    return f"127.20.1.{tuple(SWITCHES).index(switch) + 1}"


def cables(servers: int) -> tuple[plan.Plug, ...]:
    """Return every designed cable of the rails."""
    rails = (
        plan.Plug(plan.server(number), interface(rail), leaf(rail), maker.name(number))
        for number in range(1, servers + 1)
        for rail, maker in enumerate(LEAVES.values())
    )
    ups = (
        plan.Plug(
            name,
            maker.name(FIRST_UPLINK + at * UPLINKS + way),
            spine,
            above.name((plan.index(name) - 1) * UPLINKS + way + 1),
        )
        for name, maker in LEAVES.items()
        for at, (spine, above) in enumerate(SPINE_SWITCHES.items())
        for way in range(UPLINKS)
    )
    return (*rails, *ups, *peer_link())


def peer_link() -> tuple[plan.Plug, ...]:
    """Return the cables between the two spines, which are an MLAG pair."""
    (one, maker), (other, its) = SPINE_SWITCHES.items()
    return tuple(plan.Plug(one, maker.name(port), other, its.name(port)) for port in range(PORTS - 1, PORTS + 1))
