"""What a fabric's sweep found out about cables, told to the source of truth where its owner wants that.

Nothing is queued: what could not be written is found again by the next sweep.
"""

import structlog

from fleet_runner import source
from fleet_runner.core.cable_status import cables_of, changes
from fleet_runner.core.errors import SettingsError
from fleet_runner.core.excuses import excused
from fleet_runner.core.records import Fleet
from fleet_runner.core.runs import Run
from fleet_runner.core.watching import CABLING
from fleet_runner.reconcile.world import Report, World

log = structlog.get_logger()


def tell_source(world: World, fleet: Fleet, report: Report) -> None:
    """Write the status of cables that the sweeps closed in this tick saw otherwise; never stops the tick."""
    if not report.swept or not source.may_be_told(world.settings):
        return
    found: dict[int, str] = {}
    for run in report.swept:
        found |= _changes(world, fleet, run)
    if not found:
        return
    try:
        done, warnings = source.write_cable_status(world.settings, found)
    except SettingsError as error:
        log.warning("no cable status was written", error=str(error))
        return
    log.info("cable statuses written to the source of truth", cables=done)
    for warning in warnings:
        log.warning(warning)


def _changes(world: World, fleet: Fleet, run: Run) -> dict[int, str]:
    fabric = world.fabrics.get(run.node)
    sweep = [each for each in world.store.results(run.id) if each.result.check == CABLING]
    if fabric is None or not sweep:
        return {}
    before = world.store.before(sweep[-1:])
    cables = cables_of(fleet, fabric)
    devices = {end.device for cable in cables for end in (cable.a, cable.b)}
    rows = {node.name: node for node in world.store.nodes()}
    let_off = excused(devices, fleet, rows)
    return changes(cables, sweep[-1].result, before[0].result if before else None, let_off)
