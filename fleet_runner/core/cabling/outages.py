"""What is down as a whole: devices of which nothing is up, and trunks, panels and cages that many cables share.

Each explains the missing cables that run to it or through it. Of all that could, what explains most comes first, so
that a dark leaf is one fault and not one for each of its servers, and a dark row of leaves not one for each server.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from fleet_runner.core.cabling.explain import Fault, Kind, Places, says, some
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.cabling.plan import Restore

SEVERAL = 2
"""Cables that are missing together, at least."""

SERVER, DEVICE, CARRIER = range(3)
"""What is held responsible first where two explain as much."""


@dataclass(frozen=True, slots=True, order=True)
class Outage:
    """What may be down: how it is preferred where others explain as much, its name, and its designed links."""

    sort: int
    size: int
    coarse: int
    name: str
    links: tuple[Link, ...]


def gather(
    missing: Iterable[Link],
    expected: Mapping[Port, Port],
    observed: Mapping[Port, Port],
    places: Places,
    answering: Collection[str] = (),
) -> dict[Outage, tuple[Link, ...]]:
    """Return what is down with the missing links that each explains; others are missing one by one.

    `missing` are designed links at whose ports nothing else is plugged; the mappings are `links.matching`'s.
    `answering` are devices that are up, though nothing says which of their ports are.
    """
    left = set(missing)
    if not left:
        return {}
    found: dict[Outage, tuple[Link, ...]] = {}
    dark = (each for each in _dark(left, expected, observed, places) if each.name not in answering)
    outages = [*dark, *_carriers(left, expected, places)]
    queue = [(-len(outage.links), outage) for outage in outages]
    heapify(queue)
    while queue:
        count, outage = heappop(queue)
        mine = tuple(sorted(left.intersection(outage.links)))
        if len(mine) < -count:  # another explained some of it: it waits for its turn with what is left
            if mine:
                heappush(queue, (-len(mine), outage))
        elif len(mine) >= SEVERAL or outage.sort != CARRIER:
            found[outage] = mine
            left.difference_update(mine)
    return found


def _dark(
    missing: set[Link], expected: Mapping[Port, Port], observed: Mapping[Port, Port], places: Places
) -> list[Outage]:
    """Return the devices of two or more designed links of which none is up.

    A link that no one designed says that a device has power; it must be the exception for the device to be dark.
    """
    links: dict[str, list[Link]] = defaultdict(list)
    for joined in missing:
        for device in {port.device for port in joined}:
            links[device].append(joined)
    lit = {port.device for port, far in observed.items() if expected.get(port) == far}
    wrong = Counter(port.device for port in observed)
    counted = Counter(port.device for port in expected if port.device in links)
    return [
        Outage(SERVER if device in places.servers else DEVICE, len(mine), 0, device, tuple(sorted(mine)))
        for device, mine in links.items()
        if device not in lit and counted[device] >= SEVERAL and len(mine) > wrong[device]
    ]


def _carriers(missing: set[Link], expected: Mapping[Port, Port], places: Places) -> list[Outage]:
    """Return the carriers of two or more designed links of which each is missing; the smallest says the most."""
    links: dict[str, list[Link]] = defaultdict(list)
    coarse: dict[str, int] = {}
    for joined in missing:
        for index, name in enumerate(places.carriers.get(joined, ())):
            links[name].append(joined)
            coarse[name] = max(index, coarse.get(name, 0))
    if not links:
        return []
    counted = Counter(
        name
        for joined, names in places.carriers.items()
        if expected.get(joined.a) == joined.b
        for name in names
        if name in links
    )
    return [
        Outage(CARRIER, len(mine), coarse[name], name, tuple(sorted(mine)))
        for name, mine in links.items()
        if SEVERAL <= len(mine) == counted[name]
    ]


def fault(outage: Outage, links: tuple[Link, ...], places: Places) -> Fault:
    """Return an outage as one fault of the links that it explains."""
    ports = tuple(sorted(port for joined in links for port in joined))
    restore = (Restore(outage.name, links),)
    if outage.sort != CARRIER:
        mine = some(port.interface for port in ports if port.device == outage.name)
        message = f"{outage.name} is dark: none of its designed links is up; missing at its end: {mine}."
        steps = (
            f"Go to {places.device(outage.name)}: is it powered, are its cables seated?",
            "If it is powered, look at its ports' lights, then at the cable bundle on its way to the other end.",
        )
        return Fault(Kind.DARK, dark_key(outage.name), message, steps, restore, ports, links)
    name = f"{outage.name[:1].upper()}{outage.name[1:]}"
    message = f"{name} is down: none of its {outage.size} designed links is up: {some(map(says, links))}."
    ends = " and ".join(
        some(places.device(device) for device in sorted({joined[end].device for joined in links})) for end in (0, 1)
    )
    steps = (
        f"Look at {outage.name}, all of whose links are down, between {ends}: is it seated, whole and clean?",
        "If it is, follow the first of its cables from end to end.",
    )
    return Fault(Kind.CARRIER, f"cabling/carrier/{outage.name}", message, steps, restore, ports, links)


def dark_key(device: str) -> str:
    """Return the key of the fault that a device is dark, whichever kind of fabric shows it."""
    return f"cabling/dark/{device}"
