"""NetBox's cables between interfaces, straight or through patch panels; those to power and consoles are not read."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from fleet_runner.adapters.netbox.profiles import profile
from fleet_runner.adapters.netbox.records import Place
from fleet_runner.adapters.netbox.rows import CableRow
from fleet_runner.core.inventory.consistency import Found, Problem, paired, show
from fleet_runner.core.inventory.records import CONNECTED, REMOVED, Cable, Termination

INTERFACE, FRONT, REAR = "dcim.interface", "dcim.frontport", "dcim.rearport"
PANEL = frozenset({FRONT, REAR})

UNKNOWN_PROFILE = "which fleet-runner does not know; use another profile, or update fleet-runner"

Known = Mapping[int, Termination | None]
"""Every interface by its id; None where its device has no name."""


class End(NamedTuple):
    """What a cable ends at: NetBox's type of it, and its id."""

    kind: str
    id: int


@dataclass(frozen=True, slots=True)
class CableWithEnds:
    """A cable of NetBox's and what it ends at. `place` is its page, where its owner finds it.

    `name` is its label and, unless that is its alone, its number.
    """

    row: CableRow
    place: Place
    name: str
    a: list[End]
    b: list[End]

    @property
    def ends(self) -> list[End]:
        """Return what both ends end at."""
        return [*self.a, *self.b]

    def pairs(self) -> list[tuple[End, End]]:
        """Return which end of side A it joins with which of side B: by its profile, or end by end without one."""
        if not self.row.profile:
            return paired(self.a, self.b)
        found = profile(self.row.profile)
        if found is None:
            return []
        both = {
            (one - 1, other - 1)
            for (one, _), (other, _) in found.forth.items()
            if one <= len(self.a) and other <= len(self.b)
        }
        return [(self.a[one], self.b[other]) for one, other in sorted(both)]

    def bundle(self) -> tuple[str, ...]:
        """Return the bundle it lies in, as a carrier."""
        return (f"bundle {self.row.bundle}",) if self.row.bundle else ()

    def found(self, one: Termination, other: Termination, carriers: tuple[str, ...]) -> Found[Cable]:
        """Return the designed cable that it is for two interfaces."""
        row = self.row
        cable = Cable(one, other, row.label, row.kind, carriers, row.status or CONNECTED, row.id)
        return Found(cable, self.place)

    def interfaces(self, ends: Iterable[End], known: Known) -> Problem | list[Termination | None]:
        """Return the interfaces of some ends, or the problem that one was not there."""
        missing = next((end.id for end in ends if end.id not in known), None)
        if missing is not None:
            text = f"the cable ends at interface {missing}, which was not found; read NetBox again"
            return Problem(self.place(), text)
        return [known[end.id] for end in ends]


def touched(rows: Iterable[CableRow]) -> bool:
    """Whether any cable ends at a patch panel's port, so that the lists of ports are worth reading."""
    return any(end.kind in PANEL for row in rows for end in row.ends)


def strands(rows: Collection[CableRow], page: str) -> list[CableWithEnds]:
    """Return every cable that is not to be removed, with what it ends at."""
    laid = [row for row in rows if row.status != REMOVED]
    labels = Counter(row.label for row in laid)
    found: list[CableWithEnds] = []
    for row in laid:
        name = row.label if row.label and labels[row.label] == 1 else f"{row.label} #{row.id}".strip()
        a, b = ([End(end.kind, end.id) for end in row.ends if end.side == side] for side in "AB")
        found.append(CableWithEnds(row, Place(f"{page}/{row.id}/"), name, a, b))
    return found


def cables(found: Iterable[CableWithEnds], known: Known) -> Iterator[Found[Cable] | Problem]:
    """Return the cables that run straight from interface to interface."""
    for strand in found:
        if all(end.kind == INTERFACE for end in strand.ends):
            yield from _straight(strand, known)


def _straight(strand: CableWithEnds, known: Known) -> Iterator[Found[Cable] | Problem]:
    pairs = strand.pairs()
    if not pairs and strand.row.profile and profile(strand.row.profile) is None:
        yield Problem(strand.place(), f"the cable has the profile {show(strand.row.profile)}, {UNKNOWN_PROFILE}")
        return
    if not pairs:
        text = f"the cable has {len(strand.a)} interfaces at end A and {len(strand.b)} at end B"
        yield Problem(strand.place(), f"{text}, expected one at each; correct it")
    shared = (f"cable {strand.name}",) if len(pairs) > 1 else ()
    for pair in pairs:
        ends = strand.interfaces(pair, known)
        if isinstance(ends, Problem):
            yield ends
            continue
        near, far = ends
        if near is not None and far is not None:
            yield strand.found(near, far, (*strand.bundle(), *shared))
