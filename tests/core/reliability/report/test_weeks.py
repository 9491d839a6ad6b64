"""Weeks beside each other, and their pictures."""

from fleet_runner.core.lifecycle.states import Event, State
from fleet_runner.core.reliability.report.figures import Found, figures
from fleet_runner.core.reliability.report.picture_weeks import COLOURS, HEIGHT, OTHERS, stacked
from fleet_runner.core.reliability.report.rows import WEEK, Fault, Span, Step, last_week
from fleet_runner.core.reliability.report.stories import BringUp, Exclusion, Story
from fleet_runner.core.reliability.report.weeks import LISTED, Weeks, analyse, called, spans

NOW = 1_795_000_000.0
JANUARY = 1_799_107_200.0
"""The 5th of January 2027: the year before has 53 weeks."""

TWO = spans(NOW, 2)


def out(week: Span, node: str, after: float, took: float | None, code: int = 7) -> Exclusion:
    """Have a node be out from a moment of a week on."""
    begins = week.since + after
    step = Step(node, begins, State.PRODUCTION, Event.REBOOT_NEEDED, State.REBOOT, results=(code,))
    return Exclusion(step, begins, None if took is None else begins + took)


def told(stories: list[Story], faults: list[Fault] | None = None) -> Weeks:
    """Put two weeks beside each other."""
    found = [Found(stories=stories, faults=faults or [], codes={7: "xid.79", 8: "fan.failed"}) for _ in TWO]
    return analyse(found, [figures(each, span, NOW) for each, span in zip(found, TWO, strict=True)])


def test_weeks_are_whole_and_named_as_the_report_names_them() -> None:
    assert TWO[-1] == last_week(NOW)
    assert TWO[0].until == TWO[1].since
    assert [called(each) for each in spans(NOW, 3)] == ["2026-W44", "2026-W45", "2026-W46"]
    assert len(spans(NOW)) == 13


def test_without_anything_it_says_so() -> None:
    body = told([]).to_json()
    assert body["sentences"] == ["Nothing happened in whole weeks yet."]
    assert (body["repairs"], body["waited"], body["brought_up"]) == ([], [], 0)
    assert [row["availability"] for row in body["weeks"]] == [None, None]


def test_faults_without_nodes_that_serve_are_told() -> None:
    one = Fault("gpu-01", "xid.79", "f", TWO[0].since)
    assert told([], [one]).to_json()["sentences"] == ["1 fault in 2 weeks."]


def test_a_repair_counts_in_the_week_in_which_it_began_and_only_there() -> None:
    first = Story("a", exclusions=(out(TWO[0], "a", 0.0, WEEK), out(TWO[0], "a", 10.0, 20.0)))
    second = Story("b", exclusions=(out(TWO[1], "b", 5.0, 60.0, 8), out(TWO[1], "b", 90.0, None, 8)))
    third = Story("c", exclusions=(out(TWO[1], "c", 5.0, None, 9),))
    rows = told([first, second, third]).repairs
    assert [(row.cause, row.times, row.longest, row.still) for row in rows] == [
        ("xid.79", 2, WEEK, 0),
        ("fan.failed", 1, 60.0, 1),
        ("a fault whose evidence is no longer kept", 0, None, 1),
    ]
    assert rows[0].mean == rows[0].median == (WEEK + 20.0) / 2
    assert told([first]).to_json()["sentences"][2] == "xid.79 took most time: 2 repairs of 3.5 d on average."
    assert not any("took most time" in each for each in told([third]).to_json()["sentences"])


def test_the_way_into_production_is_told_by_its_states() -> None:
    ups = tuple(
        BringUp(
            f"n{at}", TWO[at % 2].since + 1, 10.0, {State.ONBOARD: 10.0 * at, State.BURN_IN: 100.0, State.RMA: 9.0}
        )
        for at in range(1, 11)
    )
    found = told([Story("n", bring_ups=ups)])
    onboard, burn_in = found.waited
    assert (onboard.state, onboard.nodes, onboard.median, onboard.ninetieth) == (State.ONBOARD, 10, 55.0, 90.0)
    assert (burn_in.state, burn_in.median) == (State.BURN_IN, 100.0)
    assert found.brought_up == 10
    body = found.to_json()
    assert body["sentences"][-1] == "10 nodes came up; 61 % of that time was in burn_in, the longest stay."
    assert body["waited"][1] == {
        "state": "burn_in", "nodes": 10, "median": 100.0, "ninetieth": 100.0, "share": 1_000.0 / 1_640.0,
    }  # fmt: skip


