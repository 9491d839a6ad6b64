"""The figures of a span."""

from dataclasses import replace

import pytest

from fleet_runner.core.lifecycle.states import Event, State
from fleet_runner.core.reliability.report import picture, text
from fleet_runner.core.reliability.report.figures import Figures, Found, cause, figures
from fleet_runner.core.reliability.report.rows import Fault, Fix, Hold, PastRemedy, Span, Step, Unread
from fleet_runner.core.reliability.report.stories import BringUp, Exclusion, Story

SPAN = Span(1_000.0, 2_000.0)
OUT = Step("gpu-01", 1_200.0, State.PRODUCTION, Event.REBOOT_NEEDED, State.REBOOT, results=(7,))


def excluded(*, begins: float = 1_200.0, ends: float | None = 1_300.0, step: Step = OUT) -> Story:
    """A node that served, and was out once."""
    back = () if ends is None else ((ends, None),)
    return Story(step.node, served=((0.0, begins), *back), exclusions=(Exclusion(step, begins, ends),))


def test_nothing_gives_figures_that_say_so() -> None:
    """An empty week, or a store that is new."""
    found = figures(Found(), SPAN, 5_000.0)
    assert found == Figures(SPAN)
    assert found.availability is None
    assert text.summary(found, found) == (
        "No node served, or was taken out of service.",
        "No nodes came up into production; as many as in the week before.",
        "0 tickets opened and 0 closed, 0 stand open; no remedy was tried.",
    )
    assert {each.words for each in text.changes(found, found)} == {text.NOTHING, "as before"}
    assert text.middle(()) == text.most(()) == text.NOTHING
    assert text.stays(()) == picture.stack(()) == ()
    assert picture.strip([]) is None


def test_time_is_in_production_or_lost_to_a_cause() -> None:
    """A node that was out before the span, or is gone, counts for what lies in it."""
    found = Found(
        stories=[excluded(), Story("gpu-02", served=((1_500.0, None),)), Story("gpu-03", served=((0.0, 900.0),))]
    )
    found.codes[7] = "xid.79"
    told = figures(found, SPAN, 5_000.0)
    assert (told.nodes, told.left, told.production, told.lost_seconds) == (2, 1, 1_400.0, 100.0)
    assert told.availability == 1_400.0 / 1_500.0
    assert [(row.cause, row.seconds, row.nodes) for row in told.lost] == [("xid.79", 100.0, 1)]
    assert told.out == (("gpu-01", 100.0),)
    assert "most of it to xid.79 (0.0 h)" in text.summary(told, told)[0]


def test_what_took_a_node_out_is_named_as_well_as_it_is_known() -> None:
    """A finding, else an alarm that stood, else who asked."""
    (each,) = excluded().exclusions
    alarm = Fault("gpu-01", "xid.48", "…", 1_100.0, 1_250.0)
    assert cause(Found(codes={7: "xid.79"}, alarms={"gpu-01": [alarm]}), each) == "xid.79"
    assert cause(Found(alarms={"gpu-01": [alarm]}), each) == "xid.48"
    for other in (replace(alarm, at=1_201.0), replace(alarm, until=1_150.0)):
        assert cause(Found(alarms={"gpu-01": [other]}), each) == "a fault whose evidence is no longer kept"
    asked = replace(each, step=replace(OUT, results=(), by="alice"))
    assert cause(Found(alarms={"gpu-01": [alarm]}), asked) == "reboot asked for by a person"
    for event, expected in ((Event.WIPE, "wipe"), (Event.FIRMWARE_NEEDED, "firmware update")):
        assert cause(Found(), replace(asked, step=replace(asked.step, event=event))) == expected
    ours = replace(each, step=replace(OUT, results=()))
    assert cause(Found(), ours) == "a fault whose evidence is no longer kept"
    rollout = replace(each, step=replace(OUT, results=(), event=Event.FIRMWARE_NEEDED))
    assert cause(Found(), rollout) == "firmware update"


def test_faults_are_counted_once_a_node_and_answers_each() -> None:
    """The most frequent first."""
    faults = [Fault(f"gpu-0{at % 2}", "xid.79", f"f{at % 2}", 1_100.0 + at) for at in range(6)]
    found = Found(faults=[*faults, Fault("gpu-00", "ecc", "e", 1_100.0), Fault("gpu-00", "late", "e", 2_000.0)])
    found.unread = [Unread("gpu-00", "dcgm", 1_100.0 + at) for at in range(3)]
    told = figures(found, SPAN, 5_000.0)
    assert [(row.code, row.faults, row.nodes) for row in told.causes] == [("xid.79", 2, 2), ("ecc", 1, 1)]
    assert [(row.code, row.faults, row.nodes) for row in told.unread] == [("dcgm", 3, 1)]


