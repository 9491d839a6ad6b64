"""The analysis as a whole: a small fleet, an empty one, and what is said where the data does not carry it."""

import json
from dataclasses import replace
from typing import Any

import numpy as np

from fleet_runner.core.lifecycle.states import Event, State
from fleet_runner.core.reliability.lifetimes import cohorts, serving
from fleet_runner.core.reliability.lifetimes.analyse import Given, analyse
from fleet_runner.core.reliability.lifetimes.burn_in import Visit, burn_ins
from fleet_runner.core.reliability.lifetimes.lives import DAY, Life
from fleet_runner.core.reliability.parts.stay import Episode, Stay
from fleet_runner.core.reliability.report.figures import Found
from fleet_runner.core.reliability.report.rows import Fault, Span, Step
from fleet_runner.core.reliability.report.stories import BringUp, Exclusion, Story

NOW = 1_790_000_000.0
YEAR = 365 * DAY
SPAN = Span(NOW - YEAR, NOW)


def story(
    name: str, *outs: tuple[float, float | None], up: float = 200.0, event: Event = Event.REBOOT_NEEDED
) -> Story:
    """A node that came up so many days ago, and was out from some days ago to others."""
    begins, served, gone = NOW - up * DAY, list[tuple[float, float | None]](), list[Exclusion]()
    at = begins
    for left, back in outs:
        step = Step(name, NOW - left * DAY, State.PRODUCTION, event, State.REBOOT)
        served.append((at, step.at))
        gone.append(Exclusion(step, step.at, None if back is None else NOW - back * DAY))
        at = NOW if back is None else NOW - back * DAY
    return Story(name, (BringUp(name, begins, DAY, {}),), (*served, (at, None)), tuple(gone))


def life(number: int, age: float, code: str, *, entry: float = 0.0, aged: bool = True) -> Life:
    """A GPU of one of two nodes."""
    return Life("gpu", f"S{number}", f"gpu-{number % 2}", entry, age, code, aged, NOW - 400 * DAY)


def test_an_empty_fleet_is_told_of_in_sentences() -> None:
    """Nothing is known, and every part says so."""
    found = analyse(Given((), (), (), Found(), (), NOW)).to_json()
    assert found["kinds"] == []
    assert found["sentences"] == [
        "Not enough data on service: no node was in production.",
        "Not enough data on interruptions: no node was in production.",
    ]
    assert found["burn_in"]["sentence"].startswith("Not enough data on burn-in: 0 nodes passed one")
    assert found["burn_in"]["early"]["sentence"].startswith("Not enough data on the first days")
    assert all(row["expected"] is None for row in found["jobs"]["rows"])
    json.dumps(found, allow_nan=False)


def test_a_fleet_is_told_of_as_a_whole() -> None:
    """Places, parts and stories come together, and all of it is JSON."""
    begun = NOW - 300 * DAY
    stays = [Stay(at, "gpu", f"S{at}", f"gpu-{at % 2}", f"GPU {at}", "", begun, NOW) for at in range(16)]
    bare = Stay(99, "psu", "", "gpu-1", "PSU 1", "", begun, NOW)
    fault = Episode(1, "gpu-1", "GPU 3", "xid.79", "…", "xid", "S3", NOW - 9 * DAY, NOW - 9 * DAY)
    outs = story("gpu-1", (9.0, 8.0), (5.0, 4.5))
    steady = story("gpu-0")
    found = analyse(
        Given([*stays, bare], [fault], (), Found([outs, steady]), (), NOW, {"gpu-0": begun, "gpu-1": begun},
              {"gpu-0": "a", "gpu-1": "b"})
    ).to_json()  # fmt: skip
    assert found["cut"] == "Left out, for their serial numbers are not known: power supplies."
    (kind,) = found["kinds"]
    assert (kind["parts"], kind["failures"], kind["age_unknown"]) == (16, 1, 0)
    assert kind["sentence"].startswith("GPUs: 1 of 16 failed in 13.1 years of service together, one in 13.1 years")
    assert kind["survival_sentence"].startswith("Not enough data for a survival curve of GPUs: 1 failed")
    assert kind["causes"] == [{"code": "xid.79", "why": "fell off the bus", "failures": 1}]
    assert found["service"]["gpus"] == 16
    assert found["service"]["lost_gpu_hours"] == 36 * 8
    assert found["jobs"]["interruptions"] == 2
    assert len(found["jobs"]["rows"]) == 15
    json.dumps(found, allow_nan=False)


def kind(lives: list[Life], types: dict[str, str] | None = None) -> dict[str, Any]:
    """What is told of one kind."""
    (found,) = cohorts.kinds(lives, types or {}, {})
    return found


