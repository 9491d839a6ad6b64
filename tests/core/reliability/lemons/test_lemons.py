"""Lemons: what is counted of a node, how it is scored, and how right that was on the fleet's own past."""

from dataclasses import replace

import pytest

from fleet_runner.core.lifecycle.states import Event, State
from fleet_runner.core.reliability.forecasts import Kind
from fleet_runner.core.reliability.lemons import analyse as lemons
from fleet_runner.core.reliability.lemons.past import MARKS, moments, outcomes, prove
from fleet_runner.core.reliability.lemons.score import Line, Weighing, score
from fleet_runner.core.reliability.lemons.signals import Ended, Job, Jobs, NodeHistory, count
from fleet_runner.core.reliability.lemons.weights import SIGNALS
from fleet_runner.core.reliability.parts.failures import DAY
from fleet_runner.core.reliability.parts.stay import Episode, Stay
from fleet_runner.core.reliability.report.rows import Fix, Hold, PastRemedy, Span, Step
from fleet_runner.core.reliability.report.stories import Exclusion, Story

NOW = 1_000 * DAY
SPAN = Span(NOW - 28 * DAY, NOW)
BAD = "gpu-bad"


def gone(node: str, at: float, hours: float = 2.0, to: State = State.REBOOT, by: str = "runner") -> Exclusion:
    """Leave production for some hours."""
    event = Event.TRIAGE_NEEDED if to is State.TRIAGE else Event.REBOOT_NEEDED
    return Exclusion(Step(node, at, State.PRODUCTION, event, to, by), at, at + hours * 3_600)


def told(node: str, *exclusions: Exclusion, since: float = 0.0, until: float | None = None) -> Story:
    """A node that has served since a moment."""
    return Story(node, (), ((since, until),), exclusions)


def calm(many: int = 60) -> list[Story]:
    """Nodes of which nothing is to be said."""
    return [told(f"gpu-{number:03}") for number in range(many)]


def fault(code: str, at: float, node: str = BAD, number: int = 1) -> Episode:
    """A fault of a node."""
    return Episode(number, node, "GPU 1", code, "f", "xid", "", at, at)


def sour(at: float, node: str = BAD) -> NodeHistory:
    """A node that takes much of everybody's time within the 28 days before a moment."""
    outs = (gone(node, at - 20 * DAY), gone(node, at - 12 * DAY, 48, by="ada"), gone(node, at - 3 * DAY))
    return NodeHistory(
        stories=[told(node, *outs), *calm()],
        episodes=[fault("xid.79", at - 20 * DAY, node), fault("xid.48", at - 3 * DAY, node, 2)],
        fixes=[Fix(1, "t", "TRIAGE", (node, "gpu-001"), at - 12 * DAY, None)],
        ended=[Ended(PastRemedy(node, "REBOOT", at - 20 * DAY, helped=False), at - 19 * DAY)],
        holds=[Hold(node, at - 11 * DAY, "ada", "look", begins=True)],
    )


def test_every_signal_is_counted_within_its_span() -> None:
    jobs = Jobs(
        [Job(NOW - DAY, BAD, 64), Job(NOW - 2 * DAY, BAD, 1), Job(NOW - 40 * DAY, BAD, 1)],
        {"slurm-bad": [NOW - DAY] * 9, BAD: [NOW - DAY], "gpu-001": [NOW - DAY] * 10, "gpu-002": [NOW - DAY]},
        {"slurm-bad": [NOW - DAY, NOW - 40 * DAY, NOW - 2 * DAY], "gpu-001": [NOW - 40 * DAY]},
    )
    past = replace(sour(NOW), jobs=jobs.named({"slurm-bad": BAD}))
    more = replace(
        past,
        episodes=[
            *past.episodes,
            fault("psu.failed", NOW - DAY),
            fault("xid.43", NOW - DAY),
            fault("xid.79", NOW - DAY, "leaf-1"),
        ],
    )
    assert count(more, SPAN)[BAD] == {
        "out": 3.0, "hours_out": 52.0, "people": 2.0, "xids": 2.0, "faults": 1.0, "tickets": 1.0, "unhelped": 1.0,
        "jobs_of_many": 1.0, "jobs_of_one": 1.0, "rate_of_one": 10.0, "jobs_without": 2.0,
    }  # fmt: skip
    assert count(more, SPAN)["gpu-001"] == {"tickets": 1.0}


