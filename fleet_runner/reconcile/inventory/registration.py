"""The source of truth's nodes, known to the store as the machines that they are: renamed, refused, or new."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import structlog

from fleet_runner.core.cabling.fabrics import NAMED, Fabric
from fleet_runner.core.inventory.identity import Refused, Renamed, compare, groups
from fleet_runner.core.inventory.last_places import place
from fleet_runner.core.inventory.records import Fleet, nodes
from fleet_runner.reconcile.loop.context import TickContext

log = structlog.get_logger()


def register(world: TickContext, fleet: Fleet, now: float) -> Fleet:
    """Have the store know every node of a source that changed, or that another runner may have read otherwise.

    A node that is to be renamed while something works on it is renamed by a later tick; nothing begins until then.
    The fleet that is returned, and goes on in use, also knows where nodes were whose record says it no more.
    """
    if world.registered == fleet.revision:
        return fleet
    devices = nodes(fleet)
    known, taken = world.store.machines()
    found = compare(known, devices, taken, fleet.unread)
    later = _rename(world, found.renamed, now)
    refused = {**found.refused, **{each.old: _waits(each) for each in later}}
    new = {each.new for each in later}
    world.fabrics, waits = _named(world, now)
    records = [*(each for each in devices if each.name not in new), *(each.record for each in world.fabrics.values())]
    world.store.register(records, now, refused)
    _tell(world, refused)
    world.refused = refused
    fleet = _place(world, fleet, [each.name for each in devices if each.name not in new])
    world.registered = "" if later or waits else fleet.revision
    world.fleet = fleet
    return fleet


def _place(world: TickContext, fleet: Fleet, names: Iterable[str]) -> Fleet:
    """Keep where nodes are; a place that the source names no more stays."""
    fleet = world.store.placed(fleet)
    found = {name: place(fleet, name) for name in names}
    world.store.keep_places({name: where for name, where in found.items() if fleet.last_places.get(name) != where})
    return world.store.placed(fleet)


def _rename(world: TickContext, renamed: tuple[Renamed, ...], now: float) -> list[Renamed]:
    """Rename what nothing works on; return what is renamed later."""
    later: list[Renamed] = []
    for group in groups(renamed):
        if not world.store.rename(group, now):
            later += group
            continue
        for each in group:
            log.info("a node has another name", old=each.old, new=each.new, why=each.why)
    return later


def _named(world: TickContext, now: float) -> tuple[dict[str, Fabric], bool]:
    """Return the fabrics by name, and whether one of them has to wait for its own.

    A row that has the usual name of one that is named now is renamed. Until nothing works on it, it keeps that.
    """
    found: list[Fabric] = []
    waits = False
    for fabric in world.designed:
        old, new = fabric.usual, fabric.name
        if old == new or world.store.node(new) is not None or world.store.node(old) is None:
            found.append(fabric)
        elif world.store.rename((Renamed(old, new, f"the {NAMED} of its switches"),), now):
            log.info("a fabric has another name", old=old, new=new)
            found.append(fabric)
        else:
            found.append(replace(fabric, name=old))
            waits = True
    return {fabric.name: fabric for fabric in found}, waits


def _waits(renamed: Renamed) -> Refused:
    return Refused(
        f"the source of truth calls it {renamed.new} now ({renamed.why}); it is renamed once no run is open on it"
    )


def _tell(world: TickContext, refused: Mapping[str, Refused]) -> None:
    """Have nodes be decided anew that are refused now, or no longer, and say it once."""
    changed = [name for name in refused.keys() | world.refused.keys() if refused.get(name) != world.refused.get(name)]
    world.store.wake(changed)
    for name in changed:
        if name in refused:
            log.warning("a node is not touched", node=name, why=refused[name].sentence)
