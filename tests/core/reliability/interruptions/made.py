"""Kept answers to count."""

from typing import Any

from fleet_runner.core.jobs.event import Event
from fleet_runner.core.jobs.kept import KeptAnswer, kept
from fleet_runner.core.lifecycle.states import Event as Happening
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.reliability.interruptions.interruption import Interruption, interruption
from fleet_runner.core.reliability.report.rows import Step
from fleet_runner.core.reliability.report.stories import Exclusion, Story
from tests.core.jobs.made import BEGUN, ENDED, answer, fallen

HOUR, DAY = 3_600.0, 86_400.0

FALLEN = fallen(blur=0.0)
"""A GPU that fell off the bus ten minutes before the job's end."""


def told(origin: Event | None = FALLEN, /, **job: Any) -> KeptAnswer:
    """An answer that is kept about a job."""
    return kept(answer(origin, **job), ENDED + HOUR, "ann")


def found(origin: Event | None = FALLEN, /, **job: Any) -> Interruption:
    """An interruption."""
    each = interruption(told(origin, **job))
    assert each is not None
    return each


def out(begins: float, ends: float | None = None, node: str = "gpu-01") -> Story:
    """A node that left production, and came back."""
    step = Step(node, begins, State.PRODUCTION, Happening.TRIAGE_NEEDED, State.TRIAGE)
    return Story(node, exclusions=(Exclusion(step, begins, ends),))


__all__ = ["BEGUN", "DAY", "ENDED", "FALLEN", "HOUR", "fallen", "found", "out", "told"]
