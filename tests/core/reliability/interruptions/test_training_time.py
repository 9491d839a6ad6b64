"""The effective training time ratio, measured and expected."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.jobs.event import Area
from fleet_runner.core.jobs.kept import KeptAnswer
from fleet_runner.core.reliability.interruptions.failure_rates import often
from fleet_runner.core.reliability.interruptions.interruption import Assumed
from fleet_runner.core.reliability.interruptions.training_time import JobRun, expected, job_runs, together
from fleet_runner.core.reliability.lifetimes.rates import Rate
from tests.core.reliability.interruptions.made import BEGUN, DAY, ENDED, HOUR, fallen, found, told

ASSUMED = Assumed(HOUR, 300.0)


def rate_of(thousand: int) -> Rate:
    """Return a rate of so many in 1,000 node days."""
    rate = often([found()] * thousand, {"gpu-01": 1_000 * DAY})
    assert rate is not None
    return rate


def test_a_job_that_was_interrupted_and_ran_again() -> None:
    """10 h with 10 min still and 30 min done again; 5 min of waiting; 2 h that ended well, 5 min of them to start."""
    again = told(None, begun=ENDED + 300.0, ended=ENDED + 300.0 + 2 * HOUR, state="COMPLETED")
    (run,) = job_runs([again, told()], ASSUMED)
    assert run == JobRun(2, 12 * HOUR, 12 * HOUR - 600.0 - 1_800.0 - 300.0, 12 * HOUR + 300.0, 1)
    assert run.ratio == pytest.approx((12 * HOUR - 2_700.0) / (12 * HOUR + 300.0))


def test_what_the_program_did_itself_is_no_loss() -> None:
    """Of jobs that differ in whose doing their end was."""
    ends = [told(fallen(area=area, blur=0.0), id=area) for area in (Area.SOFTWARE, Area.FABRIC)]
    assert [run.productive for run in job_runs(ends, ASSUMED)] == [10 * HOUR, 10 * HOUR - 600.0 - 1_800.0]


def test_a_job_that_runs_tells_nothing_and_work_by_hand_is_a_job_each() -> None:
    assert job_runs([told(ended=None)], ASSUMED) == ()
    assert len(job_runs([told(id=""), told(id="")], ASSUMED)) == 2


def test_all_jobs_count_by_their_node_time() -> None:
    long, short = JobRun(8, HOUR, HOUR, HOUR, 0), JobRun(2, HOUR, 0.0, HOUR, 1)
    assert together([long, short]) == 0.8
    assert together([]) is None
    assert JobRun(1, 0.0, 0.0, 0.0, 0).ratio is None


def run(number: int, begins: float, ran: float, still: float) -> KeptAnswer:
    """One run of a job."""
    ended = BEGUN + begins + ran
    return told(fallen(ended - still), id=str(number), begun=BEGUN + begins, ended=ended)


@given(st.lists(st.builds(run, st.integers(0, 2), *[st.floats(-1e5, 1e6)] * 3), max_size=8))
def test_progress_is_part_of_the_runtime_and_that_of_the_whole_time(answers: list[KeptAnswer]) -> None:
    """Also where runs overlap, or end before they begin."""
    for each in job_runs(answers, ASSUMED):
        assert 0 <= each.productive <= each.running <= each.whole * (1 + 1e-9) + 1e-6
        assert each.ratio is None or 0 <= each.ratio <= 1 + 1e-9


def test_the_published_expectations_come_out() -> None:
    """16,000 GPUs, 6.5 in 1,000 node days: 0.7 with a checkpoint an hour, 0.93 every 5 min (arXiv 2410.21680)."""
    rate = often([found()] * 65, {"gpu-01": 10_000 * DAY})
    assert rate is not None
    assert expected(rate, 2_000, Assumed(HOUR, 300.0)).value == pytest.approx(0.7, abs=0.02)
    assert expected(rate, 2_000, Assumed(300.0, 300.0)).value == pytest.approx(0.93, abs=0.01)


def test_what_can_be_expected_is_never_below_nothing() -> None:
    few = expected(rate_of(1), 1, ASSUMED)
    assert 0 < (few.low or 0.0) < few.value < (few.high or 0.0) < 1
    many = expected(rate_of(500), 1_000_000, ASSUMED)
    assert (many.low, many.value, many.high) == (0.0, 0.0, 0.0)
