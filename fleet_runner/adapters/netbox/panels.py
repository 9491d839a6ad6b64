"""Links through patch panels: NetBox's cables followed from interface to interface, as NetBox itself traces them.

A link through panels is told by one of its cables: the cord at the node's end, or, where no end or both are nodes',
the one at the end that sorts first. Its label, type, status and id are the link's.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fleet_runner.adapters.netbox.cables import FRONT, INTERFACE, PANEL, REAR, CableWithEnds, End, Known
from fleet_runner.adapters.netbox.rows import FrontRow, RearRow
from fleet_runner.core.inventory.consistency import Found, Problem, paired
from fleet_runner.core.inventory.records import PANEL as SHARED
from fleet_runner.core.inventory.records import Cable, Termination


@dataclass(frozen=True, slots=True)
class Panels:
    """The insides of patch panels: what lies behind a front port, what before a position of a rear port."""

    behind: Mapping[int, tuple[int, int]]
    before: Mapping[tuple[int, int], int]
    positions: Mapping[int, int]
    device: Mapping[End, str]


@dataclass(frozen=True, slots=True)
class Path:
    """The cables from one interface to another, and what they share with other paths."""

    ends: tuple[End, End]
    strands: tuple[CableWithEnds, ...]
    carriers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Followed:
    """What came of following cables into panels; `lost` are the interfaces whose path reaches no other one."""

    cables: list[Found[Cable] | Problem]
    lost: list[Termination]


def panels(fronts: Iterable[FrontRow], rears: Iterable[RearRow]) -> Panels:
    """Return panels from NetBox's front and rear ports; a front port with several rear ones leads nowhere."""
    behind: dict[int, tuple[int, int]] = {}
    device: dict[End, str] = {}
    for front in fronts:
        device[End(FRONT, front.id)] = front.panel
        if len(front.rears) == 1:
            behind[front.id] = front.rears[0]
    positions: dict[int, int] = {}
    for rear in rears:
        device[End(REAR, rear.id)] = rear.panel
        positions[rear.id] = rear.positions
    return Panels(behind, {rear: front for front, rear in behind.items()}, positions, device)


def follow(strands: Iterable[CableWithEnds], inside: Panels, known: Known, nodes: Collection[str]) -> Followed:
    """Return every link that goes through panels; `nodes` are the names of devices whose cord tells of the link."""
    joined = _joined(strands)
    followed = Followed([], [])
    for start in sorted(end for end in joined if end.kind == INTERFACE):
        path = _path(start, joined, inside)
        if path is None:
            near = known.get(start.id)
            followed.lost.extend([near] if near else [])
        elif path.ends[0] < path.ends[1]:  # each path is found from both its ends
            followed.cables.extend(_cable(path, known, nodes))
    return followed


def note(lost: Sequence[Termination]) -> tuple[str, ...]:
    """Return the sentence about paths that end at a panel; nothing where there are none."""
    if not lost:
        return ()
    first = min(lost)
    many = f"{len(lost)} interfaces are" if len(lost) > 1 else "1 interface is"
    text = f"{many} cabled to a patch panel from which no single way leads on to another interface"
    return (f"{text} (first: {first}); they have no designed link: complete or correct the patching in NetBox",)


Joined = Mapping[End, list[tuple[CableWithEnds, End]]]


def _joined(strands: Iterable[CableWithEnds]) -> Joined:
    """Return what each end is joined to by cables that touch a panel; a shuffled one joins nothing that is known."""
    joined: dict[End, list[tuple[CableWithEnds, End]]] = defaultdict(list)
    for strand in strands:
        if not any(end.kind in PANEL for end in strand.ends):
            continue
        for end in strand.ends:
            joined.setdefault(end, [])
        if "shuffle" not in strand.row.profile:
            for a, b in paired(strand.a, strand.b):
                joined[a].append((strand, b))
                joined[b].append((strand, a))
    return joined


def _path(start: End, joined: Joined, inside: Panels) -> Path | None:
    """Follow the only way there is; None where it ends, forks or goes round."""
    here: End | None = start
    stack: list[int] = []  # positions of the rear ports passed and not yet left again
    way: list[CableWithEnds] = []
    trunks: dict[str, None] = {}
    crossed: dict[str, None] = {}
    seen: set[tuple[End, tuple[int, ...]]] = set()
    while here is not None and (here, tuple(stack[-1:])) not in seen and len(joined.get(here, ())) == 1:
        seen.add((here, tuple(stack[-1:])))
        strand, there = joined[here][0]
        if len(joined[there]) > 1:
            return None
        way.append(strand)
        if there.kind == INTERFACE:
            bundles = dict.fromkeys(name for each in way for name in each.bundle())
            return None if stack else Path((start, there), tuple(way), (*bundles, *trunks, *crossed))
        if here.kind == there.kind == REAR and (inside.positions.get(here.id, 1) > 1 or len(strand.a) > 1):
            trunks[f"trunk {strand.name}"] = None
        crossed[f"{SHARED} {inside.device.get(there, 'unknown')}"] = None
        here = _through(there, inside, stack)
    return None


def _through(there: End, inside: Panels, stack: list[int]) -> End | None:
    """Cross a panel to its other side, keeping in mind by which position of a rear port."""
    if there.kind == FRONT and there.id in inside.behind:
        rear, position = inside.behind[there.id]
        if inside.positions.get(rear, 1) > 1:
            stack.append(position)
        return End(REAR, rear)
    if there.kind == REAR:
        several = inside.positions.get(there.id, 1) > 1
        position = (stack.pop() if stack else 0) if several else 1
        front = inside.before.get((there.id, position))
        return None if front is None else End(FRONT, front)
    return None


def _cable(path: Path, known: Known, nodes: Collection[str]) -> Iterator[Found[Cable] | Problem]:
    ends = path.strands[0].interfaces(path.ends, known)
    if isinstance(ends, Problem):
        yield ends
        return
    one, other = ends
    if one is not None and other is not None:
        near, cord = min((one, path.strands[0]), (other, path.strands[-1]), key=lambda end: _rank(end[0], nodes))
        yield cord.found(near, other if near is one else one, path.carriers)


def _rank(end: Termination, nodes: Collection[str]) -> tuple[bool, Termination]:
    return end.device not in nodes, end