def test_remedies_tickets_and_nodes_to_watch_have_their_reasons() -> None:
    """Points are what their lines add up to."""
    twice = excluded()
    again = Exclusion(replace(OUT, at=1_500.0), 1_500.0, None)
    found = Found(stories=[replace(twice, exclusions=(*twice.exclusions, again))])
    found.tried = [PastRemedy("gpu-01", "REBOOT", 1_200.0, helped) for helped in (True, False, None)]
    found.tried.append(PastRemedy("gpu-01", "RESET", 5_000.0, helped=True))
    found.fixes = [
        Fix(1, "old", "RMA", ("gpu-01",), 500.0, None),
        Fix(2, "new", "RMA", ("gpu-01", "leaf-0"), 1_500.0, 2_500.0),
        Fix(3, "done", "RMA", ("gpu-02",), 500.0, 1_600.0),
    ]
    told = figures(found, SPAN, 5_000.0)
    assert (told.opened, told.closed, [each.id for each in told.standing]) == (1, 1, [1, 2])
    assert [(row.remedy, row.helped, row.failed, row.unknown) for row in told.remedies] == [("REBOOT", 1, 1, 1)]
    first, *_ = told.watch
    assert (first.node, first.points, first.seconds) == ("gpu-01", 11, 600.0)
    assert first.because == (
        "left production 2 times: 6",
        "fell out again after it came back once: 2",
        "a ticket was opened once: 2",
        "a remedy did not help once: 1",
    )
    assert "remedies helped 1 of 3 times" in text.summary(told, told)[2]


def test_holds_are_paired_with_their_ends() -> None:
    """An end without a beginning is of a past that is no longer kept; a clock that was set back ends it at once."""
    holds = [
        Hold("gpu-01", 900.0, "bob", "", begins=False),
        Hold("gpu-01", 950.0, "alice", "fans", begins=True),
        Hold("gpu-02", 1_100.0, "alice", "psu", begins=True),
        Hold("gpu-01", 940.0, "alice", "", begins=False),
        Hold("gpu-01", 1_200.0, "bob", "again", begins=True),
        Hold("gpu-01", 1_300.0, "bob", "", begins=False),
    ]
    told = figures(Found(holds=holds), SPAN, 5_000.0)
    assert [(each.node, each.by, each.begins, each.ends) for each in told.kept] == [
        ("gpu-02", "alice", 1_100.0, None),
        ("gpu-01", "bob", 1_200.0, 1_300.0),
    ]


def test_changes_have_an_arrow_and_the_words_for_it() -> None:
    """A share that hardly differs is as before; a count is, when it is."""
    now, before = (Figures(SPAN, nodes=1, production=at, opened=many) for at, many in ((99.0, 3), (99.5, 3)))
    found = {each.label: (each.arrow, each.words) for each in text.changes(now, before)}
    assert found["Tickets opened"] == ("→", "as before")
    assert found["Availability"] == ("→", "as before")
    found = {each.label: each for each in text.changes(replace(now, opened=4, left=1), replace(before, left=2))}
    assert (found["Tickets opened"].arrow, found["Tickets opened"].words) == ("↑", "more")
    assert found["Times a node left production"].arrow == "↓"
    fewer = text.summary(now, replace(before, bring_ups=(BringUp("a", 1.0, 1.0, {}),)))[1]
    assert "1 fewer than in the week before" in fewer


def test_bring_ups_have_a_median_a_ninetieth_and_a_picture() -> None:
    """Of one alone nothing is said."""
    rows = tuple(
        BringUp(f"g{at}", 1.0, at * 3_600.0, {State.VERIFY: at * 900.0, State.BURN_IN: at * 2_700.0})
        for at in range(1, 11)
    )
    assert (text.middle(rows), text.most(rows), text.middle(rows[:1])) == ("5.5 h", "9 h", text.NOTHING)
    stays = text.stays(rows)
    assert [(each.state, each.share) for each in stays] == [(State.VERIFY, 0.25), (State.BURN_IN, 0.75)]
    assert [(part.x, part.width, part.label) for part in picture.stack(stays)] == [
        (0.0, 180.0, "25 %"),
        (180.0, 540.0, "75 %"),
    ]
    assert picture.stack([text.Stay(State.VERIFY, 1.0, 0.01)])[0].label == ""
    found = picture.strip([each.seconds for each in rows])
    assert found is not None
    assert len(found.dots) == 10
    assert found.box[0] <= found.middle <= found.box[1] <= picture.WIDTH
    assert [tick.label for tick in found.ticks] == ["0", "4 h", "8 h", "12 h"]
    many = picture.strip([1e9, *(float(at) for at in range(5_000))])
    assert many is not None
    assert len(many.dots) == picture.DOTS
    assert len(many.ticks) <= picture.TICKS + 2
    assert (picture.bar(0.0, 5.0), picture.bar(1e-6, 5.0), picture.bar(5.0, 5.0)) == (0.0, picture.LEAST, picture.BAR)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(-5.0, "0 s"), (90.0, "90 s"), (150.0, "2.5 min"), (7_200.0, "2 h"), (200_000.0, "2.3 d")],
)
def test_a_duration_is_said_as_people_say_it(seconds: float, expected: str) -> None:
    """In the unit that fits."""
    assert text.duration(seconds) == expected


def test_shares_hours_and_headings_are_as_exact_as_is_of_use() -> None:
    """A week has a number, other spans their ends."""
    assert (text.share(None), text.share(0.5), text.share(0.9987)) == (text.NOTHING, "50.0 %", "99.87 %")
    assert text.moment(1_794_182_400.0) == "2026-11-09 00:00"
    assert (text.hours(3_600.0), text.hours(3_600_000.0)) == ("1.0", "1,000")
    assert text.heading(Span(1_794_182_400.0, 1_794_787_200.0)) == "Week 46 of 2026"
    assert text.heading(Span(1_794_182_400.0, 1_794_186_000.0)) == "2026-11-09 00:00 to 2026-11-09 01:00 UTC"
    assert text.heading(Span(1_794_186_000.0, 1_794_790_800.0)).startswith("2026-11-09 01:00")
