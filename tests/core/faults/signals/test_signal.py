"""What is news of a node, and what has been dealt with."""

from dataclasses import replace

import pytest

from fleet_runner.core.faults.signals.signal import WENT_ON
from tests.core.faults.signals.telling import NOW, signal


@pytest.mark.parametrize(("at", "news"), [(-1.0, False), (0.0, True), (5.0, True)])
def test_what_happened_in_an_earlier_state_is_no_news(at: float, news: bool) -> None:
    """That it is over always is."""
    assert signal(at).is_news(NOW) is news
    assert signal(at, ended=True).is_news(NOW)


@pytest.mark.parametrize(
    ("began", "at", "news"),
    [
        (-60.0, 300.0, False),
        (-60.0, WENT_ON - 1, False),
        (-60.0, WENT_ON, True),
        (0.0, 1.0, True),
        (30.0, 60.0, True),
    ],
)
def test_what_began_in_an_earlier_state_has_to_go_on(began: float, at: float, news: bool) -> None:
    """The remedy may have healed what an alert still counts within its window."""
    told = replace(signal(at), began=NOW + began)
    assert told.is_news(NOW) is news
    assert replace(told, ended=True).is_news(NOW)
