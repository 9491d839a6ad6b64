"""The story of a node from its transitions."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.lifecycle.states import TRANSITIONS, Event, State
from fleet_runner.core.reliability.report.rows import Span, Step, last_week, week
from fleet_runner.core.reliability.report.stories import out, production, story

UP = (Event.START, Event.PASSED, Event.CERTIFIED, Event.PASSED, Event.PASSED, Event.PASSED)


def steps(*told: tuple[float, Event], here: State = State.REGISTERED) -> list[Step]:
    """Transitions of a node, from a state on."""
    rows: list[Step] = []
    for at, event in told:
        move = TRANSITIONS[here, event]
        rows.append(Step("gpu-01", at, here, event, move.to))
        here = move.to
    return rows


def up(begins: float = 100.0) -> list[tuple[float, Event]]:
    """A bring-up of ten seconds a state."""
    return [(begins + 10.0 * at, event) for at, event in enumerate(UP)]


def test_a_bring_up_lasts_from_the_first_boot_to_production() -> None:
    """With what each state took."""
    (found,) = story("gpu-01", steps(*up())).bring_ups
    assert (found.at, found.seconds) == (150.0, 50.0)
    assert set(found.states.values()) == {10.0}
    assert sum(found.states.values()) == 50.0


def test_what_follows_a_repair_is_no_bring_up_but_the_end_of_an_exclusion() -> None:
    """However it comes back."""
    repaired = [
        (200.0, Event.TRIAGE_NEEDED),
        (210.0, Event.REPAIRED),
        *((220.0 + at, event) for at, event in enumerate(UP[2:])),
    ]
    found = story("gpu-01", steps(*up(), *repaired))
    assert len(found.bring_ups) == 1
    (gone,) = found.exclusions
    assert (gone.begins, gone.ends) == (200.0, 223.0)
    assert found.served == ((150.0, 200.0), (223.0, None))


def test_a_node_that_is_out_is_out_until_now_and_one_that_left_the_fleet_is_not() -> None:
    """Its history stays."""
    span = Span(100.0, 300.0)
    fallen = story("gpu-01", steps(*up(), (200.0, Event.TRIAGE_NEEDED)))
    assert production(fallen, span, 1000.0) == 50.0
    assert [out(each, span, 1000.0) for each in fallen.exclusions] == [100.0]
    assert [out(each, span, 250.0) for each in fallen.exclusions] == [50.0]
    retired = story("gpu-01", steps(*up(), (200.0, Event.TRIAGE_NEEDED), (220.0, Event.RETIRE)))
    assert [out(each, span, 1000.0) for each in retired.exclusions] == [20.0]
    served = story("gpu-01", steps(*up(), (200.0, Event.RETIRE)))
    assert (served.exclusions, served.served) == ((), ((150.0, 200.0),))


def test_a_past_that_is_no_longer_kept_begins_in_the_middle() -> None:
    """It served until it left."""
    found = story("gpu-01", steps((200.0, Event.REBOOT_NEEDED), (230.0, Event.PASSED), here=State.PRODUCTION))
    assert found.served == ((0.0, 200.0), (230.0, None))
    assert found.bring_ups == ()


def test_a_bring_up_that_begins_again_begins_at_the_last_first_boot() -> None:
    """A person asked for it to be booted anew; START comes once, what lies between counts."""
    failed = [
        (100.0, Event.START),
        (110.0, Event.FAILED),
        (120.0, Event.RETRY),
        *((130.0 + at, e) for at, e in enumerate(UP[1:])),
    ]
    (found,) = story("gpu-01", steps(*failed)).bring_ups
    assert found.seconds == 34.0


def test_a_bring_up_that_goes_on_is_told_up_to_a_moment() -> None:
    """Unless it has left the fleet, or has served."""
    found = story("gpu-01", steps(*up()[:3])).coming
    assert found is not None
    assert [(each.state, each.begins, each.ends) for each in found.until(200.0).stays] == [
        (State.PROVISION, 100.0, 110.0),
        (State.ONBOARD, 110.0, 120.0),
        (State.VERIFY, 120.0, 200.0),
    ]
    assert found.until(90.0).stays[-1].ends == 120.0
    assert story("gpu-01", steps(*up()[:2], (130.0, Event.RETIRE))).coming is None
    assert story("gpu-01", steps(*up())).coming is None


@given(
    st.lists(st.tuples(st.floats(0, 1e6), st.sampled_from(Event)), max_size=40), st.floats(0, 1e6), st.floats(1, 1e6)
)
def test_whatever_clocks_say_no_time_is_counted_twice(
    told: list[tuple[float, Event]], since: float, length: float
) -> None:
    """Production and exclusions of a span are never more than the span."""
    here, rows = State.REGISTERED, []
    for at, event in told:
        move = TRANSITIONS.get((here, event))
        if move is not None:
            rows.append(Step("gpu-01", at, here, event, move.to))
            here = move.to
    found, span = story("gpu-01", rows), Span(since, since + length)
    spent = production(found, span, 2e6) + sum(out(each, span, 2e6) for each in found.exclusions)
    assert 0.0 <= spent <= length * (1 + 1e-9)
    assert all(each.seconds >= 0.0 for each in found.bring_ups)


def test_weeks_begin_on_monday_in_utc() -> None:
    """And the last one is whole."""
    found = week("2026-W46")
    assert (found.since, found.until) == (1_794_182_400.0, 1_794_787_200.0)
    assert found.before() == week("2026-W45")
    assert last_week(found.until) == found
    assert last_week(found.until - 1.0) == week("2026-W45")
    assert last_week(week("2027-W01").until) == week("2027-W01")
    assert (found.holds(found.since), found.holds(found.until)) == (True, False)


@given(st.text(max_size=12))
def test_what_is_no_week_is_a_value_error(text: str) -> None:
    """And nothing else."""
    try:
        week(text)
    except (ValueError, OverflowError):
        return
    assert "-W" in text


def test_time_in_production_is_counted_once_where_the_way_out_is_missing() -> None:
    """As where a clock was ahead when the node left, and what happened after the span is not read."""
    back = Step("gpu-01", 300.0, State.BURN_IN, Event.PASSED, State.PRODUCTION)
    assert production(story("gpu-01", [*steps(*up()), back]), Span(100.0, 400.0), 1000.0) == 250.0
