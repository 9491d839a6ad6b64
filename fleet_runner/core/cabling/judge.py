"""Designed links held against observed ones: the faults, and what could not be told."""

from collections.abc import Collection, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling import partial, suspect
from fleet_runner.core.cabling.binding import Bound, bind
from fleet_runner.core.cabling.explain import Fault, Kind, Places
from fleet_runner.core.cabling.faults import Differing, every_fault
from fleet_runner.core.cabling.identity import settle
from fleet_runner.core.cabling.lanes import far_ends, paired
from fleet_runner.core.cabling.links import (
    Link,
    Port,
    PortTakenError,
    both_ends,
    designed_ends,
    link,
    replaced,
    undesigned,
    unplugged,
    without,
)
from fleet_runner.core.cabling.misnamed import Mismatch, misnamed
from fleet_runner.core.cabling.names import Names
from fleet_runner.core.cabling.shifts import shifted
from fleet_runner.core.cabling.silence import mute, unheard
from fleet_runner.core.cabling.slow import slow_faults
from fleet_runner.core.cabling.strangers import concerning
from fleet_runner.core.cabling.uncompared import compared
from fleet_runner.core.checks.parsers.discovery import FabricLink, FabricPort

SUSPECT_SHARE = suspect.SHARE


@dataclass(frozen=True, slots=True)
class Doubt:
    """A designed link that may be there: at one of its ports stands something that nothing identifies."""

    designed: Link
    seen: Link

    def __str__(self) -> str:
        return f"expected {self.designed.a} to {self.designed.b}, observed {self.seen.a} to {self.seen.b}"


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What holding them against each other gave. `matched` counts the designed links that are there.

    `unbound` are observed links of which the design knows neither port nor both devices; they are no faults: of them
    `beside` are at a designed device, which comes first, and `uplinks` between switches where the design has no cable
    between any. `doubts` and `silent`, designed links in a fabric of which nothing was heard or to a neighbour that
    does not answer, may be there or not. `absent` are designed links that are certainly not in place. `unmapped` are
    designed links at ports, or lanes of ports, of which nothing says which number the fabric has for them: they are
    not compared.
    `suspect` says why no fault should be believed ("" if they may be). `misnamed`: names fit so badly that nothing is
    told; then `unmapped` are the designed links that they keep from being compared. `shared` are Bound's.
    `shifted` are devices whose cables fit another way to count their ports: nobody can tell whether only names do.
    """

    faults: tuple[Fault, ...]
    matched: int
    designed: int
    unbound: tuple[Link, ...]
    doubts: tuple[Doubt, ...]
    silent: tuple[Link, ...]
    suspect: str = ""
    absent: tuple[Link, ...] = ()
    unmapped: tuple[Link, ...] = ()
    beside: tuple[tuple[Port, Port], ...] = ()
    uplinks: tuple[Link, ...] = ()
    misnamed: bool = False
    shared: tuple[str, ...] = ()
    shifted: tuple[str, ...] = ()


def judge(
    designed: Iterable[Link],
    seen: Iterable[FabricLink],
    known: Names,
    places: Places,
    *,
    unanswered: Iterable[FabricPort] = (),
) -> Verdicts:
    """Judge a whole fabric. Raises EvidenceError where a port has two cables, in the design or in the evidence."""
    return hold(designed, bind(seen, known, unanswered), places)


def hold(  # noqa: PLR0913  what is held against each other, and what is known of it
    designed: Iterable[Link],
    observed: Bound,
    places: Places,
    *,
    share: float = SUSPECT_SHARE,
    one_fabric: bool = False,
    lldp: bool = False,
) -> Verdicts:
    """Judge links whose ports are the design's. `share` of them may be faulty before the whole is suspect.

    `one_fabric`: all designed devices are of the fabric that was seen, as who names files of its cables says; there
    may be more in it than these say.
    `lldp`: ports were heard by their names, which were compared before.
    """
    designed = tuple(designed)
    places = replace(places, far_ends=places.far_ends or far_ends(designed, places.lanes))
    try:
        told, untold = paired(designed, places.lanes, observed.links)
        expected = designed_ends(told, observed.links)
        doubtful = places.uncompared.union(*untold)
        observed = replace(observed, links=compared(observed.links, doubtful, expected.keys()))
        unmapped = _unmapped(expected, observed.unmapped)
        count = len(expected) // 2 + len(untold)
        astray = undesigned(observed.links, expected)
        named = lldp or _mostly_there(len(expected) // 2, observed.links, astray, places.servers)
        differing = () if named else misnamed(expected, observed, places.servers)
        if _hardly_named(expected, observed, differing, places.servers):
            return _misnamed(expected, observed, differing)
        off = frozenset[str]() if lldp else shifted(expected, observed.links, astray, places.servers)
        if off:
            ports = {port for port in expected if port.device in off}
            observed = replace(observed, unmapped=observed.unmapped | ports)
            unmapped = _unmapped(expected, observed.unmapped)
        observed, astray = _compared(expected, observed, unmapped, astray)
        settled = settle(expected, observed, astray, places.servers)
        others = set(settled.wrong)
        there = without(settled.links, others)
        strangers = observed.strangers.keys() - observed.nameless
        more = partial.untold(others, expected, places.servers, observed.strangers) if one_fabric else ()
        concerned = concerning(others.difference(more), expected, strangers, suspect.limit(count, share))
        missing = unplugged(expected, there)
        ends = replaced(expected, missing, concerned)
    except PortTakenError as error:
        raise EvidenceError(str(error)) from error
    unbound = tuple(sorted(others.difference(concerned)))
    left = partial.sort(unbound, expected, places.servers, observed.strangers)
    unknown = partial.unknown(left, expected, ends, places.servers) if one_fabric else len(unbound)
    silent = unheard(missing, expected, ends, places.servers, one_fabric=one_fabric)
    silent = tuple(sorted({*silent, *mute(expected, ends, observed.unanswered, places.servers)}))
    for joined in silent:
        for port in joined:
            del expected[port]
    doubts = _doubts(expected, ends, settled.nameless)
    for doubt in doubts:
        for port in doubt.designed:
            del expected[port]
        for port in doubt.seen:
            del ends[port]
    odd = frozenset(port for joined in (*missing, *concerned) for port in joined)
    plugged, absent = every_fault(Differing(expected, ends, odd, there, settled), observed, places)
    slow = slow_faults(there, expected, places)
    faults = tuple(sorted((*plugged, *slow), key=lambda fault: fault.key))
    exchanged = {device for ring in settled.rings for device in ring.devices}
    wrong = len(faults) - len(settled.rings) + len(exchanged)
    apart = {device for ring in settled.rings if ring.moved for device in ring.devices}
    matched = sum(not apart & {a.device, b.device} for a, b in there) if apart else len(there)
    touches = sum(fault.touches for fault in plugged if fault.kind is not Kind.UNPLANNED)
    tally = suspect.Counts(count, matched, len(absent), unknown, wrong, touches)
    why = suspect.doubt_of_all(tally, share)
    return Verdicts(
        faults,
        matched,
        count,
        unbound,
        doubts,
        silent,
        why,
        absent,
        tuple(sorted((*unmapped, *untold))),
        left.beside,
        left.uplinks,
        shared=observed.shared,
        shifted=tuple(sorted(off)),
    )


def _mostly_there(designed: int, links: Collection[Link], wrong: Collection[Link], servers: frozenset[str]) -> bool:
    """Whether so few designed links are missing that names cannot keep most from being compared, or the servers'.

    Counting ends as soon as enough of the servers' links are there.
    """
    missing = designed - len(links) + len(wrong)
    others = frozenset(wrong)
    ends = both_ends(links)
    mine = (a for a, b in ends if (a.device in servers or b.device in servers) and link(a, b) not in others)
    return any(not suspect.hardly_named(missing, count) for count, _ in enumerate(chain((None,), mine)))


def _hardly_named(
    expected: Mapping[Port, Port], observed: Bound, differing: Sequence[Mismatch], servers: frozenset[str]
) -> bool:
    """Whether names keep most links from being compared, or most of the servers'."""
    if not differing:
        return False
    touched = _touched(expected, observed, differing)
    mine = sum(a.device in servers or b.device in servers for a, b in touched)
    theirs = sum(a.device in servers or b.device in servers for (a, b), *_ in differing)
    return suspect.hardly_named(len(differing), len(touched)) or suspect.hardly_named(theirs, mine)


