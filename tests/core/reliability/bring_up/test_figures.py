"""What many ways come to, and the words for it."""

from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.reliability.bring_up import words
from fleet_runner.core.reliability.bring_up.figures import Gain, Passed, Ways, concerned, ways
from fleet_runner.core.reliability.bring_up.way import Part, Try, Wait
from fleet_runner.core.reliability.report.figures import Kept
from fleet_runner.core.reliability.report.rows import Span
from fleet_runner.core.reliability.report.stories import BringUp, Stay, Story

SPAN = Span(1_000.0, 2_000.0)
HOUR = 3_600.0


def up(node: str, *stays: Stay) -> BringUp:
    """A bring-up of some stays."""
    return BringUp(node, stays[-1].ends, stays[-1].ends - stays[0].begins, {}, stays)


def test_bring_ups_belong_to_the_span_in_which_they_end_or_still_go_on() -> None:
    """One that goes on is told of up to the span's end, or now."""
    done = up("done", Stay(State.BURN_IN, 900.0, 1_500.0))
    before = up("before", Stay(State.BURN_IN, 0.0, 900.0))
    coming = up("coming", Stay(State.PROVISION, 10.0, 1_100.0), Stay(State.ONBOARD, 1_100.0, 1_100.0))
    later = up("later", Stay(State.PROVISION, 2_500.0, 2_500.0))
    stories = [Story("done", (done,)), Story("before", (before,)), Story("coming", coming=coming)]
    found = concerned([*stories, Story("later", coming=later)], SPAN, 5_000.0)
    assert found == {"done": (done, True), "coming": (coming.until(2_000.0), False)}
    assert concerned(stories, SPAN, 1_200.0)["coming"][0].stays[-1].ends == 1_200.0


def four() -> Ways:
    """Three nodes that came up, of which one was slow and one was held, and one that waits for its certificate."""
    wanted = {
        node: (up(node, Stay(State.ONBOARD, 0.0, HOUR), Stay(State.VERIFY, HOUR, HOUR + took)), True)
        for node, took in (("a", 100.0), ("b", 100.0), ("c", 700.0))
    }
    wanted["d"] = (up("d", Stay(State.ONBOARD, 0.0, 3 * HOUR)), False)
    tries = {
        "a": [Try(HOUR, None, Outcome.PASSED)],
        "b": [Try(HOUR + 50.0, HOUR + 100.0, Outcome.PASSED)],
        "c": [Try(HOUR, HOUR + 700.0, Outcome.PASSED)],
    }
    held = [Kept("b", "alice", "fans", HOUR, HOUR + 40.0), Kept("b", "alice", "again", 2 * HOUR, None)]
    return ways(wanted, tries, held, 3 * HOUR)


def test_states_gains_and_the_critical_path_are_counted_over_all_nodes() -> None:
    """Of devices only what lies above their median would be gained."""
    found = four()
    assert [each.node for each in found.ways] == ["d", "c", "a", "b"]
    assert found.critical == found.ways[1]
    assert found.states == (
        Passed(State.ONBOARD, 4, HOUR, 3 * HOUR, 1),
        Passed(State.VERIFY, 3, 100.0, 700.0, 0),
    )
    assert found.gains == (
        Gain(Wait.PERSON, State.ONBOARD, 6 * HOUR, 4, HOUR),
        Gain(Wait.DEVICE, State.VERIFY, 600.0, 1, 100.0),
        Gain(Wait.HOLD, State.VERIFY, 40.0, 1, 40.0),
        Gain(Wait.RUNNER, State.VERIFY, 10.0, 1, 10.0),
    )
    assert sum(found.waits.values()) == sum(each.seconds for each in found.ways)
    assert ways({}, {}, (), 0.0) == Ways(waits=dict.fromkeys(Wait, 0.0))
    assert concerned([], SPAN, 1.0) == {}


