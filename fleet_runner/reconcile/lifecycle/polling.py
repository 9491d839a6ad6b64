"""What running batches have said, taken in; runs whose batch is over, closed."""

from collections import defaultdict
from collections.abc import Callable

import structlog

from fleet_runner.adapters.plays.batch_folder import log_of
from fleet_runner.adapters.plays.engine import BatchState, Look
from fleet_runner.adapters.plays.leased_engine import Leased
from fleet_runner.adapters.plays.supervisor import DEADLINE_RC
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.inventory.placement import apart, living
from fleet_runner.core.lifecycle import outcomes
from fleet_runner.core.lifecycle.runs import Outcome, Run
from fleet_runner.core.lifecycle.states import STAGES, Stage
from fleet_runner.reconcile.loop.context import Report, TickContext

log = structlog.get_logger()

LAUNCH_GRACE = 60.0
"""Seconds a batch may take to show its first sign of life; later, nobody knows whether another machine has it."""

TOLD = frozenset({Outcome.PASSED, Outcome.FAILED, Outcome.WORKING, Outcome.SKIPPED})
"""Outcomes that came with all there is to know."""

LATE = 1.2
"""How far past its deadline a batch is ended from outside; its supervisor should have done so at 1.0."""


def poll(world: TickContext, now: float, report: Report, between: Callable[[Report], None]) -> None:
    """Take in what running batches have said, and close the runs of those that are over; see `act` for `between`."""
    if world.store.shared:
        world.store.lapse_parcels()
    batches: dict[str, list[Run]] = defaultdict(list)
    for run in world.store.open_runs():
        batches[run.batch].append(run)
    shared = world.engine.looks(batches) if isinstance(world.engine, Leased) else None
    if shared is not None:
        shared |= _divided(world, [batch for batch, look in shared.items() if look.state is BatchState.OFFERED])
    for batch, runs in batches.items():
        between(report)
        try:
            if shared is None:
                look = world.engine.look(world.settings, batch)  # before the spool: what is ENDED has said everything
                _ingest(world, batch)
            else:
                look = shared[batch]
            _poll_batch(world, look, runs, now, report)
        except ConflictError as error:
            report.conflicts += 1
            log.info("batch looked at again at the next tick", batch=batch, why=str(error))


def _divided(world: TickContext, offered: list[str]) -> dict[str, Look]:
    """Return as dropped what only several runners reach together: its nodes are offered apart when decided anew."""
    if not offered:
        return {}
    able = living(world.store.runners(), world.settings.lease_seconds)
    found = [parcel for parcel in world.store.parcels(offered) if apart(parcel.places, able)]
    whys = {parcel.batch: f"no runner reaches all of {', '.join(parcel.places)}" for parcel in found}
    return {batch: Look(BatchState.DROPPED, detail=why) for batch, why in whys.items()}


def _poll_batch(world: TickContext, look: Look, runs: list[Run], now: float, report: Report) -> None:
    batch = runs[0].batch
    age = now - runs[0].opened_at if look.age is None else look.age
    match look.state:
        case BatchState.ENDED | BatchState.LOST:
            for run in runs:
                _close(world, look, run, now)
            report.closed += len(runs)
            report.swept += [run for run in runs if run.stage is Stage.FABRIC]
            if (
                world.store.outcomes(batch) <= TOLD
            ):  # all it said is in the store; where it said nothing, its log is worth keeping
                world.engine.discard(world.settings, batch)
        case BatchState.DROPPED:
            report.closed += world.store.withdraw(batch, f"the play was not started: {look.detail}", now)
        case BatchState.NEW if age > LAUNCH_GRACE:
            for run in runs:
                _close(world, Look(BatchState.LOST, detail="It was not seen to start here."), run, now)
            report.closed += len(runs)
        case BatchState.RUNNING | BatchState.ORPHANED if age > LATE * STAGES[runs[0].stage].deadline:
            log.warning("batch is over its deadline and is ended", batch=batch, state=look.state)
            world.engine.stop(world.settings, batch)
        case BatchState.RUNNING if len(runs) > 1:
            _close_some(world, look, runs, now, report)
        case _:
            pass


def _close_some(world: TickContext, look: Look, runs: list[Run], now: float, report: Report) -> None:
    """Close the runs of nodes that are through: they are decided, however long others of their batch take.

    The last ones wait for the batch's own end, which looks after what it leaves behind.
    """
    through = world.store.through(runs[0].batch)
    over = [run for run in runs if run.id in through]
    if len(over) == len(runs):
        return
    for run in over:
        _close(world, look, run, now)
        report.closed += 1
    report.swept += [run for run in over if run.stage is Stage.FABRIC]


def _ingest(world: TickContext, batch: str) -> None:
    while True:
        before = world.store.offset(batch)
        heard = world.engine.spool(world.settings, batch, before)
        if heard.bad:
            log.warning("lines of a spool could not be read", batch=batch, lines=heard.bad)
        if not heard.used:
            return
        world.store.ingest(batch, before, before + heard.used, heard.lines)


def _close(world: TickContext, look: Look, run: Run, now: float) -> None:
    outcome, detail = _outcome(world, look, run)
    world.store.close_run(run, outcome, detail, now)


def _outcome(world: TickContext, look: Look, run: Run) -> tuple[Outcome, str]:
    ended = world.store.ended(run.id)
    if ended is None and look.state is BatchState.LOST:
        return Outcome.LOST, look.detail
    results = tuple(stored.result for stored in world.store.results(run.id))
    if ended is None and not results and look.rc not in {None, 0, DEADLINE_RC}:
        why = look.detail or f"{log_of(world.settings.batches_dir, run.batch)} says why"
        return Outcome.CANCELLED, f"the play could not run (exit status {look.rc}); {why}"
    return outcomes.judge(results, ended, run.stage)
