"""The design of NVLink domains: which compute trays and switch trays are one machine, and how it is partitioned.

The source of truth says it in the config contexts of the trays: `nvlink_domain` is "rack" where a rack is one domain
(for a whole device type in NetBox), or the name of a domain that spans racks. A compute tray is a node with this key,
a switch tray any other device with it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from fleet_runner.core.base.natural_order import natural
from fleet_runner.core.inventory.records import NODE_ROLES, Device, Fleet, rack_key

DOMAIN = "nvlink_domain"
"""The key that says that a device is a tray of a domain: OF_RACK, or the domain's name."""

OF_RACK = "rack"
"""The value of DOMAIN for racks that are one domain each."""

PARTITION = "nvlink_partition"
"""The key of a compute tray's designed partition: any name, or the number of its clique."""

LINKS = "nvlink_links"
"""The key of a switch tray that lists which NVLinks of each GPU lead to it, by number."""

DRAIN = "nvlink_drain"
"""The key of a compute tray that says which trays drain as one with it: ALONE, OF_PARTITION or OF_DOMAIN."""

ALONE, OF_PARTITION, OF_DOMAIN = "tray", "partition", "domain"
"""The values of DRAIN: none, those of its designed partition, those of its domain."""

KEYS = (DOMAIN, PARTITION, LINKS, DRAIN)

LONGEST = 40
"""Characters of a name."""

MOST_LINKS = 64
"""NVLinks of one GPU: those of Blackwell have 18."""


@dataclass(frozen=True, slots=True)
class Domain:
    """One NVLink domain of a site: its trays by name, in their natural order.

    `partitions` gives compute trays their designed partition, `links` switch trays the NVLinks of each GPU that lead
    to them. `racks` are those that its trays stand in. `drains` gives trays that drain as
    one with others OF_PARTITION or OF_DOMAIN. `gaps` say what of the design is missing, or contradicts
    itself.
    """

    name: str
    site: str
    trays: tuple[str, ...]
    switches: tuple[str, ...] = ()
    racks: tuple[str, ...] = ()
    partitions: Mapping[str, str] = field(default_factory=dict[str, str])
    links: Mapping[str, frozenset[int]] = field(default_factory=dict[str, frozenset[int]])
    gaps: tuple[str, ...] = ()
    drains: Mapping[str, str] = field(default_factory=dict[str, str])


def wrong(device: Device) -> str:
    """Say why what a device's config context says of a domain cannot be used; "" where it can, or says nothing."""
    named, partition, links, drain = (device.context.get(key) for key in KEYS)
    if named is None:
        lone = next((key for key in KEYS[1:] if device.context.get(key) is not None), "")
        return f"it has {lone} and no {DOMAIN}, expected both or neither" if lone else ""
    if not _is_name(named):
        return f"its {DOMAIN} is {named!r:.60}, expected {OF_RACK!r} or a name of up to {LONGEST} characters"
    if named == OF_RACK and not device.rack:
        return f"its {DOMAIN} is {OF_RACK!r} and its rack is unknown; give it a rack, or name its domain"
    if partition is not None and not _is_name(_text(partition)):
        return f"its {PARTITION} is {partition!r:.60}, expected a name of up to {LONGEST} characters, or a number"
    if links is not None and not _are_links(links):
        return f"its {LINKS} are {links!r:.60}, expected a list of numbers from 0 to {MOST_LINKS - 1}"
    return _wrong_drain(drain, partition)


def _wrong_drain(drain: object, partition: object) -> str:
    if drain not in (None, ALONE, OF_PARTITION, OF_DOMAIN):
        return f"its {DRAIN} is {drain!r:.60}, expected {ALONE!r}, {OF_PARTITION!r} or {OF_DOMAIN!r}"
    lacks = drain == OF_PARTITION and partition is None
    return f"its {DRAIN} is {OF_PARTITION!r} and it has no {PARTITION}, expected both" if lacks else ""


def drains_with(device: Device) -> tuple[str, str]:
    """Return a compute tray's designed partition, and the value of its DRAIN, each "" where nothing is said."""
    if not named(device):
        return "", ""
    drain = device.context.get(DRAIN)
    return _text(device.context.get(PARTITION)), "" if drain in (None, ALONE) else str(drain)


def named(device: Device) -> str:
    """Return the domain that a compute tray is in, with its site, as its budget is called; "" for any other device.

    A rack that is a domain is called as the rack is. A domain of other racks with that name counts with it.
    """
    said = device.context.get(DOMAIN)
    if said is None or device.role not in NODE_ROLES or wrong(device):
        return ""
    return rack_key(device.site, (device.rack or "") if said == OF_RACK else str(said))


def domains(fleet: Fleet) -> tuple[Domain, ...]:
    """Return every domain, by site and name; a device whose record says something wrong of it is in none.

    A rack that is a domain, and a domain of that name in other racks, are two. A tray that gives the name of its own
    rack, or of whose rack nothing is known, is in the rack's.
    """
    said = [each for each in fleet.devices.values() if each.context.get(DOMAIN) is not None and not wrong(each)]
    racks = {(each.site, each.rack) for each in said if each.context[DOMAIN] == OF_RACK}
    found: dict[tuple[str, str, bool], list[Device]] = defaultdict(list)
    for device in said:
        named = str(device.context[DOMAIN])
        name = (device.rack or "") if named == OF_RACK else named
        of_rack = (device.site, name) in racks and (device.rack or name) == name
        found[device.site, name, not of_rack].append(device)
    return tuple(_domain(site, name, found[site, name, other]) for site, name, other in sorted(found))


def _domain(site: str, name: str, devices: Iterable[Device]) -> Domain:
    ordered = sorted(devices, key=lambda device: natural(device.name))
    trays = [each for each in ordered if each.role in NODE_ROLES]
    switches = [each for each in ordered if each.role not in NODE_ROLES]
    partitions = {each.name: _text(said) for each in trays if (said := each.context.get(PARTITION)) is not None}
    links = {each.name: frozenset(said) for each in switches if (said := each.context.get(LINKS)) is not None}
    return Domain(
        name=name,
        site=site,
        trays=tuple(each.name for each in trays),
        switches=tuple(each.name for each in switches),
        racks=tuple(sorted({each.rack for each in ordered if each.rack}, key=natural)),
        partitions=partitions,
        links=links,
        gaps=tuple(_gaps([each.name for each in trays], partitions, links)),
        drains={each.name: drain for each in trays if (drain := drains_with(each)[1])},
    )


def _gaps(trays: list[str], partitions: Mapping[str, str], links: Mapping[str, frozenset[int]]) -> Iterator[str]:
    if not trays:
        yield f"no compute tray of it has {DOMAIN}; set it in the config context of their device type"
    without = [name for name in trays if name not in partitions]
    if partitions and without:
        yield f"{len(without)} of {len(trays)} compute trays have no {PARTITION} ({', '.join(without[:3])})"
    ordered = sorted(links, key=natural)
    for at, first in enumerate(ordered):
        for second in ordered[at + 1 :]:
            if both := links[first] & links[second]:
                yield f"{LINKS} of {first} and {second} both name link {min(both)}, expected one switch tray for each"


def _text(value: object) -> str:
    """Return a partition as text; "" for what is neither a text nor a number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else ""


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value.strip()) <= len(value) <= LONGEST


def _are_links(value: object) -> bool:
    return isinstance(value, list | tuple) and all(
        isinstance(each, int) and not isinstance(each, bool) and 0 <= each < MOST_LINKS for each in value
    )
