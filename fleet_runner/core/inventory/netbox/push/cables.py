"""Cables that a NetBox lacks, or has with another label, type or status."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from fleet_runner.core.cabling.breakouts import laid
from fleet_runner.core.inventory.netbox.push import panels
from fleet_runner.core.inventory.netbox.push.step import Kind, Known, Plan, Step, changed, written
from fleet_runner.core.inventory.records import Cable, Fleet, Termination

FIELDS = ("label", "kind", "status")

Ends = frozenset[Termination]


def plan(wanted: Fleet, has: Fleet, left: frozenset[str], known: Known) -> Plan:
    """Plan every cable but those of devices that are left as they are.

    One where NetBox has another is a conflict, since nothing is taken out.
    """
    there = {_ends(cable): cable for cable in has.cables}
    used = _at(has.cables)
    steps: list[Step] = []
    conflicts: list[str] = []
    ways = {each.cable: each for each in _ways(wanted)}
    paneled: list[panels.Way] = []
    for near, far in laid(cable for cable in wanted.cables if left.isdisjoint((cable.a.device, cable.b.device))):
        missing = [end for cable, end in far if _ends(cable) not in there]
        taken = next((end for end in (near, *missing) if end in used), None)
        if not missing:
            steps.extend(step for cable, _ in far[:1] for step in _differing(cable, there[_ends(cable)]))
        elif taken is not None:
            conflicts.append(_taken(near, missing[0], taken, used[taken]))
        elif len(far) == 1 and far[0][0] in ways and left.isdisjoint(ways[far[0][0]].panels):
            paneled.append(ways[far[0][0]])
        else:
            key = tuple(name for end in (near, *missing) for name in end)
            steps.append(Step(Kind.CABLE, key, written(far[0][0], FIELDS)))
    through = panels.plan(paneled, tuple(ways.values()), wanted, known.ports)
    made = {each.cable for each in paneled}
    notes = _carried(wanted, there, made)
    return Plan((*steps, *through.steps), (*conflicts, *through.conflicts), tuple(notes))


def passed(wanted: Fleet, has: Fleet) -> Collection[str]:
    """Return the patch panels on the way of cables that a NetBox lacks; those of which are devices."""
    there = {_ends(cable) for cable in has.cables}
    return panels.passed(each for each in _ways(wanted) if _ends(each.cable) not in there)


def _ways(wanted: Fleet) -> Iterator[panels.Way]:
    for cable in wanted.cables:
        found = panels.way(cable, wanted)
        if found is not None:
            yield found


def _ends(cable: Cable) -> Ends:
    return frozenset((cable.a, cable.b))


def _at(cables: Iterable[Cable]) -> Mapping[Termination, Cable]:
    return {end: cable for cable in cables for end in (cable.a, cable.b)}


def _differing(wanted: Cable, has: Cable) -> Iterator[Step]:
    new, old = changed(wanted, has, FIELDS)
    if new:
        yield Step(Kind.CABLE, (*has.a, *has.b), new, old, has.id)


def _taken(near: Termination, far: Termination, end: Termination, has: Cable) -> str:
    other = has.b if has.a == end else has.a
    number = f" (#{has.id})" if has.id else ""
    text = f"cable {near} to {far}: {end} has a cable to {other} in NetBox{number}"
    return f"{text}; remove that cable in NetBox, or correct the folder"


def _carried(wanted: Fleet, there: Mapping[Ends, Cable], made: Collection[Cable]) -> Iterator[str]:
    """Say which trunks, panels and cages are not made, where NetBox's cable does not pass them already."""
    lost = [
        (cable, carrier)
        for cable in wanted.cables
        if cable not in made
        for carrier in _lost(cable, there.get(_ends(cable)))[:1]
    ]
    if lost:
        (cable, carrier), many = lost[0], f"{len(lost)} cables pass" if len(lost) > 1 else "1 cable passes"
        text = f"{many} trunks, panels or cages (first: {cable.a} to {cable.b}, {carrier})"
        then = "in NetBox such a cable runs straight; a panel is made where it is a device of the folder"
        yield f"{text}; {then}"


def _lost(wanted: Cable, has: Cable | None) -> list[str]:
    """Return what NetBox's cable does not pass; a breakout is the cable that its links share."""
    passed = has.carriers if has else ()
    return [each for each in wanted.carriers if each not in passed and not each.startswith("cable ")]
