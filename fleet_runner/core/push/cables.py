"""Cables that a NetBox lacks, or has with another label, type or status."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from fleet_runner.core.push.step import Kind, Plan, Step, changed, written
from fleet_runner.core.records import Cable, Fleet, Termination

FIELDS = ("label", "kind", "status")

Ends = frozenset[Termination]


def plan(wanted: Fleet, has: Fleet) -> Plan:
    """Plan every cable; one where NetBox has another is a conflict, since nothing is taken out."""
    there = {_ends(cable): cable for cable in has.cables}
    used = _at(has.cables)
    steps: list[Step] = []
    conflicts: list[str] = []
    for group in _laid(wanted.cables):
        missing = [cable for cable in group if _ends(cable) not in there]
        taken = [(end, each) for cable in missing for end in (cable.a, cable.b) for each in used.get(end, ())]
        if taken:
            conflicts.append(_taken(missing[0], *taken[0]))
        elif missing:
            steps.append(_new(group))
        else:
            steps.extend(_differing(group[0], there[_ends(group[0])]))
    return Plan(tuple(steps), tuple(conflicts), tuple(_carried(wanted, there)))


def _ends(cable: Cable) -> Ends:
    return frozenset((cable.a, cable.b))


def _at(cables: Iterable[Cable]) -> Mapping[Termination, list[Cable]]:
    found: dict[Termination, list[Cable]] = defaultdict(list)
    for cable in cables:
        found[cable.a].append(cable)
        found[cable.b].append(cable)
    return found


def _laid(cables: tuple[Cable, ...]) -> Iterator[list[Cable]]:
    """Return cables one by one; those of a breakout, which share an interface, together."""
    used, done = _at(cables), set[Ends]()
    for cable in cables:
        if _ends(cable) in done:
            continue
        group = max(used[cable.a], used[cable.b], key=len)
        done.update(map(_ends, group))
        yield group


def _new(group: list[Cable]) -> Step:
    """Return a new cable: its ends are its key, and the single one of a breakout is the first."""
    first = group[0]
    shared = first.b if len(group) > 1 and all(first.b in (cable.a, cable.b) for cable in group) else first.a
    far = [cable.b if cable.a == shared else cable.a for cable in group]
    key = tuple(name for end in (shared, *far) for name in end)
    return Step(Kind.CABLE, key, written(first, FIELDS))


def _differing(wanted: Cable, has: Cable) -> Iterator[Step]:
    new, old = changed(wanted, has, FIELDS)
    if new:
        yield Step(Kind.CABLE, (*has.a, *has.b), new, old, has.id)


def _taken(wanted: Cable, end: Termination, has: Cable) -> str:
    other = has.b if has.a == end else has.a
    number = f" (#{has.id})" if has.id else ""
    text = f"cable {wanted.a} – {wanted.b}: {end} has a cable to {other} in NetBox{number}"
    return f"{text}; take that one out there, or correct the folder"


def _carried(wanted: Fleet, there: Mapping[Ends, Cable]) -> Iterator[str]:
    """Say that trunks, panels and cages are not made, where NetBox's cable does not pass them already."""
    lost = [
        cable
        for cable in wanted.cables
        if cable.carriers and (_ends(cable) not in there or there[_ends(cable)].carriers != cable.carriers)
    ]
    if lost:
        many = f"{len(lost)} cables pass" if len(lost) > 1 else "1 cable passes"
        text = f"{many} trunks, panels or cages (first: {lost[0].a} – {lost[0].b}, {lost[0].carriers[0]})"
        yield f"{text}; push makes none of these: in NetBox such a cable runs straight"
