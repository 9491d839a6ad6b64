"""Links whose switches receive what FEC could not correct: more blocks than IEEE 802.3 allows."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from fleet_runner.core.cabling import quality
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.cabling.quality import HOUR
from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.checks.parsers.port_states.port import UNCORRECTED, SwitchPort
from fleet_runner.core.checks.shared.counter_growth import Growth
from fleet_runner.core.checks.shared.link_ends import CLEAN
from fleet_runner.core.checks.shared.previous_look import Earlier
from fleet_runner.core.checks.shared.roce_counters import FAST_MBPS, FAST_SHARE, LEAST, SLOW_SHARE
from fleet_runner.core.checks.verdicts import Finding, Remedy

BAD = "bad"
"""What a sweep observes beside: what ports that were bad had counted."""


class BadReceiver(NamedTuple):
    """A port of a switch that received blocks that FEC could not correct, what it counted, and its link's far end.

    `again`: it was bad at the last look, too, and counted on since: no boot of the far end explains that.
    """

    near: Port
    far: Port
    errors: int
    total: int
    most: float
    window: Growth
    again: bool


def bad_receivers(
    links: Iterable[Link], ports: Mapping[Port, SwitchPort], grown: Mapping[str, Growth], before: Earlier | None
) -> Iterator[BadReceiver]:
    """Yield the links of which a switch received what FEC could not correct, by the end that received most."""
    for each in links:
        found: list[BadReceiver] = []
        for near, far in (each, each[::-1]):
            port, window = ports.get(near), grown.get(near.device)
            if port is None or window is None:
                continue
            count, rate = window.grown.get(f"{near.interface}/{UNCORRECTED}", 0), _allowed(port)
            most, total = max(LEAST, rate * window.seconds), port.counts.get(UNCORRECTED, 0)
            if count > most:
                then = number(before.value(BAD, f"{near}")) if before is not None else None
                again = before is not None and then is not None and total - then > rate * before.seconds
                found.append(BadReceiver(near, far, count, total, most, window, again))
        yield from sorted(found, key=lambda bad: -bad.errors)[:1]


def rates(
    links: Iterable[Link], ports: Mapping[Port, SwitchPort], grown: Mapping[str, Growth]
) -> tuple[list[tuple[Link, float, float]], list[Link]]:
    """Return the links that counted any, with errors an hour and how many are allowed; and those that nobody told of.

    Of two ends it is the worse one. An end tells nothing whose speed is not known, or that was not compared yet.
    """
    told: list[tuple[Link, float, float]] = []
    untold: list[Link] = []
    for each in links:
        ends = [(port, ports[port], grown[port.device]) for port in each if port in ports and port.device in grown]
        found = [
            (window.grown.get(f"{port.interface}/{UNCORRECTED}", 0) / window.seconds * HOUR, _allowed(state) * HOUR)
            for port, state, window in ends
            if UNCORRECTED in state.counts and window.seconds and state.mbps
        ]
        if not found:
            untold.append(each)
        elif (worst := max(found))[0]:
            told.append((each, *worst))
    return told, untold


def _allowed(port: SwitchPort) -> float:
    """Return how many blocks a second a port may receive with errors, by its speed."""
    return (FAST_SHARE if (port.mbps or 0) >= FAST_MBPS else SLOW_SHARE) * (port.mbps or 0) * 1e6


def finding(bad: BadReceiver, where: Places, fabric: str) -> Finding:
    """Return a finding about a cable, under the key that the node's own check gives to it."""
    ports = sorted((bad.near, bad.far))
    devices = tuple(sorted({port.device for port in ports}))
    more = "" if bad.again else "; the next sweep tells whether it goes on"
    return Finding(
        code="cabling.symbol_errors",
        component=f"{ports[0]} to {ports[1]}",
        message=f"{bad.near} received {bad.errors} blocks from {bad.far} that FEC could not correct in"
        f" {bad.window.hours}, allowed {bad.most:.0f}{more}",
        remedy=Remedy.RECABLE if bad.again else Remedy.RECORD,
        fault=quality.key(ports),
        nodes=(fabric, *(device for device in devices if device in where.servers)),
        steps=(
            f"At {where.port(bad.near)}: {CLEAN}.",
            f"At its other end, {where.port(bad.far)}, which sends what arrives with errors: do the same.",
            "If the next check still finds it, replace the cable with its modules.",
        ),
        devices=devices,
    )
