"""RoCE on a fabric's links: what a switch's ports are set to, against the profile of whoever is at the other end.

A node's own check compares the node's end with the same profile, so both ends are alike where both are as it says,
and the end that differs is named. Between two switches, PFC says which one is right if all profiles want the same. A
switch's MTU may be larger than a host's, and makers count other headers as part of it: only one that is too small for
a host is told. Where no profile says how large, one end that is less than half the other is.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.cabling.port_spellings import respelled
from fleet_runner.core.checks.parsers.port_states.port import SwitchPort
from fleet_runner.core.inventory.roce import RoceProfile

SwitchPorts = Mapping[str, Mapping[str, SwitchPort]]


class WrongSetting(NamedTuple):
    """A setting ("PFC") that ports of a switch should not have: what they have, what is expected, and the ports."""

    switch: str
    setting: str
    found: str
    expected: str
    ports: tuple[str, ...]


class UnlikeEnds(NamedTuple):
    """A setting in which the two ends of a link between switches differ, with what each end has.

    `wrong` is the switch that is not as the nodes' profiles say, "" where they do not tell.
    """

    joined: Link
    setting: str
    found: tuple[str, str]
    wrong: str = ""


def named(told: SwitchPorts, designed: Iterable[Link]) -> dict[Port, SwitchPort]:
    """Return the ports of switches by the design's names; one that nobody can tell is left out."""
    wanted: dict[str, set[str]] = defaultdict(set)
    for each in designed:
        for port in each:
            wanted[port.device].add(port.interface)
    found: dict[Port, SwitchPort] = {}
    for device, ports in told.items():
        mine = wanted.get(device, set())
        for name, state in ports.items():
            if interface := name if name in mine else respelled(name, mine):
                found.setdefault(Port(device, interface), state)
    return found


def wrong(
    links: Iterable[Link], ports: Mapping[Port, SwitchPort], wanted: Mapping[Port, RoceProfile]
) -> Iterator[WrongSetting]:
    """Yield what ports are set to against the profile of the node there; between switches, MTUs too small."""
    groups: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    most = max((each.mtu or 0 for each in wanted.values()), default=0)
    for each in links:
        for near, far in (each, each[::-1]):
            if near in ports and far in wanted:
                for setting, found, expected in _against(ports[near], wanted[far]):
                    groups[near.device, setting, found, expected].append(near.interface)
            elif near in ports and far in ports and 0 < (ports[near].mtu or most) < most:
                groups[near.device, "MTU", str(ports[near].mtu), f"at least {most}"].append(near.interface)
    for key, interfaces in sorted(groups.items()):
        yield WrongSetting(*key, tuple(sorted(interfaces)))


def unlike(
    links: Iterable[Link],
    ports: Mapping[Port, SwitchPort],
    leaves: frozenset[str],
    wanted: Mapping[Port, RoceProfile],
) -> Iterator[UnlikeEnds]:
    """Yield in what the ends of links between switches differ; at least one of the two is a leaf of RoCE ports."""
    priorities = {each.pfc for each in wanted.values()}
    sized = any(each.mtu for each in wanted.values())
    for each in sorted(links):
        one, other = ports.get(each.a), ports.get(each.b)
        if one is None or other is None or leaves.isdisjoint({each.a.device, each.b.device}):
            continue
        if one.fec and other.fec and one.fec != other.fec:
            yield UnlikeEnds(each, "FEC", (one.fec, other.fec))
        if one.pfc is not None and other.pfc is not None and one.pfc != other.pfc:
            off = [port.device for port, pfc in ((each.a, one.pfc), (each.b, other.pfc)) if pfc not in priorities]
            sure = off[0] if len(priorities) == len(off) == 1 else ""
            yield UnlikeEnds(each, "PFC", (_numbers(one.pfc), _numbers(other.pfc)), sure)
        if not sized and one.mtu and other.mtu and 2 * min(one.mtu, other.mtu) < max(one.mtu, other.mtu):
            yield UnlikeEnds(each, "MTU", (str(one.mtu), str(other.mtu)))
        if one.mbps and other.mbps and one.mbps != other.mbps:
            yield UnlikeEnds(each, "speed", (f"{one.mbps} Mb/s", f"{other.mbps} Mb/s"))


def _against(port: SwitchPort, wanted: RoceProfile) -> Iterator[tuple[str, str, str]]:
    if wanted.pfc is not None and port.pfc is not None and port.pfc != wanted.pfc:
        agreed = " (by DCBX, which the other end may not speak)" if port.dcbx else ""
        on = f"on for priorities {_numbers(port.pfc)}" if port.pfc else "off"
        yield "PFC", f"{on}{agreed}", _numbers(wanted.pfc)
    marked = (port.pfc or frozenset()).intersection(wanted.ecn)
    if port.ecn is not None and marked - port.ecn:
        yield "ECN", f"off for priorities {_numbers(marked - port.ecn)}", f"on for {_numbers(marked)}"
    if wanted.mtu and port.mtu and port.mtu < wanted.mtu:
        yield "MTU", str(port.mtu), f"at least {wanted.mtu}"
    if wanted.fec and port.fec and port.fec not in {"none" if word == "off" else word for word in wanted.fec}:
        yield "FEC", port.fec, " or ".join(wanted.fec)


def _numbers(priorities: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(priorities))) or "none"
