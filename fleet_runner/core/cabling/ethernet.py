"""Ethernet cabling from what devices hear of each other over LLDP: one capture a device, from both ends or one.

A port that hears nobody says nothing: LLDP may be off at the far end. What both ends tell is so; what one end tells
is so unless another port says otherwise, and then neither is believed: a neighbour is remembered for two minutes
after its cable has gone, and an unmanaged switch lets many hear each other.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.judge import SUSPECT_SHARE, Doubt, Verdicts, hold
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.names import Bound, Names, bind_port
from fleet_runner.core.checks.parsers.discovery import FabricPort
from fleet_runner.core.checks.parsers.lldp import Neighbour

_PLAIN_PORT = re.compile(r"[A-Za-z]+([0-9]{1,9})$")
"""An interface that is a word and a number: "swp7" may be what the design calls "7"; "Ethernet1/7/2" may not."""

_ADDRESS = re.compile(r"([0-9a-fA-F]{2}[:.-]){5}[0-9a-fA-F]{2}$")

Captures = Mapping[str, Iterable[Neighbour]]
"""What each device hears, by its name in the design."""


@dataclass(frozen=True, slots=True)
class BelievedLinks:
    """Links that may be believed, and those that another port contradicts."""

    links: frozenset[Link]
    disputed: frozenset[Link]


def judge(  # noqa: PLR0913  what every judge takes, and addresses
    designed: Iterable[Link],
    captures: Captures,
    known: Names,
    places: Places,
    macs: Mapping[str, Port] | None = None,
    *,
    share: float = SUSPECT_SHARE,
) -> Verdicts:
    """Judge Ethernet links. `macs` are the ports that the source of truth knows by their address, in lower case.

    `silent` are designed links of which no end is heard, `doubts` those of which only disputed things are.
    """
    expected = tuple(designed)
    heard = listen(captures, known, expected, macs or {})
    told = {port for each in heard.links for port in each}
    disputed: dict[Port, list[Link]] = defaultdict(list)
    for each in heard.disputed:
        for port in each:
            disputed[port].append(each)
    silent, doubts, judged = list[Link](), list[Doubt](), list[Link]()
    for each in expected:
        if told.intersection(each):
            judged.append(each)
        elif instead := [other for port in each for other in disputed.get(port, ())]:
            doubts.append(Doubt(each, min(instead, key=lambda other: (other == each, other))))
        else:
            silent.append(each)
    bound = Bound(dict.fromkeys(heard.links, ""), strangers=_strangers(heard.links, judged, known))
    verdicts = hold(judged, bound, places, share=share)
    strange = heard.disputed - {doubt.seen for doubt in doubts}
    return replace(
        verdicts,
        designed=len(expected),
        unbound=tuple(sorted({*verdicts.unbound, *strange})),
        doubts=tuple(doubts),
        silent=tuple(sorted(silent)),
    )


def _strangers(heard: Iterable[Link], designed: Iterable[Link], known: Names) -> dict[str, FabricPort]:
    """Return the devices at designed ports that the design does not know; elsewhere it may leave devices out."""
    ports = {port for each in designed for port in each}
    met = [(near, far) for a, b in heard for near, far in ((a, b), (b, a)) if near in ports]
    return {far.device: FabricPort(far.device, 0, "", "") for _, far in met if far.device not in known.spoken}


def listen(captures: Captures, known: Names, designed: Iterable[Link], macs: Mapping[str, Port]) -> BelievedLinks:
    """Return what the captures tell together."""
    mine = {port: each for each in designed for port in each}
    told: dict[Port, Link] = {}
    for device, neighbours in captures.items():
        for near, links in _tellings(device, neighbours, known, macs).items():
            if one := _one(links, mine.get(near)):
                told[near] = one
    both = {each for each in told.values() if told.get(each.a) == told.get(each.b)}
    taken = {port for each in both for port in each}
    single = set(told.values()) - both
    claims = Counter(port for each in single for port in each)
    believed = {each for each in single if not any(port in taken or claims[port] > 1 for port in each)}
    return BelievedLinks(frozenset(both | believed), frozenset(single - believed))


def _tellings(
    device: str, neighbours: Iterable[Neighbour], known: Names, macs: Mapping[str, Port]
) -> dict[Port, set[Link]]:
    """Return the links that each port of a device hears of, from neighbours that say who they are."""
    found: dict[Port, set[Link]] = {}
    for each in neighbours:
        near = bind_port(device, each.interface, known)
        far = _far(each, known, macs)
        if far is not None:
            found.setdefault(near, set()).add(link(near, far))
    return found


def _far(heard: Neighbour, known: Names, macs: Mapping[str, Port]) -> Port | None:
    """Identity first: an address that the source of truth knows says more than a name that somebody typed.

    A neighbour names its port by id or, where the id is an address, by description.
    """
    identified = macs.get(_mac(heard.port))
    if identified or not heard.system:
        return identified
    device = bind_port(heard.system, "", known).device
    spoken = known.spoken.get(device, {})
    for name in (heard.port, heard.description):
        plain = _PLAIN_PORT.match(name)
        port = spoken.get(name) or (spoken.get(str(int(plain[1]))) if plain else None)
        if port:
            return port
    told = heard.description if not heard.port or _ADDRESS.match(heard.port) else heard.port
    return Port(device, told) if told else None


def _mac(told: str) -> str:
    return told.lower().replace("-", ":").replace(".", ":")


def _one(heard: set[Link], mine: Link | None) -> Link | None:
    """Several systems may answer at a port, a switch and an adapter's own agent: the designed one counts."""
    if mine in heard:
        return mine
    return next(iter(heard)) if len(heard) == 1 else None
