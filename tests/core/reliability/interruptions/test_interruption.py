"""What is an interruption of a job, and what of its time went into nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.jobs.event import Area
from fleet_runner.core.reliability.interruptions.families import Family
from fleet_runner.core.reliability.interruptions.interruption import (
    LONGEST_STILL,
    Assumed,
    interruption,
    interruptions,
)
from tests.core.reliability.interruptions.made import BEGUN, ENDED, HOUR, fallen, found, told


def test_a_job_that_a_fault_ended_was_interrupted() -> None:
    each = found()
    assert (each.family, each.runtime, each.still, each.is_infrastructure) == (Family.GPU, 36_000.0, 600.0, True)
    assert each.redone(Assumed()) == 1_800.0


@pytest.mark.parametrize(
    "job",
    [{"ended": None}, {"state": "COMPLETED"}, {"state": "Complete"}, {"state": "Succeeded"}],
)
def test_a_job_that_runs_or_ended_well_was_not(job: dict[str, object]) -> None:
    """Whatever befell it: it may have been slow."""
    assert interruption(told(**job)) is None


@pytest.mark.parametrize("state", ["CANCELLED by 1000", "PREEMPTED", "TIMEOUT", "DEADLINE"])
def test_what_somebody_asked_for_is_one_only_where_something_ended_it(state: str) -> None:
    assert interruption(told(None, state=state)) is None
    assert interruption(told(fallen(area=Area.UNKNOWN), state=state)) is None
    assert interruption(told(fallen(area=Area.SOFTWARE, code="job.preempted"), state=state)) is None
    assert interruption(told(state=state)) is not None
    assert interruption(told(fallen(area=Area.SOFTWARE, code="job.mismatch"), state=state)) is not None


def test_a_node_that_the_scheduler_lost_is_infrastructure_though_nobody_knows_why() -> None:
    assert found(None, state="NODE_FAIL").is_infrastructure
    assert not found(None, state="FAILED").is_infrastructure
    assert not found(fallen(area=Area.SOFTWARE), state="NODE_FAIL").is_infrastructure
    assert len(interruptions([told(), told(ended=None)])) == 1


def test_what_a_sweep_found_began_in_the_middle_of_the_time_before_it() -> None:
    assert found(fallen(ENDED, blur=300.0)).fault_at == ENDED - 150.0


def test_without_a_time_of_the_fault_nothing_is_said_of_standing_still() -> None:
    each = found(fallen(None))
    assert (each.fault_at, each.still) == (None, 0.0)


@given(st.floats(-1e6, 1e7), st.floats(0.0, 1e5), st.floats(-10.0, 1e6))
def test_no_more_time_is_lost_than_there_was(at: float, blur: float, ran: float) -> None:
    each = found(fallen(at, blur=blur), begun=BEGUN, ended=BEGUN + ran)
    assert 0 <= each.still <= min(LONGEST_STILL, each.runtime)
    assert 0 <= each.redone(Assumed(checkpoint=2 * HOUR)) <= HOUR
    assert each.still + each.redone(Assumed()) <= each.runtime