def _touched(expected: Mapping[Port, Port], observed: Bound, differing: Iterable[Mismatch]) -> set[Link]:
    """Return the designed links that end at a device that is seen, by its name or by another."""
    here = {port.device for joined in observed.links for port in joined}
    here |= {port.device for port in observed.adapters.values()}
    found = {link(a, b) for a, b in expected.items() if a.device in here or b.device in here}
    return found | {each.designed for each in differing}


def _misnamed(expected: Mapping[Port, Port], observed: Bound, differing: Sequence[Mismatch]) -> Verdicts:
    """Tell no fault where names keep most links from being compared: who is called what comes first."""
    count = len(expected) // 2
    matched = sum(expected.get(joined.a) == joined.b for joined in observed.links)
    links = tuple(sorted(each.designed for each in differing))
    why = suspect.misnamed_words(matched, len(_touched(expected, observed, differing)), differing)
    return Verdicts((), matched, count, (), (), (), why, unmapped=links, misnamed=True)


def _unmapped(expected: Mapping[Port, Port], ports: frozenset[Port]) -> tuple[Link, ...]:
    """Return the designed links at ports of which nobody knows the number."""
    return tuple(sorted({link(port, expected[port]) for port in ports if port in expected}))


def _compared(
    expected: MutableMapping[Port, Port], observed: Bound, unmapped: tuple[Link, ...], astray: list[Link]
) -> tuple[Bound, list[Link]]:
    """Take links that cannot be compared out of the design; return what is seen without those of such switches.

    With it are its links that are not designed; `astray` are those of all that is seen.
    """
    devices = {port.device for port in observed.unmapped}
    if not devices:
        return observed, astray
    for joined in unmapped:
        for port in joined:
            del expected[port]

    def compared(joined: Link) -> bool:
        """At another number than the mapped ones is plugged what belongs there, or what belongs to a mapped port."""
        a, b = joined
        return not any(
            near.device in devices and near not in expected and far not in expected for near, far in ((a, b), (b, a))
        )

    links = {each: rate for each, rate in observed.links.items() if compared(each)}
    return replace(observed, links=links), undesigned(links, expected)


def _doubts(
    expected: Mapping[Port, Port], observed: Mapping[Port, Port], nameless: frozenset[str]
) -> tuple[Doubt, ...]:
    """Return where a nameless end may stand in for a designed one that is seen nowhere else.

    Between the two, cables may have taken each other's ports: which of them is right depends on whose the end is.
    """
    strangers = [port for port in observed if port.device in nameless and port not in expected] if nameless else []
    return tuple(doubt for stranger in sorted(strangers) for doubt in _between(stranger, expected, observed))


def _between(port: Port, expected: Mapping[Port, Port], observed: Mapping[Port, Port]) -> list[Doubt]:
    """Return the doubts from an end to the designed port that is seen nowhere; none where no such port is left."""
    found: list[Doubt] = []
    while port in observed:
        near = observed[port]
        far = expected.get(near)
        if far is None:
            return []
        found.append(Doubt(link(near, far), link(near, port)))
        port = far
    return found