def test_what_comes_later_or_was_planned_or_is_the_runners_own_counts_for_nothing() -> None:
    step = Step("gpu-000", NOW - DAY, State.PRODUCTION, Event.FIRMWARE_NEEDED, State.FIRMWARE)
    past = NodeHistory(
        stories=[told(BAD, gone(BAD, NOW + DAY)), told("gpu-000", Exclusion(step, NOW - DAY, None))],
        episodes=[fault("xid.79", NOW + DAY)],
        fixes=[Fix(1, "t", "TRIAGE", (BAD,), NOW + DAY, None)],
        ended=[
            Ended(PastRemedy(BAD, "REBOOT", NOW - DAY, helped=False), NOW + DAY),
            Ended(PastRemedy(BAD, "REBOOT", NOW - DAY, helped=True), NOW - DAY),
        ],
        holds=[
            Hold(BAD, NOW - DAY, "runner", "", begins=True), Hold(BAD, NOW - DAY, "ada", "", begins=False),
            Hold(BAD, NOW + DAY, "ada", "", begins=True),
        ],
    )  # fmt: skip
    assert count(past, SPAN) == {BAD: {}, "gpu-000": {}}
    early = [Exclusion(step, NOW - 90 * DAY, NOW - 80 * DAY), gone("gpu-000", NOW - 2 * DAY)]
    assert (
        count(NodeHistory([told("gpu-000", *early)], [fault("xid.79", NOW - 90 * DAY)]), SPAN)["gpu-000"]["out"]
        == 1.0
    )
    assert count(NodeHistory([told("gpu-000", until=NOW - 60 * DAY), told("gpu-001", since=NOW)]), SPAN) == {}


def test_a_lemon_is_suggested_and_each_point_has_its_line() -> None:
    found = lemons.analyse(sour(NOW), NOW, Weighing(), "no scheduler is asked")
    (seen,) = found.foresights()
    assert (seen.kind, seen.node, seen.component) == (Kind.LEMON, BAD, "")
    assert seen.sentence.startswith(
        "17 points in 28 days (triage is suggested from 12): 3 times out of production (6)"
    )
    assert seen.sentence.endswith(": look at it in triage")
    body = found.to_json()
    assert [each["node"] for each in body["lemons"]] == [BAD, "gpu-001"]
    lines = [line["sentence"] for line in body["lemons"][0]["lines"]]
    assert lines[0] == "3 times out of production (usual: 0): 6 points"
    assert body["sentences"][0] == (
        "Triage is suggested for 1 of 61 nodes: 12 points or more in 28 days, and at most 2 % of the fleet."
    )
    assert body["sentences"][-1] == "Jobs are not among the signals: no scheduler is asked."
    absent = {row["name"] for row in body["absent"]}
    assert {row["name"] for row in body["signals"] if not row["known"]} == absent == {
        "jobs_of_many", "jobs_of_one", "rate_of_one", "jobs_without",
    }  # fmt: skip


def test_a_scheduler_that_keeps_no_command_lines_tells_all_but_one_signal_of_jobs() -> None:
    jobs = Jobs(unsaid="Slurm keeps none")
    body = lemons.analyse(replace(sour(NOW), jobs=jobs.named({"n": BAD})), NOW, Weighing()).to_json()
    meaning = SIGNALS["jobs_without"].meaning
    assert body["absent"] == [{"name": "jobs_without", "sentence": f"{meaning}: Slurm keeps none"}]
    assert body["sentences"][-1] == "Which nodes jobs leave out is not among the signals: Slurm keeps none."
    assert [row["name"] for row in body["signals"] if not row["known"]] == ["jobs_without"]
    whole = lemons.analyse(replace(sour(NOW), jobs=Jobs()), NOW, Weighing()).to_json()
    assert whole["absent"] == []
    assert not [each for each in whole["sentences"] if "not among the signals" in each]


def test_no_signal_alone_makes_a_lemon_and_what_all_do_makes_none() -> None:
    assert max(signal.most for signal in SIGNALS.values()) < Weighing().mark
    outs = tuple(gone(BAD, NOW - day * DAY, 30) for day in range(1, 25))
    (one, *_) = score(count(NodeHistory([told(BAD, *outs), *calm()]), SPAN), Weighing(), [BAD])
    assert (len(one.lines), one.suggested) == (2, False)
    assert ", the most it gives" not in one.lines[-1].sentence or one.lines[0].points == SIGNALS["out"].most
    everybody = [told(f"gpu-{number}", *(gone(f"gpu-{number}", NOW - DAY),) * 9) for number in range(9)]
    assert score(count(NodeHistory(everybody), SPAN), Weighing(), [each.node for each in everybody]) == ()


def test_weights_marks_and_the_share_of_the_fleet_are_ones_own() -> None:
    past = sour(NOW)
    assert lemons.analyse(past, NOW, Weighing(mark=30.0)).foresights() == ()
    assert lemons.analyse(past, NOW, Weighing({"out": 0.0, "people": 0.0})).foresights() == ()
    both = replace(
        past,
        stories=[*past.stories, replace(past.stories[0], node="gpu-worse")],
        episodes=[*past.episodes, *(replace(each, node="gpu-worse") for each in past.episodes)],
        fixes=[Fix(1, "t", "TRIAGE", (BAD, "gpu-worse"), NOW - 9 * DAY, None)] * 2,
    )
    assert [each.node for each in lemons.analyse(both, NOW, Weighing(mark=9.0)).foresights()] == [BAD]
    told_both = lemons.analyse(both, NOW, Weighing(mark=9.0, share=0.05)).foresights()
    assert {each.node for each in told_both} == {BAD, "gpu-worse"}


