"""What changed between two looks at a fabric, told as what hands did: links come, gone, moved, slower or faster.

Both looks are matchings, so what lies between them falls apart like faults do (`diff`), and the fewest touches that
lead from the first to the second (`plan`) are the simplest account of what happened.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.diff import diff
from fleet_runner.core.cabling.links import Link, Port, PortTakenError, matching
from fleet_runner.core.cabling.plan import Add, Move, Remove, plan


@dataclass(frozen=True, slots=True)
class Rerated:
    """A link that is in both looks and runs at another rate ("4x NDR")."""

    link: Link
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Changes:
    """What the second look has that the first had not, and the other way round. `same` counts links in both."""

    come: tuple[Link, ...]
    gone: tuple[Link, ...]
    moved: tuple[Move, ...]
    rerated: tuple[Rerated, ...]
    new_devices: tuple[str, ...]
    gone_devices: tuple[str, ...]
    same: int

    @property
    def any(self) -> bool:
        """Whether there is a change at all."""
        return bool(self.come or self.gone or self.moved or self.rerated or self.new_devices or self.gone_devices)


def changes(before: Bound, after: Bound) -> Changes:
    """Return what lies between two looks. Raises EvidenceError where one of them has two cables in a port."""
    first, second = _matching(before.links), _matching(after.links)
    touches = [
        touch
        for component in diff(second, first)
        for touch in plan(component, lambda device: device, lambda _: False)
    ]
    both = before.links.keys() & after.links.keys()
    rates = {joined: (before.links[joined], after.links[joined]) for joined in both}
    devices, now = _devices(before.links), _devices(after.links)
    return Changes(
        come=tuple(sorted(touch.cable for touch in touches if isinstance(touch, Add))),
        gone=tuple(sorted(touch.cable for touch in touches if isinstance(touch, Remove))),
        moved=tuple(sorted((touch for touch in touches if isinstance(touch, Move)), key=_ports)),
        rerated=tuple(
            Rerated(joined, old, new) for joined, (old, new) in sorted(rates.items()) if old and new and old != new
        ),
        new_devices=tuple(sorted(now - devices)),
        gone_devices=tuple(sorted(devices - now)),
        same=len(both),
    )


def _matching(links: Iterable[Link]) -> dict[Port, Port]:
    """Leave loopback plugs out: they join nothing."""
    try:
        return matching(each for each in links if each.a != each.b)
    except PortTakenError as error:
        raise EvidenceError(str(error)) from error


def _devices(links: Mapping[Link, str]) -> set[str]:
    return {port.device for joined in links for port in joined}


def _ports(move: Move) -> tuple[Port, Port]:
    return move.stays, move.target
