"""When all work of a node is known to be lost, and when it is known to have ended."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.preflight.work import lost, running

verdicts = st.sampled_from(list(Verdict))
answers = st.none() | st.builds(
    Result,
    st.just("any"),
    verdicts,
    st.just("it says so"),
    observed=st.fixed_dictionaries({"in_use": st.booleans()}, optional={"sole": st.booleans()}),
)


def said(*, verdict: Verdict = Verdict.PASS, **observed: Any) -> Result:
    """Return an answer."""
    return Result("any", verdict, "as told", observed=observed)


IDLE, SHARED, SOLE = said(in_use=False), said(in_use=True), said(in_use=True, sole=True)
SILENT, ELSEWHERE = said(verdict=Verdict.UNKNOWN), said(verdict=Verdict.SKIPPED)


@given(answers, answers, st.booleans())
def test_work_that_may_be_others_is_never_called_lost(
    usage: Result | None, scheduler: Result | None, scheduled: bool
) -> None:
    """Whoever says that work runs says so of one job that has the whole node, or it is not lost."""
    if not lost(usage, scheduler, scheduled=scheduled):
        return
    spoke = [each for each in (scheduler, usage) if each is not None and each.verdict is Verdict.PASS]
    assert spoke, "nobody said anything"
    first = spoke[0]
    assert not first.observed["in_use"] or first.observed.get("sole") is True
    if scheduled:
        assert scheduler is not None
        assert scheduler.verdict in {Verdict.PASS, Verdict.SKIPPED}


@given(answers, answers)
def test_nothing_that_works_is_called_idle(usage: Result | None, scheduler: Result | None) -> None:
    """And a scheduler that does not say is no scheduler without work."""
    if running(usage, scheduler) == "":
        for each in (usage, scheduler):
            assert each is None or each.verdict is not Verdict.PASS or not each.observed["in_use"]
        assert scheduler is None or scheduler.verdict in {Verdict.PASS, Verdict.SKIPPED}


@pytest.mark.parametrize(
    ("usage", "scheduler", "scheduled", "why"),
    [
        (SHARED, SOLE, True, "one job has the whole node"),
        (SOLE, SHARED, True, ""),  # the job's other processes have no GPU yet
        (SHARED, IDLE, True, ""),  # somebody works past the scheduler
        (SOLE, IDLE, True, "one process has all of its GPUs"),
        (IDLE, IDLE, True, "no process uses its GPUs any more"),
        (None, IDLE, True, "its scheduler has no work on it any more"),  # a node that is dead
        (SILENT, IDLE, True, "its scheduler has no work on it any more"),
        (SOLE, SILENT, True, ""),
        (SOLE, None, True, ""),
        (SOLE, ELSEWHERE, True, "one process has all of its GPUs"),
        (SOLE, None, False, "one process has all of its GPUs"),
        (SHARED, None, False, ""),
        (IDLE, None, False, "no process uses its GPUs any more"),
        (None, None, False, ""),
        (SILENT, None, False, ""),
    ],
)
def test_a_fault_has_ended_one_jobs_work(
    usage: Result | None, scheduler: Result | None, scheduled: bool, why: str
) -> None:
    """If nobody can tell whose the rest is, it is others'."""
    assert lost(usage, scheduler, scheduled=scheduled) == why


@pytest.mark.parametrize(
    ("usage", "scheduler", "why"),
    [
        (IDLE, IDLE, ""),
        (SHARED, IDLE, "its work has not ended: as told"),
        (IDLE, SOLE, "its work has not ended: as told"),
        (IDLE, SILENT, "its scheduler does not say whether its work has ended: as told"),
        (None, ELSEWHERE, ""),
        (SILENT, None, ""),
    ],
)
def test_work_is_over_when_nobody_tells_of_any(usage: Result | None, scheduler: Result | None, why: str) -> None:
    """Processes of a node that does not answer are nobody's; its scheduler knows of its jobs."""
    assert running(usage, scheduler) == why
