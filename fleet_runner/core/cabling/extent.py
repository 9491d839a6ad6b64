"""Which of a site's designed links a fabric's capture is held against, and which of what that gives are its own.

A fabric's own links end at one of its switches. A cable into another fabric of the site makes that one visible as
well: its links are then designed, too, but what is wrong there is another fabric's fault.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace

from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.explain import Kind
from fleet_runner.core.cabling.judge import Verdicts
from fleet_runner.core.cabling.links import Link, both_ends


def own(links: Iterable[Link], switches: Collection[str]) -> list[Link]:
    """Return the links that end at one of the switches."""
    return [each for each in links if each.a.device in switches or each.b.device in switches]


def near(links: Iterable[Link], switches: Collection[str], seen: Bound, servers: frozenset[str]) -> list[Link]:
    """Return what a capture is held against: the designed links of the fabric's switches, and of all seen."""
    return own(links, {*switches, *({port.device for ends in both_ends(seen.links) for port in ends} - servers)})


def narrowed(verdicts: Verdicts, mine: Collection[Link], switches: Collection[str]) -> Verdicts:
    """Return the verdicts about a fabric's own links; `mine` are those that were looked for."""
    at, ports = frozenset(switches), {port for each in mine for port in each}
    faults = (each for each in verdicts.faults if ports.intersection(each.ports) or at.intersection(each.devices))
    moved = (each for each in verdicts.faults if each.kind is Kind.EXCHANGED and each.actions)
    exchanged = {name for each in moved for name in each.devices}
    unsure = {*verdicts.silent, *verdicts.unmapped, *(doubt.designed for doubt in verdicts.doubts)}
    out = {*verdicts.absent, *unsure, *own(mine, exchanged)}
    absent = tuple(own(verdicts.absent, at))
    return replace(verdicts, faults=tuple(faults), designed=len(mine), matched=len(set(mine) - out), absent=absent)
