"""Serial numbers of parts that came in: which may be written over which."""

import pytest

from fleet_runner.core.inventory.netbox.mirror.serials import Due, Step, queued, step
from fleet_runner.core.tickets.rma_cases import Case, Replaced, exchanged

CASE = Case(1, "gpu-01", "Acme", "C-7", "ada", 1.0, (Replaced("GPU 1", "S-1"),))


@pytest.mark.parametrize(
    ("there", "out", "follows"),
    [
        ("S-1", "S-1", Step.WRITE),
        ("", "S-1", Step.WRITE),
        ("", "", Step.WRITE),
        ("S-9", "S-1", Step.DONE),
        ("S-7", "S-1", Step.KEEP),
        ("S-7", "", Step.KEEP),
    ],
)
def test_only_none_or_the_one_that_went_out_is_written_over(there: str, out: str, follows: Step) -> None:
    assert step(there, Due("gpu-01", "GPU 1", out, "S-9", "ada", 1.0)) is follows


def test_the_one_that_went_out_is_expected_there() -> None:
    after = exchanged(CASE, {}, {"GPU 1": "S-9", "GPU 2": "T-9"})
    due = queued(CASE, after, ["GPU 1", "GPU 2"], (), ("ada", 5.0))
    assert due == [
        Due("gpu-01", "GPU 1", "S-1", "S-9", "ada", 5.0),
        Due("gpu-01", "GPU 2", "", "T-9", "ada", 5.0),
    ]


def test_a_part_that_is_exchanged_again_takes_the_place_of_the_one_that_came_before() -> None:
    before = exchanged(CASE, {}, {"GPU 1": "S-9"})
    [due] = queued(before, exchanged(before, {}, {"GPU 1": "S-10"}), ["GPU 1"], (), ("ada", 6.0))
    assert (due.out, due.came) == ("S-9", "S-10")


def test_what_still_waits_never_stood_there() -> None:
    before = exchanged(CASE, {}, {"GPU 1": "S-9"})
    waiting = [Due("gpu-01", "GPU 1", "S-1", "S-9", "ada", 5.0)]
    [due] = queued(before, exchanged(before, {}, {"GPU 1": "S-10"}), ["GPU 1"], waiting, ("ada", 6.0))
    assert (due.out, due.came) == ("S-1", "S-10")
