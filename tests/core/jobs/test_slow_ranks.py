"""Which node's ranks work longer, by the times that a job tells; nobody, where none does or it cannot be told."""

import random
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.jobs import slow_ranks
from fleet_runner.core.jobs.job import Job
from fleet_runner.core.jobs.rank_times import Extreme, Measure, Moment, RankTimes, Whose
from fleet_runner.core.jobs.slow_ranks import Compared, amount
from fleet_runner.core.jobs.time_lines import RTT, SCORED

FORWARD = Measure("forward-compute")
STEP = Measure("step time", is_step=True)
TOKENS = Measure("tps", "a second", is_step=True, is_low=True)
PER_NODE = 4
NOBODY = Job("", (), 0.0)


def compare(times: RankTimes, job: Job) -> Compared:
    """Return what comes of times that tell no moment."""
    return slow_ranks.compare(times, job, {})


def job(nodes: int) -> Job:
    names = tuple(f"gpu-{number:02}" for number in range(nodes))
    return Job("7", names, 0.0, ranks={rank: names[rank // PER_NODE] for rank in range(nodes * PER_NODE)})


def times(ranks: int, slow: Mapping[int, float], seed: int = 1, measure: Measure = FORWARD) -> RankTimes:
    """Return 20 times of each rank, of 0.7 s, that scatter by 2 %; `slow` says by how many times as much."""
    chance, found = random.Random(seed), RankTimes()
    for rank in range(ranks):
        for _ in range(20):
            found.add(measure, Whose(rank), 0.7 * slow.get(rank, 1) * chance.gauss(1, 0.02))
    return found


@given(st.integers(4, 9), st.data(), st.floats(1.3, 5), st.integers(0, 1000))
def test_the_node_of_the_slow_rank_is_found(nodes: int, data: st.DataObject, by: float, seed: int) -> None:
    """Whichever it is; the others of its node may wait for it, and be as slow."""
    rank = data.draw(st.integers(0, nodes * PER_NODE - 1))
    first = rank // PER_NODE * PER_NODE
    slow = dict.fromkeys(range(first, first + PER_NODE) if data.draw(st.booleans()) else (rank,), by)
    (found,) = compare(times(nodes * PER_NODE, slow, seed), job(nodes)).slow
    assert found.node == f"gpu-{rank // PER_NODE:02}"
    assert found.rank in slow
    assert abs(found.own / found.others - by) < 0.2 * by
    assert found.of == f" on the slowest ranks of {nodes - 1} other nodes"


@given(st.integers(4, 40), st.integers(0, 1000), st.sampled_from([job(10), NOBODY]))
def test_where_all_work_alike_nobody_is_named(ranks: int, seed: int, of: Job) -> None:
    assert compare(times(ranks, {}, seed), of) == Compared(("forward-compute",))


def test_without_nodes_a_rank_is_named() -> None:
    (found,) = compare(times(8, {5: 2.0}), NOBODY).slow
    assert found.place == "rank 5"
    assert found.sentence == "forward-compute 1.40 s beside 701 ms on 7 other ranks"


def test_a_nodes_name_is_the_jobs_own() -> None:
    """What says no rank is of a node."""
    found = RankTimes()
    for number in range(8):
        for _ in range(3):
            found.add(FORWARD, Whose(None, f"GPU-{number:02}.hall.example"), 9.0 if number in {2, 3} else 1.0)
    (slow,) = compare(found, job(8)).slow
    assert slow.place == "gpu-02"
    assert slow.sentence == "forward-compute 9.00 s beside 1.00 s on 6 other nodes, and 1 more node likewise"


def test_what_only_lasts_for_a_moment_holds_nobody_back() -> None:
    """It is slow in a little more than half of its steps."""
    found = times(8, {5: 2.0})
    values = found.series[FORWARD, Whose(5)]
    values.extend([0.7] * 18)
    assert compare(found, NOBODY) == Compared(("forward-compute",))


def test_a_difference_that_nobody_feels_names_nobody() -> None:
    """Of a step, where its time is told; else of ten milliseconds."""
    short = RankTimes()
    for rank in range(8):
        for _ in range(5):
            short.add(Measure("data_time"), Whose(rank), 0.050 if rank == 3 else 0.005)
    assert [each.place for each in compare(short, NOBODY).slow] == ["rank 3"]
    short.add(STEP, Whose(), 2.0)
    assert compare(short, NOBODY) == Compared(("data_time",))
    for values in short.series.values():
        values.extend([each / 100 for each in values] * 20)
    assert compare(short, NOBODY).slow == ()


def test_equal_times_of_steps_name_nobody_and_say_so() -> None:
    told = compare(times(8, {}, measure=STEP), NOBODY)
    assert (told.measures, told.slow) == ((), ())
    (why,) = told.unsure
    assert why.startswith("step time is about 70")
    assert "on all of 8 ranks: in synchronous training all wait for the slowest one, so this names nobody" in why
    assert compare(times(8, {}, measure=TOKENS), NOBODY) == Compared()


def test_ranks_that_do_not_wait_for_each_other_are_told_apart_by_their_steps() -> None:
    (found,) = compare(times(8, {2: 1.5}, measure=STEP), NOBODY).slow
    assert (found.rank, found.measure) == (2, STEP)
    (found,) = compare(times(8, {2: 0.5}, measure=TOKENS), NOBODY).slow
    assert found.sentence == "tps 0.35 a second beside 0.70 a second on 7 other ranks"
    both = times(8, {2: 1.5}, measure=STEP)
    both.series.update(times(8, {2: 1.2}).series)
    assert [each.measure for each in compare(both, NOBODY).slow] == [FORWARD, STEP], "own work first"


def test_too_little_names_nobody() -> None:
    """Three ranks; two values of each; times of nobody."""
    assert compare(times(3, {1: 2.0}), NOBODY) == Compared()
    found = RankTimes()
    for rank in range(8):
        found.add(FORWARD, Whose(rank), 9.0 if rank == 1 else 1.0)
    assert compare(found, NOBODY) == Compared()
    found = RankTimes()
    for _ in range(8):
        found.add(FORWARD, Whose(), 1.0)
    assert compare(found, NOBODY) == Compared()
    (slow,) = compare(times(12, {5: 2.0}), job(3)).slow
    assert slow.place == "rank 5 on gpu-01", "of three nodes ranks are compared"


def test_stages_of_a_pipeline_are_not_compared() -> None:
    """The last one has the loss, too."""
    found = times(8, {7: 2.0})
    found.add_extreme(RTT, Extreme(Whose(7), 2.0, 1.0))
    found.spreads[FORWARD] = (1.0, 2.0)
    found.has_stages = True
    told = compare(found, NOBODY)
    assert told == Compared(
        unsure=("ranks of other pipeline stages have other work, so times of their work are not compared",)
    )
    steps = times(8, {7: 2.0}, measure=STEP)
    steps.has_stages = True
    assert [each.rank for each in compare(steps, NOBODY).slow] == [7]


def reports(measure: Measure, *each: Extreme) -> RankTimes:
    found = RankTimes()
    for one in each:
        found.add_extreme(measure, one)
    return found


SLOW = Extreme(Whose(9), 1.9, 1.2, (1200.0, 9, 1980.0))
OTHER = Extreme(Whose(1), 1.3, 1.2, (1900.0, 1, 1980.0))


def test_reports_name_who_is_the_slowest_in_nearly_all() -> None:
    (found,) = compare(reports(RTT, *[SLOW] * 4, OTHER), job(3)).slow
    assert found.place == "rank 9 on gpu-02"
    assert found.sentence == (
        "Rtt (traced work of a step) 1.90 s beside 1.20 s on the fastest one, in 4 of 5 reports, its GPU at 1,200 MHz"
        " beside up to 1,980"
    )
    scored = Extreme(Whose(5, "gpu-01"), 1.6, 1.06)
    (found,) = compare(reports(SCORED, *[scored] * 3), NOBODY).slow
    assert found.sentence == (
        "GPU time by its NVRx score 1.60 times the fastest beside 1.06 times the fastest on the slowest one of the"
        " other nodes, in 3 of 3 reports"
    )


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ([SLOW] * 2, Compared()),
        (
            [SLOW, OTHER, SLOW],
            Compared(unsure=(f"{RTT.name}: now one rank is the slowest, now another, so it names nobody",)),
        ),
        ([Extreme(Whose(9), 1.3, 1.2)] * 9, Compared((RTT.name,))),
    ],
    ids=["few", "by turns", "little"],
)
def test_reports_may_name_nobody(told: list[Extreme], expected: Compared) -> None:
    """Where one is slow by turns they are not alike, either."""
    assert compare(reports(RTT, *told), NOBODY) == expected


def test_ranks_of_one_node_take_turns_and_a_clock_that_is_high_is_not_told() -> None:
    turns = [Extreme(Whose(rank), 1.9, 1.2, (1900.0, rank, 1980.0)) for rank in (8, 9, 9, 10)]
    (found,) = compare(reports(RTT, *turns), job(3)).slow
    assert (found.place, found.of) == ("rank 9 on gpu-02", " on the fastest one, in 4 of 4 reports")


def test_a_spread_says_that_it_does_not_say_whose() -> None:
    found = RankTimes(spreads={FORWARD: (0.1, 0.19)})
    (why,) = compare(found, NOBODY).unsure
    assert why.startswith(
        "forward-compute takes 100 ms to 190 ms, and the output does not say which rank is the slow"
    )
    assert compare(RankTimes(spreads={FORWARD: (0.1, 0.11)}), NOBODY) == Compared()


def test_amounts_are_short() -> None:
    clock = Measure("SM_CLOCK", "", is_low=True)
    assert [amount(each, FORWARD) for each in (2.0, 0.0351, 0.0004)] == ["2.00 s", "35.1 ms", "0.4 ms"]
    assert [amount(each, clock) for each in (1980.0, 1.234)] == ["1,980", "1.23"]


def hours(label: str, since: int = 60) -> RankTimes:
    """Return a time of each of 32 ranks a minute for two hours; from a minute on rank 9 takes twice as long."""
    chance, found = random.Random(1), RankTimes()
    for minute in range(120):
        for rank in range(32):
            slow = 2 if rank == 9 and minute >= since else 1
            value = 0.7 * slow * chance.gauss(1, 0.02)
            found.add(FORWARD, Whose(rank), value, Moment(60.0 * minute, label))
    return found


@pytest.mark.parametrize(
    ("label", "ahead", "since"),
    [
        ("", {}, "01:00 UTC"),
        ("job.out", {"job.out": -3600}, "02:00 UTC"),
        ("job.out", {"other": 0}, "01:00 by the output's clock"),
    ],
    ids=["its clock is UTC", "its clock is an hour behind", "its clock is not known"],
)
def test_since_when_a_rank_is_slow_is_told_by_a_clock(label: str, ahead: dict[str, int], since: str) -> None:
    """It was slow for half of the time; its newest values show that it still is."""
    (found,) = slow_ranks.compare(hours(label), job(8), ahead).slow
    told = f"forward-compute 1.39 s beside 703 ms on the slowest ranks of 7 other nodes, since 1970-01-01 {since}"
    assert found.sentence == told


def test_who_is_slow_now_is_named_only_where_it_is_clear_since_when() -> None:
    """For a few minutes it is not, nor where nobody tells a time."""
    without = hours("")
    without.histories.clear()
    assert slow_ranks.compare(without, job(8), {}).slow == ()
    assert slow_ranks.compare(hours("", since=118), job(8), {}).slow == ()
