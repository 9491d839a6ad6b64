"""From one end as a fabric names it to the design's port."""

import re
from collections.abc import Mapping

from fleet_runner.core.cabling.directors import asic
from fleet_runner.core.cabling.links import Port
from fleet_runner.core.cabling.names import Names, Spoken, device_of, short
from fleet_runner.core.checks.parsers.discovery import FabricPort

_MANAGED = re.compile(r"MF0;([^:;]+)[:;]")
"""How managed switches describe themselves: MF0;leaf-1:MQM9700/U1."""


_FACTORY = re.compile(
    r"\s*$|MT\d{4,}\b|.*Mellanox Technologies|localhost\b|\(none\)|unnamed\b|switch-[0-9a-f]{6}\b", re.ASCII
)
"""Node descriptions that nobody wrote: until a driver's daemon sets one, an adapter says what it is, not where, and a
managed switch out of its box is called after its MAC address ("switch-a1b2c3")."""


def names_no_other(seen: FabricPort, device: str) -> bool:
    """Whether an end that nothing identifies may be of a device: its description is nobody's, or that device's."""
    hosts = {seen.name, seen.name.rpartition(" ")[0]}
    named = any(device in {host, short(host)} or host == short(device) for host in hosts)
    return named or _FACTORY.match(bare(seen.name)) is not None


def bind_end(seen: FabricPort, known: Names) -> Port:
    """Return the port that one end of a fabric's link is; a made-up one where nothing says which."""
    name, number, kind, guid = seen
    if kind == "SW":
        found = switch_port(name, number, switch_ports(name, guid, known))
    else:
        found = known.guids.get(guid) or adapter_port(name, number, known)
    return found or made_up(seen)


def switch_ports(name: str, guid: str, known: Names) -> Spoken:
    """Return a switch and its ports by number, by its GUID or what it describes itself as."""
    identified = known.guids.get(guid)  # all ports of a switch have the switch's GUID
    return (identified.device, _numbers(identified.device, name, known)) if identified else switch_of(name, known)


def switch_port(name: str, number: int, switch: Spoken) -> Port | None:
    """Return the port of a switch that an end is; None if nothing says which switch it is."""
    device, spoken = switch
    interface = str(number)
    found = spoken.get(interface)
    if found or not device:
        return found
    part = asic(name)
    return Port(device, part.port(interface) if part else interface)


def _numbers(device: str, described: str, known: Names) -> Mapping[str, Port]:
    """Return a switch's ports by number; none where it has several ways to count and none was chosen.

    Of a director they are those of the ASIC that is described.
    """
    name, spoken = device_of(device, known)
    part = asic(described)
    if part:
        return part.numbers(spoken)
    return known.numbers.get(name, {}) if name in known.ways else spoken


def bare(name: str) -> str:
    """Return the name in what managed switches say of themselves; another name as it is."""
    managed = _MANAGED.match(name)
    return managed[1] if managed else name


def switch_of(name: str, known: Names) -> Spoken:
    """Return a switch; one that the design calls as others are called out of their box is known by that name."""
    own = bare(name)
    found = device_of(own, known)
    if found[0] in known.ways or asic(name):
        return found[0], _numbers(found[0], name, known)
    return found if found[1] or not _FACTORY.match(own) else ("", {})


def adapter_port(name: str, number: int, known: Names) -> Port | None:
    """An adapter's description is its node's name and its own; on a known node, only known adapters say which.

    One that is only its node's name says which adapter it is where the design has just one there.
    """
    device, _, adapter = name.rpartition(" ")
    spoken = device_of(device, known)[1]
    if not spoken:
        node, alone = device_of(name, known)
        if alone:
            return known.only.get(node)
        return None if _FACTORY.match(name) else _stranger(name, number)
    first = spoken.get(adapter) if number == 1 else None
    return first or spoken.get(f"{adapter}/{number}")


def _stranger(name: str, number: int) -> Port:
    """All adapters of a node that the design does not know are one device."""
    device, _, adapter = name.rpartition(" ")
    if not device:
        return Port(name, str(number))
    return Port(device, adapter if number == 1 else f"{adapter}/{number}")


def made_up(seen: FabricPort) -> Port:
    """Return a port under an end's description and GUID, so that two of them are never one."""
    return Port(f"{seen.name.strip() or 'unnamed'} 0x{seen.guid}", str(seen.port))
