"""NetBox's cables between interfaces, straight or through patch panels; those to power and consoles are not read."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from fleet_runner.adapters.netbox.client import Json
from fleet_runner.adapters.netbox.records import Place
from fleet_runner.core.consistency import Found, Problem, paired
from fleet_runner.core.records import CONNECTED, REMOVED, Cable, Termination

CABLE_FIELDS = "id,type,label,status,profile,bundle"
"""A profile is known since NetBox 4.5, a bundle since 4.6; older ones leave them out."""

TERMINATION_FIELDS = "cable,cable_end,termination_type,termination_id"
INTERFACE, FRONT, REAR = "dcim.interface", "dcim.frontport", "dcim.rearport"
PANEL = frozenset({FRONT, REAR})

Known = Mapping[int, Termination | None]
"""Every interface by its id; None where its device has no name."""


class End(NamedTuple):
    """What a cable ends at: NetBox's type of it, and its id."""

    kind: str
    id: int


@dataclass(frozen=True, slots=True)
class Strand:
    """A cable of NetBox's and what it ends at. `place` is its page, where its owner finds it.

    `name` is its label and, unless that is its alone, its number.
    """

    row: Json
    place: Place
    name: str
    a: list[End] = field(default_factory=list[End])
    b: list[End] = field(default_factory=list[End])

    @property
    def ends(self) -> list[End]:
        """Return what both ends end at."""
        return [*self.a, *self.b]

    def bundle(self) -> tuple[str, ...]:
        """Return the bundle it lies in, as a carrier."""
        found = self.row.get("bundle")
        return (f"bundle {found['name']}",) if found else ()

    def found(self, one: Termination, other: Termination, carriers: tuple[str, ...]) -> Found[Cable]:
        """Return the designed cable that it is for two interfaces."""
        row = self.row
        status = value(row["status"]) or CONNECTED
        cable = Cable(one, other, row["label"] or "", value(row["type"]), carriers, status, row["id"])
        return Found(cable, self.place)

    def interfaces(self, ends: Iterable[End], known: Known) -> Problem | list[Termination | None]:
        """Return the interfaces of some ends, or the problem that one was not there."""
        missing = next((end.id for end in ends if end.id not in known), None)
        if missing is not None:
            text = f"the cable ends at interface {missing}, which was not there; read it again"
            return Problem(self.place(), text)
        return [known[end.id] for end in ends]


def strands(rows: Iterable[Json], ends: Iterable[Json], page: str) -> list[Strand]:
    """Return every cable that is not to be removed, with what it ends at."""
    sides: dict[tuple[int, str], list[End]] = defaultdict(list)
    for end in ends:
        sides[end["cable"], end["cable_end"]].append(End(end["termination_type"], end["termination_id"]))
    laid = [row for row in rows if value(row["status"]) != REMOVED]
    labels = Counter(row["label"] for row in laid)
    found: list[Strand] = []
    for row in laid:
        number, label = row["id"], row["label"]
        name = label if label and labels[label] == 1 else f"{label or ''} #{number}".strip()
        found.append(Strand(row, Place(f"{page}/{number}/"), name, sides[number, "A"], sides[number, "B"]))
    return found


def cables(found: Iterable[Strand], known: Known) -> Iterator[Found[Cable] | Problem]:
    """Return the cables that run straight from interface to interface."""
    for strand in found:
        if all(end.kind == INTERFACE for end in strand.ends):
            yield from _straight(strand, known)


def _straight(strand: Strand, known: Known) -> Iterator[Found[Cable] | Problem]:
    pairs = paired(strand.a, strand.b)
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


def value(choice: object) -> str:
    """Return the value of a choice: NetBox gives some as text, some as {"value", "label"}, some as null."""
    if isinstance(choice, dict):
        choice = choice.get("value")
    return choice if isinstance(choice, str) else ""
