"""Values over a job's time, as many of a long job as of a short one."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.jobs.history import POINTS, History


@given(st.integers(0, 5_000))
def test_however_long_a_job_runs_its_history_is_short_and_covers_it(count: int) -> None:
    """Values that are kept are as far from each other at the beginning as at the end."""
    history = History("job.out")
    for number in range(count):
        history.add(float(number), number * 2.0)
    points = history.points(0.0)
    assert min(count, POINTS // 2) <= len(points) + 1 <= POINTS
    assert all(value == 2 * at for at, value in points)
    apart = {later[0] - earlier[0] for earlier, later in pairwise(points)}
    assert len(apart) <= 1
    assert all(count - 1 - points[-1][0] < each for each in apart)


def test_a_value_that_tells_no_new_moment_is_left_out() -> None:
    """A logger's time stands, or its clock was set back."""
    history = History("")
    for at, value in ((10.0, 1.0), (10.0, 2.0), (9.0, 3.0), (11.0, 4.0)):
        history.add(at, value)
    assert history.points(3_600.0) == [(-3590.0, 1.0), (-3589.0, 4.0)]