def test_cohorts_that_differ_are_named_and_corrected_for_how_many_were_looked_at() -> None:
    """One device type fails early, the other does not."""
    lives = [life(at, 40.0 + at if at % 2 else 200.0, "xid.79" if at % 2 else "") for at in range(40)]
    lives += [life(at + 40, 220.0, "xid.79") for at in range(0, 6, 2)]
    by_type, by_model, by_month = kind(lives, {"gpu-0": "a", "gpu-1": "b"})["cohorts"]
    assert by_type["sentence"].startswith("By device type, GPUs differ by more than chance explains (log-rank p = ")
    assert [row["name"] for row in by_type["rows"]] == ["a", "b"]
    assert by_type["rows"][1]["failures"] == 20
    assert by_model["sentence"] == "Not enough data to compare GPUs by part model: none is known."
    assert "only one is known" in by_month["sentence"]


def test_many_cohorts_are_cut_and_two_comparisons_are_corrected() -> None:
    """Twelve are told apart, the smallest as one; months are another comparison."""
    lives = [replace(life(at, 50.0 + at, "xid.79" if at % 3 else ""), node=f"n{at % 14}",
                     new_at=NOW - (400 + 40 * (at % 2)) * DAY) for at in range(140)]  # fmt: skip
    found = kind(lives, {f"n{at}": f"type-{at:02}" for at in range(14)})
    by_type, _, by_month = found["cohorts"]
    assert len(by_type["rows"]) == 12
    assert by_type["rows"][-1]["name"] == "all others"
    assert by_type["rows"][-1]["parts"] == 30
    assert "corrected for 2 comparisons" in by_month["sentence"]
    assert "do not differ" in by_type["sentence"]
    assert len(found["curve"]["ages_days"]) <= cohorts.POINTS


def test_cohorts_without_failures_or_of_other_ages_are_told_so() -> None:
    """Where one has none there is no ratio; where no two are of one age, no test; few failures are too few."""
    types = {"gpu-0": "a", "gpu-1": "b"}
    one = [life(at, 50.0 + at, "xid.79" if at % 2 else "") for at in range(20)]
    row = kind(one, types)["cohorts"][0]["rows"][0]
    assert row["sentence"] == "a: 0 of 10 failed; not enough failures to say how often against the others."
    apart = [life(at, 10.0 if at % 2 else 90.0, "xid.79", entry=0.0 if at % 2 else 80.0) for at in range(20)]
    assert "no two were watched at one age" in kind(apart, types)["cohorts"][0]["sentence"]
    few = [life(at, 50.0, "xid.79" if at < 2 else "") for at in range(20)]
    assert kind(few, types)["cohorts"][0]["sentence"].endswith("2 failed, at least 5 are needed.")


def test_the_law_says_wear_infant_mortality_or_neither() -> None:
    """By the interval of its shape; and that there is none where all fail on one day."""
    random = np.random.default_rng(2)
    for shape, said in ((4.0, "They wear"), (0.4, "more often while they are young"), (1.0, "Neither wear nor")):
        lives = [life(at, float(100 * age), "xid.79") for at, age in enumerate(random.weibull(shape, 80))]
        law = kind(lives)["weibull"]
        assert said in law["sentence"]
        assert "A tenth has failed by the age of" in law["sentence"]
    hardly = [life(at, 10.0 + at, "xid.79") for at in range(12)] + [life(at, 99.0, "") for at in range(12, 999)]
    assert "A tenth" not in kind(hardly)["weibull"]["sentence"]
    found = kind([life(at, 10.0, "xid.79") for at in range(20)])
    assert "do not fit a Weibull distribution" in found["weibull"]["sentence"]


def test_the_share_that_lives_is_told_of_those_that_are_watched() -> None:
    """From the first day, from a later age, or of too few of one age; parts of unknown age are counted."""
    lives = [life(at, 100.0, "xid.79" if at < 6 else "") for at in range(30)]
    unknown = replace(life(99, 50.0, ""), aged=False)
    assert kind([*lives, unknown])["survival_sentence"] == (
        "80.0 % of GPUs (60.8 % to 90.5 %) live to the age of 100 d. 1 are left out: their age is not known."
    )
    older = [replace(each, entry=40.0) for each in lives]
    assert "of GPUs that reach 40 d" in kind(older)["survival_sentence"]
    alone = [life(at, 10.0 * at + 1, "xid.79", entry=10.0 * at) for at in range(12)]
    assert "10 of one age are needed" in kind(alone)["survival_sentence"]
    assert "less than one failure in" in kind([life(1, 500.0, "")])["sentence"]
    assert "none was watched for any time" in kind([life(1, 0.0, "")])["sentence"]


