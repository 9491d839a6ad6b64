"""Counting the history: how long stays, repairs and bring-ups took, and how few series it makes."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.lifecycle.metrics import AGES, OTHER, ROWS, Moves, Spread, Step, named, older
from fleet_runner.core.lifecycle.states import Event, State

HOURS = 3600.0


def steps(*moves: tuple[float, State, Event, State], node: str = "gpu-1") -> list[Step]:
    return [Step(number, node, at * HOURS, *map(str, row)) for number, (at, *row) in enumerate(moves)]


UP = (
    (0.0, State.REGISTERED, Event.START, State.PROVISION),
    (1.0, State.PROVISION, Event.PASSED, State.ONBOARD),
    (3.0, State.ONBOARD, Event.CERTIFIED, State.VERIFY),
    (4.0, State.VERIFY, Event.PASSED, State.FIRMWARE),
    (5.0, State.FIRMWARE, Event.PASSED, State.BURN_IN),
    (30.0, State.BURN_IN, Event.PASSED, State.PRODUCTION),
)


@given(st.lists(st.floats(-1e6, 1e9)))
def test_a_spread_counts_everything_once(values: list[float]) -> None:
    spread = Spread((1.0, 60.0))
    for each in values:
        spread.add(each)
    counts = [count for _, count in spread.up_to()]
    assert counts == sorted(counts)
    assert counts[-1] == len(values)
    assert spread.total >= 0.0


def test_a_value_at_a_bound_lies_below_it() -> None:
    spread = Spread((1.0, 2.0))
    spread.add(1.0, times=3)
    assert spread.up_to() == [(1.0, 3), (2.0, 3), (float("inf"), 3)]
    assert spread.total == 3.0


def test_a_copy_stays_as_it_is() -> None:
    spread = Spread((1.0,))
    copy = spread.copy()
    spread.add(0.5)
    assert copy.up_to()[-1][1] == 0


def test_bringing_up_is_counted_from_day_0_to_production() -> None:
    moves = Moves()
    moves.take(steps(*UP))
    assert (moves.bring_up.up_to()[-1][1], moves.bring_up.total) == (1, 30 * HOURS)
    assert moves.stays[State.BURN_IN].total == 25 * HOURS
    assert moves.repairs == {}


def test_a_repair_goes_from_leaving_to_the_return_whatever_lies_between() -> None:
    moves = Moves()
    moves.take(
        steps(
            *UP,
            (40.0, State.PRODUCTION, Event.RESET_NEEDED, State.RESET),
            (41.0, State.RESET, Event.FAILED, State.REBOOT),
            (43.0, State.REBOOT, Event.PASSED, State.PRODUCTION),
            (50.0, State.PRODUCTION, Event.REBOOT_NEEDED, State.REBOOT),
            (51.0, State.REBOOT, Event.PASSED, State.PRODUCTION),
        )
    )
    assert {cause: spread.total / HOURS for cause, spread in moves.repairs.items()} == {
        Event.RESET_NEEDED: 3.0,
        Event.REBOOT_NEEDED: 1.0,
    }
    assert moves.bring_up.up_to()[-1][1] == 1


def test_what_is_not_known_from_its_beginning_is_followed_from_where_it_is_seen() -> None:
    moves = Moves()
    moves.take(steps((1.0, State.BURN_IN, Event.PASSED, State.PRODUCTION)))
    assert moves.stays == {}
    assert moves.bring_up.up_to()[-1][1] == 0
    moves.take(steps((2.0, State.VERIFY, Event.PASSED, State.FIRMWARE)))  # a gap: it was somewhere else meanwhile
    assert moves.stays == {}


def test_a_retired_node_is_remembered_no_more() -> None:
    moves = Moves()
    moves.take(steps(*UP, (31.0, State.PRODUCTION, Event.RETIRE, State.RETIRED)))
    assert moves.at == {}
    assert moves.stays[State.PRODUCTION].total == HOURS


def test_a_transition_that_is_in_no_table_makes_no_series() -> None:
    moves = Moves()
    moves.take([Step(1, "gpu-1", 0.0, "moon", "landed", "mars"), Step(2, "gpu-1", 0.0, "sun", "rose", "mars")])
    assert moves.transitions[OTHER, OTHER, OTHER] == 2
    assert moves.transitions.keys() - ROWS == {(OTHER, OTHER, OTHER)}
    assert moves.at == {}


def test_what_is_older_is_counted_for_each_age() -> None:
    found = dict(older([0.0, AGES[0], AGES[0] + 1.0, AGES[-1] * 2]))
    assert (found[AGES[0]], found[AGES[-1]]) == (2, 1)


@given(st.dictionaries(st.tuples(st.text(), st.text()), st.integers(1, 9)), st.integers(0, 5))
def test_never_more_names_than_may_be(counted: dict[tuple[str, ...], int], most: int) -> None:
    told = named(counted, most)
    assert told.keys() == counted.keys()
    assert len(set(told.values())) <= most + 1


def test_the_commonest_keep_their_names_and_long_ones_are_cut() -> None:
    told = named({("a",): 1, ("b" * 100,): 5, ("c",): 3}, 2)
    assert told == {("a",): (OTHER,), ("b" * 100,): ("b" * 64,), ("c",): ("c",)}