def test_a_weeks_figures_are_those_of_its_report() -> None:
    faults = [Fault("gpu-01", f"code.{at:02}", f"f{at}", TWO[0].since + 1) for at in range(LISTED + 3)]
    week = told([Story("a", served=((TWO[0].since, None),))], faults).to_json()["weeks"][0]
    assert (week["week"], week["nodes"], week["served_seconds"], week["availability"]) == ("2026-W45", 1, WEEK, 1.0)
    assert (len(week["causes"]), week["other_faults"], week["lost"]) == (LISTED, 3, [])


def test_hours_of_rare_causes_are_together_and_none_is_lost() -> None:
    stories = [Story(f"n{at}", exclusions=(out(TWO[0], f"n{at}", 0.0, 60.0 + at, at),)) for at in range(LISTED + 2)]
    found = [Found(stories=stories, codes={at: f"code.{at}" for at in range(LISTED + 2)}) for _ in TWO]
    both = analyse(found, [figures(each, span, NOW) for each, span in zip(found, TWO, strict=True)])
    week = both.to_json()["weeks"][0]
    assert (len(week["lost"]), week["other_lost_seconds"]) == (LISTED, 60.0 + 61.0)
    assert sum(each["seconds"] for each in week["lost"]) + week["other_lost_seconds"] == week["lost_seconds"]


def test_a_year_of_53_weeks_is_told_in_order() -> None:
    assert [called(each) for each in spans(JANUARY, 3)] == ["2026-W51", "2026-W52", "2026-W53"]
    assert [called(each) for each in spans(JANUARY + WEEK, 2)] == ["2026-W53", "2027-W01"]


def test_bars_stand_on_each_other_and_reach_what_they_are() -> None:
    drawn = stacked([("2026-W45", {"a": 3.0, "b": 1.0}), ("2026-W46", {"b": 2.0, "c": 0.0})], " h")
    assert drawn.colours == {"a": 1, "b": 2}
    first, second, third = drawn.bars
    assert (first.words, first.kind, second.kind) == ("2026-W45: a, 3 h", 1, 2)
    assert first.y + first.height == HEIGHT == third.y + third.height
    assert second.y + second.height == first.y
    assert first.height == 3 * second.height
    assert [each.words for each in drawn.below] == ["W45", "W46"]
    assert drawn.beside[0].at == HEIGHT
    assert drawn.beside[-1].at == 0.0


def test_an_axis_of_counts_has_whole_numbers_alone() -> None:
    assert [each.words for each in stacked([("2026-W45", {"a": 1.0})]).beside] == ["0", "1"]
    assert "0.5 h" in [each.words for each in stacked([("2026-W45", {"a": 1.0})], " h").beside]


def test_what_is_left_over_has_one_colour_and_a_cause_keeps_its_own() -> None:
    many = {f"cause {at}": 10.0 - at for at in range(COLOURS + 2)} | {OTHERS: 20.0}
    drawn = stacked([("2026-W45", many)])
    assert drawn.colours[OTHERS] == COLOURS + 1
    assert drawn.bars[-1].words == f"2026-W45: {OTHERS}, 27"
    like = stacked([("2026-W45", {"cause 3": 1.0, "new": 9.0})], like=drawn)
    assert like.colours == {"new": COLOURS + 2, "cause 3": 4}
    other = stacked([("2026-W45", {f"new {at}": 9.0 - at for at in range(6)})], like=drawn)
    assert list(other.colours.values()) == [8, 9, 10, 1, 2, 3]
    assert stacked([]).bars == ()
    assert stacked([("2026-W45", {})]).colours == {}