def test_devices_that_took_as_long_as_all_others_gain_nothing() -> None:
    """No runner makes them faster."""
    wanted = {node: (up(node, Stay(State.VERIFY, 0.0, 9.0)), True) for node in ("a", "b")}
    assert not ways(wanted, {node: [Try(0.0, 9.0, Outcome.PASSED)] for node in wanted}, (), 9.0).gains


def test_each_cause_has_one_sentence_with_what_would_shorten_it() -> None:
    """Where a state has no advice of its own, none is given."""
    found = four()
    assert [words.shorter(each) for each in found.gains[:2]] == [
        (
            "6.0 h: 4 nodes waited in onboard for a person, 60 min each (median); certify nodes as soon as they are"
            " cabled: fleet-runner certify NODE."
        ),
        (
            "0.2 h: 1 node took longer in verify than the median of 100 s; look at the slow ones,"
            " and at what was done twice."
        ),
    ]
    other = words.shorter(Gain(Wait.PERSON, State.REGISTERED, HOUR, 1, HOUR))
    assert other == "1.0 h: 1 node waited in registered for a person, 60 min."
    assert all(words.shorter(Gain(each, State.VERIFY, 1.0, 1, 1.0)) for each in Wait)
    assert words.path(found.ways[1]) == "onboard 60 min (a person), verify 11.7 min (devices at work)"
    assert words.summary(found).startswith("4 nodes on the way into production, 1 of them still; time: 96.")
    assert words.summary(Ways()) == "No node was on its way into production."


def test_one_node_and_two_and_one_that_has_just_begun_read_well() -> None:
    """The median of two lies between them; nobody is told of shares of nothing."""
    one, two = up("a", Stay(State.ONBOARD, 0.0, 100.0)), up("b", Stay(State.ONBOARD, 0.0, 300.0))
    for wanted, said in (
        ({"a": (one, True)}, "1 node on the way into production, and there now; time: 100.00 % for a person."),
        ({"a": (one, False)}, "1 node on the way into production, still; time: 100.00 % for a person."),
        ({"a": (one, True), "b": (two, True)}, "2 nodes on the way into production, none of them still; time: 1"),
        ({"a": (one, False), "b": (two, False)}, "2 nodes on the way into production, all of them still; time: 1"),
        ({"c": (up("c", Stay(State.PROVISION, 5.0, 5.0)), False)}, "1 node on the way into production, still."),
    ):
        assert words.summary(ways(wanted, {}, (), 300.0)).startswith(said)
    assert ways({"a": (one, True)}, {}, (), 300.0).states == (Passed(State.ONBOARD, 1, 100.0, 100.0, 0),)
    both = ways({"a": (one, True), "b": (two, True)}, {}, (), 300.0)
    assert both.states == (Passed(State.ONBOARD, 2, 200.0, 300.0, 0),)
    assert both.waits == dict.fromkeys(Wait, 0.0) | {Wait.PERSON: 400.0}


def test_a_node_that_goes_back_and_forth_has_a_short_line() -> None:
    """Each state and wait once, with all of its time; a program gets every part."""
    stays = [Stay((State.VERIFY, State.TRIAGE)[at % 2], 60.0 * at, 60.0 * at + 60.0) for at in range(400)]
    (found,) = ways({"a": (up("a", *stays), False)}, {}, (), 24_000.0).ways
    assert words.path(found) == "verify 3.3 h (the runner or a mode), triage 3.3 h (a person)"
    assert len(found.parts) == 400


def test_a_program_gets_the_same() -> None:
    """Ways are cut."""
    told = words.plain(four(), 1)
    assert told["critical"]["node"] == "c"
    assert [each["node"] for each in told["ways"]] == ["d"]
    assert told["ways"][0]["parts"] == [{"state": "onboard", "wait": "person", "begins": 0.0, "ends": 3 * HOUR}]
    assert told["shorter"][0]["sentence"] == words.shorter(four().gains[0])
    assert [each["state"] for each in told["states"]] == ["onboard", "verify"]
    assert words.plain(Ways(), 1)["critical"] is None
    assert Part(State.VERIFY, Wait.DEVICE, 1.0, 3.0).seconds == 2.0
