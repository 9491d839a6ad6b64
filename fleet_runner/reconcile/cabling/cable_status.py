"""What a fabric's sweep found out about cables, told to the source of truth where its owner wants that.

Nothing is queued: what could not be written is found again by the next sweep.
"""

import structlog

from fleet_runner.adapters import source
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.cabling.cable_status import connected
from fleet_runner.core.cabling.sweeps import CABLING
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.reconcile.loop.context import Report, TickContext
from fleet_runner.reconcile.loop.store_ownership import Outward

log = structlog.get_logger()


def tell_source(world: TickContext, fleet: Fleet, report: Report) -> None:
    """Call cables connected that were planned and that a sweep closed in this tick saw; never stops the tick."""
    outward = Outward(world)
    if not report.swept or not source.may_be_told(world.settings) or not outward.anything():
        return
    swept = [run for run in report.swept if outward(run.node)]
    results = [each.result for run in swept for each in world.store.results(run.id)]
    found = frozenset[int]().union(*(connected(fleet.cables, each) for each in results if each.check in CABLING))
    if not found:
        return
    try:
        done, warnings = source.connect_cables(world.settings, found)
    except SettingsError as error:
        log.warning("no cable status was written", error=str(error))
        return
    log.info("cable statuses written to the source of truth", cables=done)
    for warning in warnings:
        log.warning(warning)
