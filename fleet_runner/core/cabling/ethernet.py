"""Ethernet cabling from what devices hear of each other over LLDP: one capture a device, from both ends or one.

A port that hears nobody says nothing: LLDP may be off at the far end. What both ends tell is so; what one end tells
is so unless another port says otherwise, and then neither is believed: a neighbour is remembered for two minutes
after its cable has gone, and an unmanaged switch lets many hear each other.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from fleet_runner.core.cabling import partial, suspect
from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.judge import SUSPECT_SHARE, Doubt, Verdicts, hold
from fleet_runner.core.cabling.lanes import far_ends, shared, written
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.misread import HeardCable, misread, unproven
from fleet_runner.core.cabling.names import Names, device_of
from fleet_runner.core.cabling.port_numbers import BELIEVED
from fleet_runner.core.cabling.renamed import Heard, called, renamed
from fleet_runner.core.cabling.told_ports import ToldPorts, is_inside, names_of, own, panels, plain_mac
from fleet_runner.core.checks.parsers.discovery import FabricPort
from fleet_runner.core.checks.parsers.lldp import Neighbour

Captures = Mapping[str, Iterable[Neighbour]]
"""What each device hears, by its name in the design."""


@dataclass(frozen=True, slots=True)
class BelievedLinks:
    """Links that may be believed, and those that another port contradicts.

    `unmapped` are ports at one end of a cable whose other end has a name of a kind that nobody can match. `hearing`
    are the ports that hear anybody who says who it is. `unclear` are devices whose ports may be called otherwise,
    `renamed` those outside the design that may be ones of it by other names.
    """

    links: frozenset[Link]
    disputed: frozenset[Link]
    unmapped: frozenset[Port] = frozenset()
    hearing: frozenset[Port] = frozenset()
    unclear: frozenset[str] = frozenset()
    renamed: frozenset[str] = frozenset()


def judge(  # noqa: PLR0913  what every judge takes, and addresses
    designed: Iterable[Link],
    captures: Captures,
    known: Names,
    places: Places,
    macs: Mapping[str, Port] | None = None,
    *,
    share: float = SUSPECT_SHARE,
    one_fabric: bool = False,
    prove: bool = False,
) -> Verdicts:
    """Judge Ethernet links. `macs` are the ports that the source of truth knows by their address, in lower case.

    `prove` is `tellings`'.
    """
    expected = tuple(designed)
    heard = listen(captures, known, expected, macs or {}, prove=prove)
    return compare(expected, heard, known, places, share=share, one_fabric=one_fabric)


def compare(  # noqa: PLR0913  what every judge takes
    expected: Collection[Link],
    heard: BelievedLinks,
    known: Names,
    places: Places,
    *,
    share: float = SUSPECT_SHARE,
    one_fabric: bool = False,
) -> Verdicts:
    """Judge designed links by what was heard.

    `silent` are designed links of which no end is heard, `doubts` those of which only disputed things are, `unmapped`
    those at which a port is heard under a name of a kind that the design does not use. `one_fabric` is `hold`'s.
    """
    told = {port for each in heard.links for port in each}
    disputed: dict[Port, list[Link]] = defaultdict(list)
    for each in heard.disputed:
        for port in each:
            disputed[port].append(each)
    silent, unmapped, doubts, judged = list[Link](), list[Link](), list[Doubt](), list[Link]()
    for each in expected:
        mine: Collection[Port] = [
            port for port in each if port not in places.lanes
        ] or each  # one that is broken out hears others, too
        if told.intersection(mine):
            judged.append(each)
        elif instead := [other for port in mine for other in disputed.get(port, ())]:
            doubts.append(Doubt(each, min(instead, key=lambda other: (other == each, other))))
        else:
            (unmapped if heard.unmapped.intersection(mine) else silent).append(each)
    strangers = _strangers(heard.links, judged, known)
    bound = Bound(dict.fromkeys(heard.links, ""), heard.renamed & (strangers.keys() - places.servers), strangers)
    split = replace(places, far_ends=far_ends(expected, places.lanes | written(expected, places.servers)))
    verdicts = hold(judged, bound, split, share=share, one_fabric=one_fabric, lldp=True)
    if suspect.hardly_named(len(verdicts.doubts), len(judged)):
        why = suspect.misnamed_words(verdicts.matched, len(judged), called(verdicts.doubts))
        verdicts = replace(verdicts, faults=(), suspect=why, misnamed=True)
    elif suspect.hardly_mapped(len(unmapped), len(unmapped) + len(judged)):
        why = suspect.unmapped_words(sorted(unmapped), len(unmapped) + len(judged))
        verdicts = replace(verdicts, faults=(), suspect=why)
    strange = heard.disputed - {doubt.seen for doubt in doubts}
    unbound = tuple(sorted({*verdicts.unbound, *strange}))
    ends = {port: far for joined in expected for port, far in (joined, joined[::-1])}
    left = partial.sort(unbound, ends, places.servers, bound.strangers)
    return replace(
        verdicts,
        designed=len(expected),
        unbound=unbound,
        beside=left.beside,
        uplinks=left.uplinks,
        doubts=(*verdicts.doubts, *doubts),
        silent=tuple(sorted(silent)),
        unmapped=tuple(sorted(unmapped)),
        shifted=tuple(sorted(heard.unclear)),
    )


def _strangers(heard: Iterable[Link], designed: Iterable[Link], known: Names) -> dict[str, FabricPort]:
    """Return the devices at designed ports that the design does not know; elsewhere it may leave devices out."""
    ports = {port for each in designed for port in each}
    met = [(near, far) for a, b in heard for near, far in ((a, b), (b, a)) if near in ports]
    return {far.device: FabricPort(far.device, 0, "", "") for _, far in met if far.device not in known.spoken}


def mute(
    silent: Iterable[Link], read: Collection[str], servers: Collection[str], managed: Collection[Port]
) -> frozenset[Link]:
    """Return the silent links that need not be heard: only a switch that was `read`, or a node's own port, speaks.

    `managed` are ports of BMCs and the like. At least one end is a switch that was read, to hear the other one.
    """
    return frozenset(
        each
        for each in silent
        if not any(
            near.device in read and (far.device in read or (far.device in servers and far not in managed))
            for near, far in (each, each[::-1])
        )
    )


def listen(
    captures: Captures, known: Names, designed: Iterable[Link], macs: Mapping[str, Port], *, prove: bool = False
) -> BelievedLinks:
    """Return what the captures tell together. `prove` is `tellings`'."""
    it = tellings(captures, known, designed, macs, prove=prove)
    told = it.links
    both = {each for each in told.values() if told.get(each.a) == told.get(each.b)}
    taken = {port for each in both for port in each}
    single = set(told.values()) - both
    claims = Counter(port for each in single for port in each)
    believed = {each for each in single if not any(port in taken or claims[port] > 1 for port in each)}
    return BelievedLinks(frozenset(both | believed), frozenset(single - believed), *it[1:])


