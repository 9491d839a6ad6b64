"""Cables that a NetBox lacks, or has with another label, type or status."""

from collections.abc import Iterable, Iterator, Mapping

from fleet_runner.core.cabling.breakouts import laid
from fleet_runner.core.inventory.netbox.push.step import Kind, Plan, Step, changed, written
from fleet_runner.core.inventory.records import Cable, Fleet, Termination

FIELDS = ("label", "kind", "status")

Ends = frozenset[Termination]


def plan(wanted: Fleet, has: Fleet, left: frozenset[str]) -> Plan:
    """Plan every cable but those of devices that are left as they are.

    One where NetBox has another is a conflict, since nothing is taken out.
    """
    there = {_ends(cable): cable for cable in has.cables}
    used = _at(has.cables)
    steps: list[Step] = []
    conflicts: list[str] = []
    for near, far in laid(cable for cable in wanted.cables if left.isdisjoint((cable.a.device, cable.b.device))):
        missing = [end for cable, end in far if _ends(cable) not in there]
        taken = next((end for end in (near, *missing) if end in used), None)
        if not missing:
            steps.extend(step for cable, _ in far[:1] for step in _differing(cable, there[_ends(cable)]))
        elif taken is not None:
            conflicts.append(_taken(near, missing[0], taken, used[taken]))
        else:
            key = tuple(name for end in (near, *missing) for name in end)
            steps.append(Step(Kind.CABLE, key, written(far[0][0], FIELDS)))
    return Plan(tuple(steps), tuple(conflicts), tuple(_carried(wanted, there)))


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
    return f"{text}; take that one out there, or correct the folder"


def _carried(wanted: Fleet, there: Mapping[Ends, Cable]) -> Iterator[str]:
    """Say that trunks, panels and cages are not made, where NetBox's cable does not pass them already."""
    lost = [(cable, carrier) for cable in wanted.cables for carrier in _lost(cable, there.get(_ends(cable)))[:1]]
    if lost:
        (cable, carrier), many = lost[0], f"{len(lost)} cables pass" if len(lost) > 1 else "1 cable passes"
        text = f"{many} trunks, panels or cages (first: {cable.a} to {cable.b}, {carrier})"
        yield f"{text}; push makes none of these: in NetBox such a cable runs straight"


def _lost(wanted: Cable, has: Cable | None) -> list[str]:
    """Return what NetBox's cable does not pass; a breakout is the cable that its links share."""
    passed = has.carriers if has else ()
    return [each for each in wanted.carriers if each not in passed and not each.startswith("cable ")]
