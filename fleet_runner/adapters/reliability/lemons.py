"""The analyses of parts that fail again and of lemons, from the store and from Slurm's accounting."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from fleet_runner.adapters.schedulers import slurm_jobs
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import SchedulerError
from fleet_runner.core.cabling.fabrics import FABRIC_TYPES
from fleet_runner.core.reliability.lemons import analyse
from fleet_runner.core.reliability.lemons.analyse import Lemons
from fleet_runner.core.reliability.lemons.past import AFTER, TIMES, WINDOW
from fleet_runner.core.reliability.lemons.score import Weighing
from fleet_runner.core.reliability.lemons.signals import Jobs
from fleet_runner.core.reliability.parts import repeat_failures, travels
from fleet_runner.core.reliability.parts.failures import DAY
from fleet_runner.core.reliability.parts.repeat_failures import Parts
from fleet_runner.core.reliability.parts.travels import Line
from fleet_runner.settings import Settings

BACK = (TIMES * AFTER + WINDOW) * DAY
"""Seconds that are looked back on: as many as the oldest score of the past counts from."""


def parts(store: Store, now: float | None = None) -> Parts:
    """Find the places and parts that fail again, in the last 400 days."""
    until = time.time() if now is None else now
    since = until - repeat_failures.DAYS * DAY
    types = {node.name: node.device_type for node in store.nodes() if node.device_type not in FABRIC_TYPES}
    return repeat_failures.analyse(
        repeat_failures.Given(since, until, store.stays(), store.episodes(since), store.cases(), types)
    )


def lemons(
    store: Store,
    settings: Settings,
    now: float | None = None,
    progress: Callable[[str], None] = lambda _: None,
    names: Mapping[str, str] = MappingProxyType({}),
) -> Lemons:
    """Score nodes by the last 28 days, and prove it on the half year before.

    `names` are nodes by the names that the scheduler has for them, where it has others.
    """
    until = time.time() if now is None else now
    since = until - BACK
    past = store.past_of_nodes(since, until, progress)
    jobs, told = _jobs(settings, since, until)
    past = replace(past, episodes=store.episodes(since), stays=store.stays(), jobs=jobs and jobs.named(names))
    weighing = Weighing(settings.lemon_weights, settings.lemon_mark)
    return analyse.analyse(past, until, weighing, told, since)


def history(store: Store, word: str) -> tuple[Line, ...]:
    """Tell what befell a part by its serial number, or a node's parts by its name; nothing where it is neither."""
    stays = store.stays(serial=word) or store.stays(node=word)
    nodes = {stay.node for stay in stays}
    return travels.history(stays, (each for each in store.episodes(0.0) if each.node in nodes), store.cases())


def _jobs(settings: Settings, since: float, until: float) -> tuple[Jobs | None, str]:
    """Return what the scheduler reports of jobs, or why it tells nothing."""
    if settings.scheduler != "slurm":
        return None, "only Slurm reports it, and the scheduler is not slurm"
    try:
        return slurm_jobs.read(since, until - WINDOW * DAY, until), ""
    except SchedulerError as error:
        return None, str(error)