class Tellings(NamedTuple):
    """The one link that each port tells of, and the last four fields of `BelievedLinks`."""

    links: Mapping[Port, Link]
    unmapped: frozenset[Port]
    hearing: frozenset[Port]
    unclear: frozenset[str]
    renamed: frozenset[str]


def tellings(
    captures: Captures, known: Names, designed: Iterable[Link], macs: Mapping[str, Port], *, prove: bool = False
) -> Tellings:
    """Return what each port tells alone. Of several systems at a port the designed one counts, else none does.

    Ports of devices whose names may mean other ones (`misread`) tell nothing. With `prove` that is so wherever more
    cables are wrong than right by such names (`unproven`), and a device that the design does not know may be one of
    it that is heard nowhere: for a design and captures of people who may spell names otherwise. Without it the
    design's names are known to be the devices' own.
    """
    every = tuple(designed)
    mine = {port: each for each in every for port in each}
    ports, rows = read(captures, known, every, macs)
    rows = _sure(rows, ports)
    split = {port.device for port in ports.lanes}  # these are heard at lanes, which the design does not name
    unclear = _unclear(rows, mine, known, split if prove else known.spoken)
    links: dict[Port, set[Link]] = defaultdict(set)
    unmapped = _between_unclear(rows, every, unclear, known) if unclear else set[Port]()
    for each in rows:
        near = each.near if each.near and each.near.device not in unclear else None
        far = each.far if each.far and (each.identified or each.far.device not in unclear) else None
        if near and far:
            links[near].add(link(near, far))
        else:
            unmapped.update(port for port in (near, far) if port)
    told = {
        near: one
        for near, each in links.items()
        if (one := _one(each, mine.get(near))) and (near not in unmapped or one == mine.get(near))
    }
    both = (Heard(each.device, each.near, _there(each, known), each.far) for each in rows if prove)
    odd = renamed(both, mine, known.spoken)
    return Tellings(told, frozenset(unmapped), frozenset(links), unclear, odd)


def read(
    captures: Captures, known: Names, designed: Collection[Link], macs: Mapping[str, Port]
) -> tuple[ToldPorts, list["Row"]]:
    """Return what captures tell row by row, and what their ports are called."""
    mine = {port: each for each in designed for port in each}
    heard = {device: tuple(neighbours) for device, neighbours in captures.items()}
    ports = ToldPorts(known, own(macs, heard), panels(heard, known, mine), mine, shared(designed))
    return ports, [row for device, neighbours in heard.items() for row in _rows(device, neighbours, ports)]


