"""Designed links held against observed ones: the faults, and what could not be told."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fleet_runner.core.cabling.explain import Fault, Places, degraded_fault, explain
from fleet_runner.core.cabling.links import Link, Port, TakenError, link, matching
from fleet_runner.core.cabling.names import Bound, Names, bind
from fleet_runner.core.cabling.rates import degraded
from fleet_runner.core.cabling.silence import unheard
from fleet_runner.core.errors import EvidenceError
from fleet_runner.core.parsers.discovery import FabricLink


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

    `unbound` are observed links of which the design knows neither port nor both devices; they are no faults. `doubts`
    and `silent`, designed links in a fabric of which nothing was heard, may be there or not. `absent` are designed
    links that are certainly not in place. `suspect` says why the capture or the design cannot be right ("" if it can).
    """

    faults: tuple[Fault, ...]
    matched: int
    designed: int
    unbound: tuple[Link, ...]
    doubts: tuple[Doubt, ...]
    silent: tuple[Link, ...]
    suspect: str = ""
    absent: tuple[Link, ...] = ()


SUSPECT_SHARE = 0.005
"""The share of designed links; more faults than that at once are no faults (UFM PDR's isolation cap)."""

SUSPECT_FAULTS = 10
"""Faults that are never too many."""


def judge(
    designed: Iterable[Link],
    seen: Iterable[FabricLink],
    known: Names,
    places: Places,
    *,
    share: float = SUSPECT_SHARE,
) -> Verdicts:
    """Judge a whole fabric. Raises EvidenceError where a port has two cables, in the design or in the evidence."""
    return hold(designed, bind(seen, known), places, share=share)


def hold(designed: Iterable[Link], observed: Bound, places: Places, *, share: float = SUSPECT_SHARE) -> Verdicts:
    """Judge links whose ports are the design's."""
    try:
        expected = matching(designed)
        devices = {port.device for port in expected}
        there = {joined: rate for joined, rate in observed.links.items() if expected.get(joined.a) == joined.b}
        others = observed.links.keys() - there.keys()
        concerned = [joined for joined in others if _concerns(joined, expected, devices)]
        ends = matching([*there, *concerned])
    except TakenError as error:
        raise EvidenceError(str(error)) from error
    count = len(expected) // 2
    unbound = tuple(sorted(others.difference(concerned)))
    silent = unheard(expected, ends, places.servers)
    for joined in silent:
        for port in joined:
            del expected[port]
    doubts = _doubts(expected, ends, observed.nameless)
    for doubt in doubts:
        for port in doubt.designed:
            del expected[port]
        for port in doubt.seen:
            del ends[port]
    absent = tuple(sorted(link(a, b) for a, b in expected.items() if a < b and ends.get(a) != b))
    slow = (degraded_fault(joined, rate, places) for joined, rate in degraded(there, places.servers))
    faults = tuple(sorted((*explain(expected, ends, places), *slow), key=lambda fault: fault.key))
    suspect = _suspect(len(faults), len(there), count, len(unbound), share)
    return Verdicts(faults, len(there), count, unbound, doubts, silent, suspect, absent)


def _suspect(faults: int, matched: int, designed: int, unbound: int, share: float) -> str:
    if unbound > matched:
        return f"{unbound} links are unknown to the design and {matched} known: is the capture of another fabric?"
    if faults > max(SUSPECT_FAULTS, share * designed):
        return f"{faults} faults at once in {designed} designed links: the capture or the design is suspect."
    return ""


def _concerns(joined: Link, expected: Mapping[Port, Port], devices: set[str]) -> bool:
    """A cable that no one designed is a fault between two devices of the design, and elsewhere somebody else's."""
    a, b = joined
    if a == b:  # a loopback plug is no cable
        return False
    return a in expected or b in expected or (a.device in devices and b.device in devices)


def _doubts(
    expected: Mapping[Port, Port], observed: Mapping[Port, Port], nameless: frozenset[str]
) -> tuple[Doubt, ...]:
    """Return where a nameless end stands in for a designed one that is seen nowhere else."""
    strangers = [port for port in observed if port.device in nameless] if nameless else []
    found = {}
    for stranger in sorted(strangers):
        near = observed[stranger]
        far = expected.get(near)
        if far is not None and far not in observed:
            found[link(near, far)] = Doubt(link(near, far), link(near, stranger))
    return tuple(found.values())
