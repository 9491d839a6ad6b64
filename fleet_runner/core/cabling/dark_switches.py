"""Ethernet switches that are down: they cannot be read, and no neighbour that was read hears them.

That ssh fails says nothing of a switch's ports: as long as one neighbour hears it, it is up. That one neighbour does
not hear it says little: a cable, or LLDP, may be off. Two and more that hear other switches, and not this one, are
witnesses.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from fleet_runner.core.base.natural_order import natural
from fleet_runner.core.cabling.explain import Fault, Kind, Places, some
from fleet_runner.core.cabling.links import Link
from fleet_runner.core.cabling.outages import dark_key
from fleet_runner.core.cabling.plan import Restore

WITNESSES = 2
"""Devices, at least, that were read, hear another switch, and do not hear this one."""


def dark(
    silent: Iterable[Link],
    unread: Mapping[str, str],
    read: Collection[str],
    believed: Collection[Link],
    places: Places,
) -> dict[str, Fault]:
    """Return the fault of each dark switch; none where most switches would be dark, which speaks of something else.

    `silent` are designed links of which neither end is heard, `unread` the switches that were not read, and that
    nobody names, each with the reason; `believed` are the links that were heard.
    """
    links: dict[str, list[Link]] = defaultdict(list)
    for each in silent:
        for device in {each.a.device, each.b.device} & unread.keys():
            links[device].append(each)
    hearing = {
        near.device for each in believed for near, far in (each, each[::-1]) if far.device not in places.servers
    }
    witnesses = {
        device: sorted({port.device for each in mine for port in each}.intersection(read) & hearing - {device})
        for device, mine in links.items()
    }
    found = sorted(device for device, each in witnesses.items() if len(each) >= WITNESSES)
    if 2 * len(found) > len(read) + len(unread):
        return {}
    told = set[Link]()
    faults: dict[str, Fault] = {}
    for device in found:
        mine = tuple(sorted(set(links[device]) - told))
        told.update(mine)
        faults[device] = _fault(device, mine, unread[device], witnesses[device], places)
    return faults


def _fault(device: str, links: tuple[Link, ...], why: str, witnesses: Collection[str], places: Places) -> Fault:
    ports = tuple(sorted(port for joined in links for port in joined))
    mine = some(sorted((port.interface for port in ports if port.device == device), key=natural))
    message = (
        f"{device} is dark: it was not read ({why.rstrip('.')}), and {some(witnesses)} hear other switches, but not "
        f"this one; missing at its end: {mine}."
    )
    steps = (
        f"Go to {places.device(device)}: is it powered, are its cables seated?",
        "If it is powered, look at its ports' lights, then at the cable bundle on its way to the other end.",
        "If it forwards, switch LLDP on at its ports, and look why ssh to it fails; move no cable.",
    )
    restore = (Restore(device, links),)
    return Fault(Kind.DARK, dark_key(device), message, steps, restore, ports, links)
