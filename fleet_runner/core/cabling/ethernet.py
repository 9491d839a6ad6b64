"""Ethernet cabling from what devices hear of each other over LLDP: one capture a device, from both ends or one.

A port that hears nobody says nothing: LLDP may be off at the far end. What both ends tell is so; what one end tells
is so unless another port says otherwise, and then neither is believed: a neighbour is remembered for two minutes
after its cable has gone, and an unmanaged switch lets many hear each other.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from fleet_runner.core.cabling import partial, suspect
from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.judge import SUSPECT_SHARE, Doubt, Verdicts, hold
from fleet_runner.core.cabling.lanes import is_lane, shared
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.names import Names, bind_port
from fleet_runner.core.cabling.port_numbers import fitting
from fleet_runner.core.cabling.port_spellings import other_way, panel_number, panel_ways, respelled
from fleet_runner.core.checks.parsers.discovery import FabricPort
from fleet_runner.core.checks.parsers.lldp import Neighbour

_PLAIN_PORT = re.compile(r"[A-Za-z]+([0-9]{1,9})$")
"""An interface that is a word and a number: "swp7" may be what the design calls "7"; "Ethernet1/7/2" may not."""

_ADDRESS = re.compile(r"([0-9a-fA-F]{2}[:.-]){5}[0-9a-fA-F]{2}$")

Captures = Mapping[str, Iterable[Neighbour]]
"""What each device hears, by its name in the design."""


@dataclass(frozen=True, slots=True)
class BelievedLinks:
    """Links that may be believed, and those that another port contradicts.

    `unmapped` are ports at one end of a cable whose other end has a name of a kind that nobody can match. `hearing`
    are the ports that hear anybody who says who it is.
    """

    links: frozenset[Link]
    disputed: frozenset[Link]
    unmapped: frozenset[Port] = frozenset()
    hearing: frozenset[Port] = frozenset()


def judge(  # noqa: PLR0913  what every judge takes, and addresses
    designed: Iterable[Link],
    captures: Captures,
    known: Names,
    places: Places,
    macs: Mapping[str, Port] | None = None,
    *,
    share: float = SUSPECT_SHARE,
    one_fabric: bool = False,
) -> Verdicts:
    """Judge Ethernet links. `macs` are the ports that the source of truth knows by their address, in lower case."""
    expected = tuple(designed)
    heard = listen(captures, known, expected, macs or {})
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
    bound = Bound(dict.fromkeys(heard.links, ""), strangers=_strangers(heard.links, judged, known))
    verdicts = hold(judged, bound, places, share=share, one_fabric=one_fabric, lldp=True)
    if suspect.hardly_mapped(len(unmapped), len(unmapped) + len(judged)):
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
        doubts=tuple(doubts),
        silent=tuple(sorted(silent)),
        unmapped=tuple(sorted(unmapped)),
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


def listen(captures: Captures, known: Names, designed: Iterable[Link], macs: Mapping[str, Port]) -> BelievedLinks:
    """Return what the captures tell together."""
    told, unmapped, hearing = tellings(captures, known, designed, macs)
    both = {each for each in told.values() if told.get(each.a) == told.get(each.b)}
    taken = {port for each in both for port in each}
    single = set(told.values()) - both
    claims = Counter(port for each in single for port in each)
    believed = {each for each in single if not any(port in taken or claims[port] > 1 for port in each)}
    return BelievedLinks(frozenset(both | believed), frozenset(single - believed), unmapped, hearing)


class Tellings(NamedTuple):
    """The one link that each port tells of, and `unmapped` and `hearing` of `BelievedLinks`."""

    links: Mapping[Port, Link]
    unmapped: frozenset[Port]
    hearing: frozenset[Port]


def tellings(captures: Captures, known: Names, designed: Iterable[Link], macs: Mapping[str, Port]) -> Tellings:
    """Return what each port tells alone. Of several systems at a port the designed one counts, else none does."""
    every = tuple(designed)
    mine = {port: each for each in every for port in each}
    heard = {device: tuple(neighbours) for device, neighbours in captures.items()}
    named = _Ports(known, _own(macs, heard), {}, mine, shared(every))
    panels = _panels(heard, known, mine)
    told: dict[Port, Link] = {}
    unmapped: set[Port] = set()
    hearing: set[Port] = set()
    for device, neighbours in heard.items():
        for near, links in _tellings(device, neighbours, replace(named, panels=panels), unmapped).items():
            hearing.add(near)
            if one := _one(links, mine.get(near)):
                told[near] = one
    return Tellings(told, frozenset(unmapped), frozenset(hearing))


def _own(macs: Mapping[str, Port], heard: Mapping[str, Iterable[Neighbour]]) -> Mapping[str, Port]:
    """Return the addresses that are one port's own: one heard at several ports is its system's, or a pair's."""
    if not macs:
        return macs
    at = {
        (mac, device, row.interface)
        for device, rows in heard.items()
        for row in rows
        if (mac := _mac(row.port)) in macs
    }
    count = Counter(mac for mac, _, _ in at)
    several = {mac for mac, ports in count.items() if ports > 1}
    return {mac: port for mac, port in macs.items() if mac not in several} if several else macs


