"""Which node gets which address: from the source of truth, without what contradicts itself there."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address

from fleet_runner.core.boot.dhcp.networks import Network
from fleet_runner.core.boot.network import ethernet
from fleet_runner.core.inventory import addresses
from fleet_runner.core.inventory.records import Device, Fleet, nodes


@dataclass(frozen=True, slots=True)
class Reservation:
    """One node's address, for whichever of its network cards asks."""

    node: str
    macs: tuple[str, ...]
    address: IPv4Address
    network: Network


@dataclass(frozen=True, slots=True)
class Reserved:
    """Every reservation, by address, and a sentence for each node that has none."""

    reservations: tuple[Reservation, ...]
    notes: tuple[str, ...] = ()


def reserve(fleet: Fleet, networks: tuple[Network, ...]) -> Reserved:
    """Return the reservations of all nodes.

    A MAC address that two devices have, or an address that two have, is nobody's: a DHCP server that met it would
    refuse all of its configuration, or boot the wrong machine.
    """
    why = obstacles(fleet)
    found: list[Reservation] = []
    notes: list[str] = []
    for device in nodes(fleet):
        place = why.get(device.name) or _place(device, networks)
        if isinstance(place, Reservation):
            found.append(place)
        else:
            notes.append(f"{device.name} has no reserved address: {place}")
    return Reserved(tuple(sorted(found, key=lambda each: each.address)), tuple(notes))


def obstacles(fleet: Fleet) -> dict[str, str]:
    """Return why nodes can have no address of their own in any network, by the node's name."""
    macs = Counter(
        mac for device in fleet.devices.values() for mac in {each.mac for each in device.interfaces} if mac
    )
    taken = Counter(filter(None, map(_address, fleet.devices.values())))
    first = {device.name: next(_obstacles(device, macs, taken), "") for device in nodes(fleet)}
    return {name: why for name, why in first.items() if why}


def _obstacles(device: Device, macs: Counter[str], taken: Counter[str]) -> Iterator[str]:
    own, address = _macs(device), _address(device)
    twice = "is in the source of truth at another device, too; correct one of them"
    if not own:
        yield "none of its Ethernet interfaces has a MAC address in the source of truth"
    yield from (f"its MAC address {mac} {twice}" for mac in own if macs[mac] > 1)
    if not address:
        yield "it has no primary address in the source of truth"
    if taken[address] > 1:
        yield f"its primary address {address} {twice}"


def _place(device: Device, networks: tuple[Network, ...]) -> Reservation | str:
    told = _address(device)
    if ":" in told:
        return f"its primary address {told} is IPv6, and boot networks are IPv4"
    address = IPv4Address(told)
    network = next((each for each in networks if address in each.subnet), None)
    if network is None:
        return f"its primary address {address} is in none of the boot networks"
    subnet = network.subnet
    if address in {subnet.network_address, subnet.broadcast_address, network.server, network.router, *network.dns}:
        return f"its primary address {address} belongs to a server, to the router, or to the network {subnet} itself"
    return Reservation(device.name, _macs(device), address, network)


def _macs(device: Device) -> tuple[str, ...]:
    return tuple(sorted({each.mac for each in ethernet(device.interfaces) if each.mac}))


def _address(device: Device) -> str:
    return addresses.ip(device.primary_address or "") or ""
