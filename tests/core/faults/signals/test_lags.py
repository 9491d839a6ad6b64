"""Whose clock is behind."""

from fleet_runner.core.faults.signals.lags import APART, BEHIND, OFTEN, ClockLags
from fleet_runner.core.faults.signals.signal import Source
from tests.core.faults.signals.telling import NOW, signal

SLOW = 2400.0


def heard(lags: ClockLags, at: float, lag: float, source: Source = Source.KERNEL) -> float:
    """Hear a signal at a moment, so much late."""
    return lags.behind(signal(at - lag, source=source), NOW + at)


def test_a_clock_is_behind_once_signals_came_late_by_as_much_again_and_again() -> None:
    """The first lag is the measure; a signal that comes in time shows that the clock is right."""
    lags = ClockLags()
    found = [heard(lags, minute * 60.0, SLOW + minute) for minute in range(OFTEN + 2)]
    assert found == [0.0] * (OFTEN - 1) + [SLOW] * 3
    assert heard(lags, 900.0, BEHIND - 1) == 0.0
    assert heard(lags, 960.0, SLOW) == 0.0


def test_what_a_shipper_catches_up_on_tells_of_no_clock() -> None:
    """Neither much of it at once, nor what comes less and less late."""
    lags = ClockLags()
    assert {heard(lags, each * APART / 100, SLOW) for each in range(99)} == {0.0}
    assert {heard(lags, 60.0 * each, SLOW - each * 120) for each in range(1, 10)} == {0.0}


def test_an_alert_has_no_clock_of_its_node() -> None:
    """Nor has a person; and each source has one of its own."""
    lags = ClockLags()
    assert {heard(lags, each * 60.0, SLOW, Source.OPERATOR) for each in range(9)} == {0.0}
    for each in range(OFTEN):
        heard(lags, each * 60.0, SLOW, Source.REDFISH)
        heard(lags, each * 60.0, 0.0)
    assert heard(lags, 600.0, SLOW, Source.REDFISH) == SLOW
