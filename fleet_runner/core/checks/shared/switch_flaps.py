"""Links between switches that go down and come up again: what the switches at both ends counted.

A node's own log tells of its links (`link_flaps`); of the others nobody but the switches knows.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from fleet_runner.core.cabling import quality
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.checks.parsers.port_states.port import DOWNS, SwitchPort
from fleet_runner.core.checks.shared.counter_growth import Growth
from fleet_runner.core.checks.shared.link_ends import CLEAN
from fleet_runner.core.checks.verdicts import Finding, Remedy


class FlappingLink(NamedTuple):
    """A link that went down too often: the end that counted most, how often, and in what time.

    `other` is what the other end counted in its own time, None where it does not tell.
    """

    near: Port
    far: Port
    downs: int
    other: int | None
    window: Growth

    @property
    def sure(self) -> bool:
        """Whether both ends saw it: then it is the link, and neither of the switches."""
        return self.other is not None and self.other >= quality.DAY_FLAPS


def flapping(
    links: Iterable[Link], ports: Mapping[Port, SwitchPort], grown: Mapping[str, Growth]
) -> Iterator[FlappingLink]:
    """Yield the links between two switches that went down six times or more since a look of up to a day ago.

    A switch that restarted meanwhile tells nothing (`counter_growth`), and its neighbours saw it go once.
    """
    for each in sorted(links):
        if each.a.device not in grown or each.b.device not in grown:
            continue
        counted = {port: _downs(port, ports, grown[port.device]) for port in each}
        near, far = sorted(each, key=lambda port: -(counted[port] or 0))
        if (most := counted[near] or 0) >= quality.DAY_FLAPS:
            yield FlappingLink(near, far, most, counted[far], grown[near.device])


def _downs(port: Port, ports: Mapping[Port, SwitchPort], window: Growth) -> int | None:
    if port not in ports or DOWNS not in ports[port].counts or not window.seconds:
        return None
    return window.grown.get(f"{port.interface}/{DOWNS}", 0)


def finding(link: FlappingLink, where: Places, fabric: str) -> Finding:
    """Return what is said of such a link; what only one end saw is recorded."""
    ports = sorted((link.near, link.far))
    other = "its switch does not tell" if link.other is None else f"the other end counted {link.other}"
    return Finding(
        code="cabling.link_flaps" if link.sure else "cabling.one_end_down",
        component=f"{ports[0]} to {ports[1]}",
        message=f"{link.near} to {link.far} went down {link.downs} times in {link.window.hours}, expected fewer than"
        f" {quality.DAY_FLAPS} in a day; {other}",
        remedy=Remedy.RECABLE if link.sure else Remedy.RECORD,
        fault=quality.key(ports) + ("" if link.sure else "/one_end_down"),
        nodes=(fabric,),
        steps=(
            f"At {where.port(link.near)}: {CLEAN}.",
            f"At its other end, {where.port(link.far)}: do the same.",
            "If the next sweep still finds it, replace the cable with its modules.",
        )
        if link.sure
        else (),
        devices=tuple(sorted({port.device for port in ports})),
    )
