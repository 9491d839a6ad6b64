"""When something happened, whatever the sender's clock says."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.faults.signals.clock import LATE, moment, settled
from tests.core.faults.signals.telling import NOW


@given(st.one_of(st.none(), st.floats(allow_nan=True)), st.floats(1.5e9, 4e9))
def test_a_time_is_the_senders_or_ours(at: float | None, heard: float) -> None:
    """Never before the earliest that is believed, nor in the time to come: that would outlast its remedy."""
    found = settled(at, heard)
    assert heard - LATE <= found <= heard
    assert found in (at, heard)


@pytest.mark.parametrize(
    ("late", "found"), [(290.0, 0.0), (0.1, 0.0), (0.0, 0.0), (-40.0, -40.0), (-LATE, -LATE), (-LATE - 1, 0.0)]
)
def test_a_clock_may_be_behind_and_never_ahead(late: float, found: float) -> None:
    """What happens in five minutes would still be news of a node that was healed in three."""
    assert settled(NOW + late, NOW) == NOW + found


@pytest.mark.parametrize(
    "told",
    [
        1_700_000_000, 1_700_000_000.0, 1_700_000_000_000, "1700000000000000", 1_700_000_000_000_000_000,
        "1700000000.000000", "2023-11-14T22:13:20Z", "2023-11-14T23:13:20+01:00", "2023-11-14T22:13:20,000000+00:00",
        "2023-11-14T22:13:20.000000000Z", "2023-11-14 22:13:20.000", "Nov 14 22:13:20",
    ],
)  # fmt: skip
def test_a_time_is_read_however_it_is_written(told: object) -> None:
    """Seconds, milli-, micro- and nanoseconds; with a zone; and without one where it is near."""
    assert moment(told, NOW + 600) == NOW


@pytest.mark.parametrize(
    "told",
    [
        None, True, [], "", "soon", "12345.678", 0, 12, float("nan"), float("inf"), 10**400, "1e999", "2023-11-14T25",
        "1970-01-01T00:00:10Z", "0001-01-01T00:00:00Z", "2023-11-14 10:13:20",
        "Nov 14 12:13:20", "Nov 31 22:13:20", "Mär 14 22:13:20", "-",
    ],
)  # fmt: skip
def test_what_is_no_time_is_none(told: object) -> None:
    """Seconds since a boot, clocks that were never set, and times without a zone that are hours off."""
    assert moment(told, NOW) is None


def test_a_year_that_nobody_told_is_the_one_near_by() -> None:
    """The last minute of December is heard in January."""
    heard = datetime(2024, 1, 1, 0, 0, 30, tzinfo=UTC).timestamp()
    assert moment("Dec 31 23:59:59", heard) == heard - 31


@given(st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.booleans()), st.floats(1e9, 9e9))
def test_anything_is_a_time_or_none(told: object, heard: float) -> None:
    """Nothing is raised."""
    found = moment(told, heard)
    assert found is None or isinstance(found, float)
