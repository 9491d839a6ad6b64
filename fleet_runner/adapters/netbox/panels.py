"""Links through patch panels: NetBox's cables followed from interface to interface, as NetBox itself traces them.

A link through panels is told by one of its cables: the cord at the node's end, or, where no end or both are nodes',
the one at the end that sorts first. Its label, type, status and id are the link's.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fleet_runner.adapters.netbox.cables import FRONT, INTERFACE, PANEL, REAR, CableWithEnds, End, Known
from fleet_runner.adapters.netbox.profiles import profile
from fleet_runner.adapters.netbox.rows import FrontRow, RearRow
from fleet_runner.core.inventory.consistency import Found, Problem
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


def panels(fronts: Iterable[FrontRow], rears: Iterable[RearRow], names: Mapping[int, str] | None = None) -> Panels:
    """Return panels from NetBox's front and rear ports; a front port with several rear ones leads nowhere.

    `names` are those of devices, by their ids, that are called otherwise than in the rows.
    """
    called = names or {}
    behind: dict[int, tuple[int, int]] = {}
    device: dict[End, str] = {}
    for front in fronts:
        device[End(FRONT, front.id)] = called.get(front.device, front.panel)
        if len(front.rears) == 1:
            behind[front.id] = front.rears[0]
    positions: dict[int, int] = {}
    for rear in rears:
        device[End(REAR, rear.id)] = called.get(rear.device, rear.panel)
        positions[rear.id] = rear.positions
    return Panels(behind, {rear: front for front, rear in behind.items()}, positions, device)


def follow(strands: Iterable[CableWithEnds], inside: Panels, known: Known, nodes: Collection[str]) -> Followed:
    """Return every link that goes through panels; `nodes` are the names of devices whose cord tells of the link."""
    joined = _joined(strands)
    followed = Followed([], [])
    found: list[Path] = []
    for start in sorted(end for end in joined if end.kind == INTERFACE):
        paths = _paths(start, joined, inside)
        if paths is None:
            near = known.get(start.id)
            followed.lost.extend([near] if near else [])
        else:
            found += [path for path in paths if path.ends[0] < path.ends[1]]  # each is found from both its ends
    often = Counter(end for path in found for end in path.ends)
    for path in found:
        followed.cables.extend(_cable(path, known, nodes, often))
    return followed


def note(lost: Sequence[Termination]) -> tuple[str, ...]:
    """Return the sentence about paths that end at a panel; nothing where there are none."""
    if not lost:
        return ()
    first = min(lost)
    many = f"{len(lost)} interfaces are" if len(lost) > 1 else "1 interface is"
    text = f"{many} cabled to a patch panel, and the path ends, forks or loops there"
    return (f"{text} (first: {first}); they have no designed link; complete or correct the patching in NetBox",)


Joined = Mapping[End, list[tuple[CableWithEnds, End]]]
"""What each end is joined to, by the one cable that it takes."""

Lane = tuple[int, ...]
"""Positions of rear ports and of cables' connectors that were passed and not yet left again."""


def _joined(strands: Iterable[CableWithEnds]) -> Joined:
    """Return what each end is joined to by cables that touch a panel."""
    joined: dict[End, list[tuple[CableWithEnds, End]]] = defaultdict(list)
    for strand in strands:
        if not any(end.kind in PANEL for end in strand.ends):
            continue
        for end in strand.ends:
            joined.setdefault(end, [])
        for a, b in strand.pairs():
            joined[a].append((strand, b))
            joined[b].append((strand, a))
    return joined


def _paths(start: End, joined: Joined, inside: Panels) -> list[Path] | None:
    """Follow each lane of an interface; None where one of them ends, forks or goes round."""
    found = [_path(start, joined, inside, lane) for lane in _lanes(start, joined)]
    if not found or None in found:
        return None
    return list({path.ends: path for path in found if path is not None}.values())


def _lanes(start: End, joined: Joined) -> list[Lane]:
    """Return the positions at which an interface's cable begins: none where it has no profile with several."""
    strand = joined[start][0][0] if joined[start] else None
    shape = profile(strand.row.profile) if strand is not None and strand.row.profile else None
    if strand is None or shape is None:
        return [()]
    side, connector = _side(strand, start)
    used = [at for at in shape.lanes(side, connector) if _far(strand, shape.through(side, at), side) is not None]
    return [(position,) for _, position in used]


def _side(strand: CableWithEnds, end: End) -> tuple[str, int]:
    """Return the side of a cable that an end is at, and its connector there."""
    return ("A", strand.a.index(end) + 1) if end in strand.a else ("B", strand.b.index(end) + 1)


def _far(strand: CableWithEnds, at: tuple[int, int] | None, side: str) -> End | None:
    """Return what is at a connector of the other side."""
    ends = strand.b if side == "A" else strand.a
    return ends[at[0] - 1] if at is not None and at[0] <= len(ends) else None


def _cross(here: End, joined: Joined, stack: list[int]) -> tuple[CableWithEnds, End] | None:
    """Go along a cable to its other end; None where it forks. A profile says which position leads where."""
    every = joined.get(here, [])
    if not every:
        return None
    strand = every[0][0]
    shape = profile(strand.row.profile) if strand.row.profile else None
    if shape is None:
        return every[0] if len(every) == 1 and len(joined[every[0][1]]) == 1 else None
    side, connector = _side(strand, here)
    positions = [position for _, position in shape.lanes(side, connector)]
    if not stack and len(positions) != 1:
        return None
    at = shape.through(side, (connector, stack.pop() if len(positions) > 1 else 1))
    there = _far(strand, at, side)
    if there is None or at is None:
        return None
    if shape.positions[side == "A"] > 1:
        stack.append(at[1])
    return strand, there


def _path(start: End, joined: Joined, inside: Panels, lane: Lane) -> Path | None:
    """Follow the only way there is; None where it ends, forks or goes round."""
    here: End | None = start
    stack = list(lane)
    way: list[CableWithEnds] = []
    trunks: dict[str, None] = {}
    crossed: dict[str, None] = {}
    seen: set[tuple[End, tuple[int, ...]]] = set()
    while here is not None and (here, tuple(stack[-1:])) not in seen:
        seen.add((here, tuple(stack[-1:])))
        step = _cross(here, joined, stack)
        if step is None:
            return None
        strand, there = step
        way.append(strand)
        if there.kind == INTERFACE:
            several = profile(strand.row.profile) if strand.row.profile else None
            if several is not None and several.positions[_side(strand, there)[0] == "B"] > 1:
                stack.pop()
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


def _cable(
    path: Path, known: Known, nodes: Collection[str], often: Mapping[End, int]
) -> Iterator[Found[Cable] | Problem]:
    ends = path.strands[0].interfaces(path.ends, known)
    if isinstance(ends, Problem):
        yield ends
        return
    one, other = ends
    if one is not None and other is not None:
        cords = [(one, path.strands[0], path.ends[0]), (other, path.strands[-1], path.ends[1])]
        near, cord, end = min(cords, key=lambda each: (often[each[2]] == 1, _rank(each[0], nodes)))
        shared = (f"cable {cord.name}",) if often[end] > 1 else ()
        yield cord.found(near, other if near is one else one, (*shared, *path.carriers))


def _rank(end: Termination, nodes: Collection[str]) -> tuple[bool, Termination]:
    return end.device not in nodes, end
