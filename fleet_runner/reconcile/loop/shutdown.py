"""Leaving a place whose end kills plays, as a container's does: they are waited for, then ended in order."""

import time
from collections.abc import Callable

from fleet_runner.adapters.plays import engine
from fleet_runner.adapters.plays.engine import BatchState
from fleet_runner.settings import Settings

PAUSE = 0.5

START_SECONDS = 5.0
"""How long a supervisor that was just started may take until it can be seen."""

LAST_SECONDS = 15.0
"""How long plays that were asked to end may take; supervisors kill what is left of them long before."""


def leave(settings: Settings, seconds: float, going_on: Callable[[], object]) -> tuple[int, int]:
    """Wait so long for this machine's plays to end, and end in order what is left.

    Nothing is read from them: what they told lies in `state_dir`, and the next start takes it in. `going_on` is
    called about twice a second. Return how many plays were asked to end, and how many did not.
    """
    began = time.monotonic()
    while (left := _under_way(settings, time.monotonic() - began)) and time.monotonic() - began < seconds:
        going_on()
        time.sleep(PAUSE)
    for batch in left:
        engine.stop(settings, batch)
    asked, began = len(left), time.monotonic()
    while (left := _under_way(settings, START_SECONDS)) and time.monotonic() - began < LAST_SECONDS:
        going_on()
        time.sleep(PAUSE)
    return asked, len(left)


def _under_way(settings: Settings, waited: float) -> list[str]:
    """Return the batches that processes of this machine carry, or may begin to."""
    states = {BatchState.RUNNING, BatchState.ORPHANED}
    if waited < START_SECONDS:
        states.add(BatchState.NEW)
    if not settings.batches_dir.is_dir():
        return []
    names = sorted(folder.name for folder in settings.batches_dir.iterdir() if engine.PLAIN.fullmatch(folder.name))
    return [name for name in names if engine.look(settings, name).state in states]
