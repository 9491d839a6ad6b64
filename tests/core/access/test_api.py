"""What the API answers beside rows."""

from fleet_runner.core.access.overview import Paused, paused
from fleet_runner.core.inventory.switch import Switch


def test_who_switched_something_off_is_told_where_somebody_did() -> None:
    assert paused(Switch("queue", 1.0, "alice", "power work")) == Paused("queue", 1.0, "alice", "power work")
    assert paused(None) is None
