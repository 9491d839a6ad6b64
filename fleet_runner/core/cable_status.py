"""What a fabric's sweep says about cable statuses in the source of truth: only what it is sure of, only what changed.

A planned cable that is seen as designed becomes connected. A connected one that two sweeps in a row missed becomes
planned. Whatever is unknown, unsure, excused or part of a suspect sweep stays as it is.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable

from fleet_runner.core.cabling.design import fingerprint
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.checks.fabric_cabling import MOST_ABSENT
from fleet_runner.core.fabrics import Fabric, infiniband
from fleet_runner.core.records import CONNECTED, PANEL, PLANNED, Cable, Fleet
from fleet_runner.core.sightings import speaks, suspect, unsure
from fleet_runner.core.verdicts import Result


def cables_of(fleet: Fleet, fabric: Fabric) -> tuple[Cable, ...]:
    """Return the designed cables of a fabric: those that end at one of its switches."""
    return tuple(
        cable for cable in infiniband(fleet) if cable.a.device in fabric.switches or cable.b.device in fabric.switches
    )


def changes(
    cables: Collection[Cable], newest: Result, before: Result | None, excused: Collection[str] = ()
) -> dict[int, str]:
    """Return the status that cables should get, by NetBox's id; nothing where the sweep saw another design.

    `cables` are all of the fabric, `newest` and `before` its last two sweeps that said anything (results of
    `fabric_cabling`), `excused` the devices about which no ticket is opened. A cable with several links becomes
    connected once all of them are seen, and planned once all are missed. That a link through patch panels is missed
    does not say which of its cables is not in place, so none of them becomes planned.
    """
    missed = _missed(newest)
    if missed is None or newest.observed.get("design") != fingerprint(link(cable.a, cable.b) for cable in cables):
        return {}
    confirmed = missed & ((_missed(before) if before is not None else None) or frozenset())
    untold = {*unsure(newest), *excused}
    told = {cable: link(cable.a, cable.b) for cable in cables if not untold & {cable.a.device, cable.b.device}}
    seen = {cable for cable, joined in told.items() if joined not in missed}
    gone = {cable for cable, joined in told.items() if joined in confirmed}
    found: dict[int, str] = {}
    for number, links in _by_id(cables).items():
        statuses = {cable.status for cable in links}
        if links <= seen and statuses == {PLANNED}:
            found[number] = CONNECTED
        elif links <= gone and statuses == {CONNECTED} and not any(map(_patched, links)):
            found[number] = PLANNED
    return found


def _missed(result: Result) -> frozenset[Link] | None:
    """Return what a sweep missed; None where it is not to be relied upon, or does not name everything."""
    absent = result.observed.get("absent")
    if not speaks(result) or suspect(result) or absent is None or len(absent) >= MOST_ABSENT:
        return None
    return frozenset(link(Port(a, ai), Port(b, bi)) for a, ai, b, bi in absent)


def _by_id(cables: Iterable[Cable]) -> dict[int, set[Cable]]:
    found: dict[int, set[Cable]] = defaultdict(set)
    for cable in cables:
        if cable.id is not None:
            found[cable.id].add(cable)
    return found


def _patched(cable: Cable) -> bool:
    return any(carrier.startswith(f"{PANEL} ") for carrier in cable.carriers)