class Row(NamedTuple):
    """What a device hears at a port: both ends as the design calls them; None where nobody can tell which port.

    `device` is the one that hears, `identified` whether the far port's address tells which it is.
    """

    device: str
    near: Port | None
    far: Port | None
    heard: Neighbour
    identified: bool


def _rows(device: str, neighbours: Iterable[Neighbour], ports: ToldPorts) -> Iterator[Row]:
    """Yield the neighbours of a device that say who they are, and that a cable leads to.

    Identity first: an address that the source of truth knows says more than a name that somebody typed.
    """
    here = device_of(device, ports.known)[0]
    for each in neighbours:
        identified = ports.macs.get(plain_mac(each.port))
        if (identified or each.system) and not is_inside(each):
            near = ports.named(device, (each.interface,))
            far = identified or ports.named(each.system, names_of(each), near)
            near = near or (ports.named(device, (each.interface,), far) if far else None)
            yield Row(here, near, far, each, identified is not None)


def _sure(rows: Iterable[Row], ports: ToldPorts) -> list[Row]:
    """Return rows without ports that just a number tells, where most such numbers of the device are other ports.

    One that fits there may be a cable one port too far, of a device that counts by another rule.
    """
    found, fits, every = [*rows], Counter[str](), Counter[str]()
    guesses: dict[int, tuple[Port | None, Port | None]] = {}
    for at, each in enumerate(found):
        near = far = None
        if not (each.near and each.near.interface == each.heard.interface):
            near = ports.guess(each.device, (each.heard.interface,))
        if not (each.identified or (each.far and each.far.interface in {each.heard.port, each.heard.description})):
            far = ports.guess(each.heard.system, names_of(each.heard))
        if near or far:
            guesses[at] = near, far
        for guess, other in ((near, each.far), (far, each.near)):
            wanted = ports.designed.get(other, ()) if other else ()
            if guess and wanted:
                every[guess.device] += 1
                fits[guess.device] += guess in wanted
    unsure = {device for device, count in every.items() if fits[device] < BELIEVED * count}
    for at, (near, far) in guesses.items():
        it = found[at]
        found[at] = it._replace(
            near=None if near and near == it.near and near.device in unsure else it.near,
            far=None if far and far == it.far and far.device in unsure else it.far,
        )
    return found


def _unclear(
    rows: Collection[Row], designed: Mapping[Port, Link], known: Names, trusted: Collection[str]
) -> frozenset[str]:
    """Return the devices whose names of ports may mean other ones than they were read as.

    The `trusted` ones need no cable that is right.
    """
    odd: set[str] = set()
    for here, near, far, _, identified in rows:
        if near and far and far not in designed.get(near, ()):
            odd |= {here} if identified else {here, far.device}
    odd &= known.spoken.keys()
    if not odd:
        return frozenset()
    cables: dict[str, set[HeardCable]] = {device: set() for device in odd}
    for each in rows:
        here, near, far, heard, identified = each
        there = _there(each, known)
        if here in odd:
            cables[here].add(HeardCable(heard.interface, _name(near), there, _goal(far, here, designed)))
        names = names_of(heard) if there in odd and not identified else ()
        if names:
            name = far.interface if far and far.interface in names else min(names, key=str.isdecimal)
            cables[there].add(HeardCable(name, _name(far), here, _goal(near, there, designed)))
    leads: dict[str, dict[str, set[str]]] = {device: defaultdict(set) for device in odd}
    for port, (a, b) in designed.items():
        if port.device in leads:
            leads[port.device][(b if port == a else a).device].add(port.interface)
    return frozenset(
        device
        for device, mine in leads.items()
        if misread(cables[device], mine) or (device not in trusted and unproven(cables[device], mine))
    )


def _between_unclear(
    rows: Iterable[Row], designed: Iterable[Link], unclear: Collection[str], known: Names
) -> set[Port]:
    """Return the designed ports between two such devices that hear each other: of both, nobody can tell which."""
    pairs = {
        frozenset((each.device, there))
        for each in rows
        if each.device in unclear and (there := device_of(each.heard.system, known)[0]) in unclear
    }
    return {port for each in designed if frozenset((each.a.device, each.b.device)) in pairs for port in each}


def _there(row: Row, known: Names) -> str:
    return row.far.device if row.far else device_of(row.heard.system, known)[0]


def _name(port: Port | None) -> str:
    return port.interface if port else ""


def _goal(far: Port | None, device: str, designed: Mapping[Port, Link]) -> str:
    """Return the port of a device that a far one is designed to lead to; "" for one that leads elsewhere."""
    ends = designed.get(far, ()) if far else ()
    return next((port.interface for port in ends if port.device == device and port != far), "")


def _one(heard: set[Link], mine: Link | None) -> Link | None:
    """Several systems may answer at a port, a switch and an adapter's own agent: the designed one counts."""
    if mine in heard:
        return mine
    return next(iter(heard)) if len(heard) == 1 else None
