"""From a fault to its detection, until the node was out, and until it served again."""

from fleet_runner.core.jobs.event import Area
from fleet_runner.core.reliability.interruptions.repair_times import looked_for, repair_times
from tests.core.reliability.interruptions.made import DAY, ENDED, HOUR, fallen, found, out

FAULT = ENDED - 600.0


def test_each_time_is_from_the_journal_and_from_what_checks_said() -> None:
    each = found()
    told = repair_times([each], {each: FAULT + 30.0}, {"gpu-01": out(FAULT + 90.0, FAULT + 90.0 + HOUR)})
    assert [(row.known, row.all, row.median, row.ninetieth) for row in told] == [
        (1, 1, 30.0, 30.0),
        (1, 1, 90.0, 90.0),
        (1, 1, HOUR, HOUR),
    ]


def test_what_is_not_known_is_counted_as_not_known() -> None:
    """Not detected, never out, still out."""
    first, second = found(), found(fallen(node="gpu-02", blur=0.0))
    told = repair_times([first, second], {first: None}, {"gpu-02": out(FAULT + 90.0, None, "gpu-02")})
    assert [(row.known, row.all, row.median) for row in told] == [(0, 2, None), (1, 2, 90.0), (0, 1, None)]


def test_faults_without_a_place_or_a_time_and_those_of_software_are_not_looked_for() -> None:
    asked = [found(None), found(fallen(None)), found(fallen(node="")), found(fallen(area=Area.SOFTWARE))]
    assert looked_for(asked) == ()
    assert [(row.known, row.all) for row in repair_times(asked, {}, {})] == [(0, 0)] * 3
    each = found(fallen(FAULT, blur=300.0))
    assert looked_for([each]) == ((each, FAULT - 300.0, ENDED + DAY),)


def test_a_node_that_left_before_the_fault_or_days_after_it_left_for_another_reason() -> None:
    each = found()
    for begins in (FAULT - 1.0, ENDED + DAY):
        assert repair_times([each], {}, {"gpu-01": out(begins)})[1].known == 0


def test_what_was_known_before_the_middle_of_its_blur_took_no_time() -> None:
    each = found(fallen(FAULT, blur=300.0))
    told = repair_times([each], {each: FAULT - 200.0}, {"gpu-01": out(FAULT - 250.0, FAULT - 260.0)})
    assert [row.median for row in told] == [0.0, 0.0, 0.0]


def test_nine_of_ten_took_at_most_the_ninetieth() -> None:
    each = [found(fallen(FAULT, blur=0.0), id=str(number)) for number in range(10)]
    told = repair_times(each, {one: FAULT + number for number, one in enumerate(each)}, {})[0]
    assert (told.median, told.ninetieth) == (4.5, 8.0)