@dataclass(frozen=True, slots=True)
class _Ports:
    """What ports are called: in the design, by address, and by number on the fronts of SONiC's switches.

    `designed` gives each designed port its link; `lanes` are those that are broken out to several.
    """

    known: Names
    macs: Mapping[str, Port]
    panels: Mapping[str, Mapping[int, Port]]
    designed: Mapping[Port, Link]
    lanes: frozenset[Port]

    def named(self, device: str, names: Iterable[str], near: Port | None = None) -> Port | None:
        """Return a port by what its device and others call it, the likeliest first; None if nobody can tell which.

        `near` is what is plugged into it: where just the number of a port is told, it may be the designed one.
        """
        told = [name for name in names if name]
        name = bind_port(device, "", self.known).device
        spoken = self.known.spoken.get(name, {})
        if not spoken or not told:
            return Port(name, told[0]) if told else None
        for each in told:
            if each in spoken:
                return spoken[each]
        designed = {port.interface for port in spoken.values() if port.interface in spoken}
        wanted = self.designed.get(near, ()) if near else ()
        found = [self._otherwise(name, each, designed, wanted) for each in told]
        port = next((each for each in found if each and each.interface in designed), None)
        return port or found[0]

    def _otherwise(self, device: str, told: str, designed: Collection[str], wanted: Collection[Port]) -> Port | None:
        number = panel_number(told, designed)
        if number is not None:
            return self.panels.get(device, {}).get(number)
        plain = _PLAIN_PORT.match(told)
        port = self.known.spoken[device].get(str(int(plain[1]))) if plain else None
        if port in wanted:
            return port
        if self.lanes and any(Port(device, name) in self.lanes and is_lane(told, name) for name in designed):
            return Port(device, told)
        found = respelled(told, designed)
        return None if found is None else Port(device, found or told)


def _panels(
    heard: Mapping[str, Iterable[Neighbour]], known: Names, designed: Mapping[Port, Link]
) -> dict[str, Mapping[int, Port]]:
    """Return, of SONiC's switches that are heard by their other names, or hear by them, the port of each number."""
    plugged: dict[str, list[tuple[str, int]]] = defaultdict(list)
    ways = {
        device: other_way({port.interface for port in spoken.values()}) for device, spoken in known.spoken.items()
    }
    if not any(ways.values()):
        return {}
    for device, neighbours in heard.items():
        here = bind_port(device, "", known).device
        for each in neighbours:
            near, there = bind_port(device, each.interface, known), bind_port(each.system, "", known).device
            ends = (bind_port(each.system, name, known) for name in (each.port, each.description) if name)
            told = next((port for port in ends if port in designed), None)
            for switch, name, far in ((there, each.port, near), (here, each.interface, told)):
                way = ways.get(switch)
                number = way.match(name) if way else None
                if number:
                    goal = (
                        next((port for port in designed.get(far, ()) if port.device == switch), None) if far else None
                    )
                    plugged[switch] += [(goal.interface, int(number[1]))] if goal else []
    return {device: _panel(device, known, told) for device, told in plugged.items()}


def _panel(device: str, known: Names, plugged: Iterable[tuple[str, int]]) -> dict[int, Port]:
    """Return the ports of a switch by their other numbers; none where the cables do not tell those of all."""
    ways = panel_ways(sorted({port.interface for port in known.spoken[device].values()}))
    chosen = fitting(ways, plugged)
    return {number: Port(device, name) for name, number in chosen.items()} if chosen in ways else {}


def _tellings(
    device: str, neighbours: Iterable[Neighbour], ports: _Ports, unmapped: set[Port]
) -> dict[Port, set[Link]]:
    """Return the links that each port of a device hears of, from neighbours that say who they are.

    `unmapped` receives the one port of a cable that can be told, where the other cannot.
    """
    found: dict[Port, set[Link]] = {}
    for each in neighbours:
        identified = ports.macs.get(_mac(each.port))
        if not identified and not each.system:
            continue
        near = ports.named(device, (each.interface,))
        far = identified or _far(each, ports, near)
        if near and far:
            found.setdefault(near, set()).add(link(near, far))
        else:
            unmapped.update(port for port in (near, far) if port)
    return found


def _far(heard: Neighbour, ports: _Ports, near: Port | None) -> Port | None:
    """Identity first: an address that the source of truth knows says more than a name that somebody typed.

    A neighbour names its port by id or, where the id is an address, by description.
    """
    names = (heard.description,) if _ADDRESS.match(heard.port) else (heard.port, heard.description)
    return ports.named(heard.system, names, near)


def _mac(told: str) -> str:
    return told.lower().replace("-", ":").replace(".", ":")


def _one(heard: set[Link], mine: Link | None) -> Link | None:
    """Several systems may answer at a port, a switch and an adapter's own agent: the designed one counts."""
    if mine in heard:
        return mine
    return next(iter(heard)) if len(heard) == 1 else None