def test_a_shorter_burn_in_lets_through_what_the_rest_found() -> None:
    """Ten of 100 fail within six hours, five between 24 and 48."""
    visits = [Visit("n", 3.0, found=True)] * 10 + [Visit("n", 30.0, found=True)] * 5
    visits += [Visit("n", 48.0 + at / 1000, found=False) for at in range(85)]
    found = burn_ins(visits)
    assert (
        found["sentence"] == "100 burn-ins, 48 h long as a rule, 15 of which found a fault: half of these within 3 h."
    )
    rows = {row["hours"]: row for row in found["rows"]}
    assert set(rows) == {6.0, 12.0, 24.0, 36.0}
    assert round(rows[24.0]["missed_nodes"], 6) == 5.0
    assert rows[24.0]["missed_nodes_low"] < 5 < rows[24.0]["missed_nodes_high"]
    assert rows[24.0]["sentence"].startswith("24 h instead of 48 h would have let 5.6 % of nodes (")
    assert rows[36.0]["missed_share"] == 0.0
    assert "would have let none of 85 nodes into production" in rows[36.0]["sentence"]


def test_burn_ins_without_a_fault_or_with_few_left_say_so() -> None:
    """No fault at all; and a length after which hardly any are left to be watched."""
    clean = burn_ins([Visit("n", 24.0, found=False)] * 12)
    assert clean["sentence"] == "12 burn-ins, 24 h long as a rule, 0 of which found a fault."
    uneven = burn_ins([Visit("n", 5.0, found=False)] * 5 + [Visit("n", 48.0, found=False)] * 6)
    assert uneven["rows"] == []


def test_service_is_told_by_cause_and_with_what_is_planned_apart() -> None:
    """Two reboots by a fault, one update; an alarm that stood says what the fault was."""
    stories = [story("gpu-1", (40.0, 38.0), (20.0, 19.0)), story("gpu-2", (30.0, 29.9), event=Event.FIRMWARE_NEEDED),
               story("gpu-3"), Story("gone")]  # fmt: skip
    found = Found(stories, alarms={"gpu-1": [Fault("gpu-1", "xid.79", "…", NOW - 41 * DAY)]})
    body = serving.service(found, SPAN, {"gpu-1": 8, "gpu-2": 8}, NOW)
    assert (body["nodes"], body["gpus"], body["exclusions"]) == (3, 16, 3)
    assert body["sentence"].startswith("3 nodes were in production for 99.5 % of the time (")
    assert (body["causes"][0]["cause"], body["causes"][0]["gpu_hours"]) == ("xid.79", 576.0)
    assert body["causes"][1]["sentence"].endswith("too few to say how long each.")
    assert serving.interruptions(found, SPAN, NOW)["interruptions"] == 2


def test_service_that_nothing_ended_says_so() -> None:
    """None was taken out; or one was, and is not back."""
    calm = Found([story("gpu-1"), story("gpu-2")])
    assert serving.service(calm, SPAN, {}, NOW)["sentence"] == (
        "2 nodes were in production for 100.0 % of the time; none was taken out."
    )
    assert serving.interruptions(calm, SPAN, NOW)["sentence"].startswith("No node dropped out of production unasked")
    out = Found([story("gpu-1"), replace(story("gpu-2", (10.0, None)), served=((NOW - 200 * DAY, NOW - 10 * DAY),))])
    assert serving.service(out, SPAN, {}, NOW)["sentence"].endswith("not enough came back to say how long for.")


def test_of_a_few_hours_nothing_is_said_as_a_rate() -> None:
    """A node that is out within its first hours says nothing of a year."""
    found = Found([story("gpu-1", (0.5, 0.25), up=1.0)])
    told = serving.interruptions(found, SPAN, NOW)
    assert told["sentence"] == ("No rate of interruptions is given: not enough service observed yet (18 node-hours).")
    assert (told["interruptions"], told["rate_per_node_day"]) == (1, None)
    body = serving.service(found, SPAN, {}, NOW)
    assert body["sentence"].endswith("is not given: not enough service observed yet (18 node-hours).")
    assert body["mtbf_days"] is None
    few = kind([life(at, 2.0, "xid.79" if at else "") for at in range(2)])
    assert few["sentence"] == "GPUs: 1 of 2 failed; not enough service observed yet (96 part-hours)."
    assert few["mtbf_years"] is None
    often = kind([life(at, 40.0, "xid.79") for at in range(20)])
    assert "one in 40 d (95 % interval" in often["sentence"]


def test_the_first_days_are_held_against_the_later_ones() -> None:
    """Half of the nodes drop out in their first month; those without a bring-up on record tell nothing."""
    stories = [story(f"gpu-{at}", (190.0, 189.0), (50.0, 49.0)) if at % 2 else story(f"gpu-{at}") for at in range(40)]
    found = serving.early([*stories, Story("old", served=((0.0, None),)), story("new", up=-5.0)], SPAN, NOW)
    assert (found["early_interruptions"], found["later_interruptions"]) == (20, 20)
    assert found["ratio"] > 4
    assert found["sentence"].startswith("In the first 30 d of production nodes drop out 5.")
    calm = serving.early([story("a"), story("b", (50.0, 49.0))], SPAN, NOW)
    assert calm["sentence"] == ("Not enough data on the first 30 d of production: 0 exclusions then, and 1 later.")
