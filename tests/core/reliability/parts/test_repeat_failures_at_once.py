"""A part that fails at the first sight in its next node, and was seen there at one moment only."""

from fleet_runner.core.reliability.parts.repeat_failures import Given, analyse
from fleet_runner.core.reliability.parts.stay import Episode, Stay

DAY = 86_400.0


def test_no_time_in_a_place_does_not_make_chance_impossible() -> None:
    others = [Stay(at, "gpu", f"S{at}", f"n{at}", "GPU a", "GPU 0", 0.0, 100 * DAY) for at in range(1, 41)]
    moved = [Stay(50 + at, "gpu", "X", f"m{at}", "GPU a", "GPU 0", at * 10 * DAY, at * 10 * DAY) for at in (1, 2)]
    faults = [
        Episode(at, f"m{at}", "GPU a", "xid.79", "f", "", "X", at * 10 * DAY, at * 10 * DAY, 1) for at in (1, 2)
    ]
    (found,) = analyse(Given(0.0, 100 * DAY, [*others, *moved], faults)).parts
    assert 0.0 < found.chance < 0.001
    assert found.expected > 0.0
