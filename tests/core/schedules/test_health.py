"""How long a loop may be silent, and when every part can be used."""

import pytest

from fleet_runner.core.schedules.health import LEAST, MOST, TIMES, Alive, Part, bound, heard, ready


def test_the_bound_follows_from_the_pause_and_the_longest_round() -> None:
    """A pause and what one step may wait for, and more where rounds are known to take longer."""
    assert bound(2.0, 0.0) == 2.0 + LEAST
    assert bound(2.0, 40.0) == 2.0 + LEAST + TIMES * 40.0


def test_a_round_of_hours_does_not_hide_the_next_one_that_hangs() -> None:
    """What is believed of it ends somewhere."""
    assert bound(2.0, 36_000.0) == bound(2.0, MOST)


@pytest.mark.parametrize(("seconds", "ok"), [(0.0, True), (62.0, True), (62.1, False)])
def test_a_loop_lives_up_to_its_bound_and_says_what_was_expected(seconds: float, ok: bool) -> None:
    """The sentence has both numbers, and the next step where it hangs."""
    alive = Alive(seconds, 62.0)
    assert alive.ok is ok
    assert f"{seconds:.1f} s ago, expected at most 62 s" in alive.said
    assert ("it hangs" in alive.said) is not ok


def test_one_part_that_cannot_be_used_is_enough() -> None:
    """All of them are needed."""
    good, bad = Part(ok=True, said="fine"), Part(ok=False, said="not")
    assert ready({"store": good, "source": good})
    assert not ready({"store": good, "source": bad})


@pytest.mark.parametrize(("decides", "said"), [(True, "it decides for the fleet"), (False, "it does not decide now")])
def test_a_runner_that_beats_in_time_says_whether_it_decides(decides: bool, said: str) -> None:
    """Half of its lease is in time."""
    part = heard(15.0, 30.0, decides=decides)
    assert part.ok
    assert part.said == f"other runners last saw this one 15.0 s ago, expected at most 15 s; {said}"


def test_a_runner_that_is_late_says_what_follows_and_what_to_see_to() -> None:
    """Before its lease is over, and with its length."""
    part = heard(15.2, 30.0, decides=True)
    assert not part.ok
    assert "15.2 s ago, expected at most 15 s; after 30 s they take its turn" in part.said
    assert "check the database" in part.said