def test_only_who_serves_is_suggested() -> None:
    past = sour(NOW)
    out = replace(past.stories[0], served=((0.0, NOW - DAY),))
    found = lemons.analyse(replace(past, stories=[out, *past.stories[1:]]), NOW, Weighing())
    assert found.foresights() == ()
    assert found.scores[0].node == BAD


@pytest.mark.parametrize("how", ["case", "triage", "part"])
def test_the_past_proves_what_the_score_is_worth(how: str) -> None:
    """A node that was sour sixty days ago, and turned out bad within thirty days: once it is told rightly."""
    then = NOW - 60 * DAY
    past = sour(then)
    if how == "case":
        past = replace(past, cases={BAD: [then + 5 * DAY]})
    elif how == "triage":
        first = past.stories[0]
        left = gone(BAD, then + 5 * DAY, to=State.TRIAGE)
        past = replace(past, stories=[replace(first, exclusions=(*first.exclusions, left)), *past.stories[1:]])
    else:
        old = Stay(1, "gpu", "A", BAD, "GPU 1", "", 0.0, then)
        past = replace(past, stays=[old, replace(old, id=2, serial="B", first_at=then + 5 * DAY)])
    proof = prove(past, 0.0, NOW, Weighing())
    assert (proof.times, proof.bad, proof.suggested.flagged, proof.suggested.right) == (5, 1, 1, 1)
    assert [each.right for each in proof.marks] == [each.flagged and int(each.mark <= 17) for each in proof.marks]
    kept = proof.to_json()["suggested"]
    assert (kept["precision"], kept["recall"]) == (1.0, 1.0)
    assert kept["precision_low"] == pytest.approx(0.2065, abs=1e-4)  # Wilson's interval of one in one
    assert "1 node would have been suggested, and 1 of them had a part replaced" in proof.sentence


def test_nothing_that_came_after_a_moment_is_known_at_it() -> None:
    """The score as of sixty days ago stays what it is, whatever befell the node since."""
    then = NOW - 60 * DAY
    before = sour(then)
    after = replace(
        before,
        episodes=[
            *before.episodes,
            *(fault(f"xid.{number}", then + DAY, "gpu-001", number) for number in range(60, 80)),
        ],
        fixes=[*before.fixes, *(Fix(each, "t", "RMA", ("gpu-001",), then + DAY, None) for each in range(9))],
    )
    span = Span(then - 28 * DAY, then)
    assert count(before, span) == count(after, span)


def test_where_little_is_known_nothing_is_proved() -> None:
    assert list(moments(NOW - 57 * DAY, NOW)) == []
    assert list(moments(NOW - 58 * DAY, NOW)) == [NOW - 30 * DAY]
    nothing = lemons.analyse(NodeHistory(), NOW, Weighing())
    assert nothing.to_json()["sentences"] == ["Not enough data: no node served in the last 28 days."]
    assert nothing.proof.to_json()["base"] is None
    proof = prove(NodeHistory(calm()), NOW - 60 * DAY, NOW, Weighing())
    assert proof.sentence.startswith("Not enough data to say how right this was")
    case = NodeHistory(calm(), cases={"gpu-003": [NOW - DAY]})
    one = prove(case, NOW - 60 * DAY, NOW, Weighing())
    assert one.sentence == "Once in the past nothing would have been suggested; of 60 nodes 1 turned out bad."
    assert [each.mark for each in one.marks] == list(MARKS)
    known = lemons.analyse(case, NOW, Weighing(), since=NOW - 60 * DAY)
    assert (known.proof.times, known.proof.bad) == (1, 1)


def test_the_same_part_that_is_seen_again_was_not_replaced() -> None:
    old = Stay(1, "gpu", "A", BAD, "GPU 1", "", 0.0, NOW - 40 * DAY)
    again = replace(old, id=2, first_at=NOW - 20 * DAY, last_at=NOW)
    assert outcomes(NodeHistory(stays=[old, again]), SPAN) == set()
    first = replace(again, id=3, node="gpu-new")
    assert outcomes(NodeHistory(stays=[first, replace(first, id=4, serial="", first_at=NOW - DAY)]), SPAN) == set()


def test_who_scores_below_the_mark_but_left_before_is_not_counted_as_served() -> None:
    """A node that was sour and does not serve at the moment can be no suggestion then."""
    then = NOW - 30 * DAY
    past = sour(then)
    left = replace(past.stories[0], served=((0.0, then - DAY),))
    proof = prove(replace(past, stories=[left, *past.stories[1:]]), 0.0, NOW, Weighing())
    assert proof.suggested.flagged == 0


def test_one_of_a_signal_is_told_as_one() -> None:
    assert SIGNALS["people"].told(1.0) == "1 time taken out or held by a person"
    assert SIGNALS["people"].told(1.5) == "1.5 times taken out or held by a person"
    assert Line("tickets", 1.0, 0.0, 1.0).sentence == "1 ticket opened (usual: 0): 1 point"
