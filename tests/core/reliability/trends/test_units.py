"""Numbers in another unit."""

import pytest

from fleet_runner.core.reliability.trends.units import changed


@pytest.mark.parametrize(
    ("before", "after", "unit", "other"),
    [
        (60.0, 60_100.0, "watts", True),
        (60.0, 0.0601, "watts", True),
        (100.0, 12.5, "Gb/s", True),
        (40.0, 104.0, "celsius", True),
        (104.0, 40.0, "celsius", True),
        (40.0, 104.0, "watts", False),
        (60.0, 70.0, "celsius", False),
        (-5.0, 5_000.0, "watts", False),
        (0.0, 5.0, "count", False),
        (5.0, 0.0, "count", False),
    ],
)
def test_one_number_is_another_in_another_unit(before: float, after: float, unit: str, other: bool) -> None:
    """By a factor that units have, or in Fahrenheit."""
    assert changed(before, after, unit) is other
