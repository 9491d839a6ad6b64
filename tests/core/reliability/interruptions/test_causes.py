"""Interruptions by cause."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.jobs.event import Area
from fleet_runner.core.reliability.interruptions.causes import areas, causes
from fleet_runner.core.reliability.interruptions.families import LLAMA_3, Family
from tests.core.reliability.interruptions.made import fallen, found


def test_what_interrupts_most_comes_first_beside_the_published_table() -> None:
    nvlink = found(fallen(code="nvlink.down"))
    rows = causes([found(), nvlink, nvlink, found(None)])
    assert [(row.name, row.interruptions, row.share, row.published) for row in rows[:3]] == [
        ("NVLink and NVSwitch", 2, 0.5, None),
        ("GPU", 1, 0.25, 148),
        ("not known", 1, 0.25, 7),
    ]
    assert round(100 * (rows[1].published_share or 0.0), 1) == 35.3
    (software,) = [row for row in rows if row.family is Family.SOFTWARE]
    assert software.published == 54 + 2
    (untold,) = [row for row in rows if row.family is None]
    assert (untold.name, untold.interruptions, untold.published) == ("unplanned maintenance of hosts", 0, 32)


@given(st.lists(st.sampled_from(list(Area)), max_size=30))
def test_every_interruption_is_counted_once(given_areas: list[Area]) -> None:
    mine = [found(fallen(area=each)) for each in given_areas]
    rows = causes(mine)
    assert sum(row.interruptions for row in rows) == len(mine) == sum(count for _, count in areas(mine))
    assert sum(row.published or 0 for row in rows) == sum(each.interruptions for each in LLAMA_3)
