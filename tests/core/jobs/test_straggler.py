"""The rank that all others wait for, by what each works between collectives on its own clock."""

import random
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.jobs.flight_recorder import Dump, Entry, Group, State
from fleet_runner.core.jobs.straggler import FEWEST, find

STEP = 50_000_000
"""Nanoseconds that a rank works before each collective."""


POLL = 100_000_000
"""Nanoseconds between two looks of the watchdog at what an accelerator has done."""


def dumps(
    ranks: int, steps: int, slow: dict[int, float], seed: int = 1, name: str = "gloo:allreduce"
) -> dict[int, Dump]:
    """Return the dumps of a job whose clocks differ by seconds; `slow` says by how many times as long ranks work."""
    chance = random.Random(seed)
    ends = [0] * ranks
    found: dict[int, list[Entry]] = {rank: [] for rank in range(ranks)}
    for number in range(1, steps + 1):
        begun = [ends[rank] + int(STEP * chance.gauss(1, 0.02) * slow.get(rank, 1)) for rank in range(ranks)]
        over = max(begun) + 3_000_000
        for rank in range(ranks):
            apart = rank * 1_500_000_000
            found[rank].append(
                Entry("0", "default_pg", number, number, 0, number, name, is_p2p=False,
                      state=State.COMPLETED, created=begun[rank] + apart, completed=over + apart)
            )  # fmt: skip
        ends = [over] * ranks
    group = Group("0", "default_pg", tuple(range(ranks)))
    return {rank: Dump(rank, "2.10", "2.27", (group,), tuple(entries)) for rank, entries in found.items()}


@given(st.integers(4, 12), st.data(), st.floats(1.2, 5), st.integers(0, 1000))
def test_the_rank_that_works_longest_is_found(ranks: int, data: st.DataObject, times: float, seed: int) -> None:
    """Whichever it is, and however far the clocks are apart."""
    slow = data.draw(st.integers(0, ranks - 1))
    found = find(dumps(ranks, 40, {slow: times}, seed))
    assert found is not None
    assert found.rank == slow
    assert abs(found.own / found.others - times) < 0.2 * times


@given(st.integers(4, 12), st.integers(0, 1000))
def test_where_all_work_alike_nobody_is_named(ranks: int, seed: int) -> None:
    """One is always last by chance."""
    assert find(dumps(ranks, 40, {}, seed)) is None


def test_too_little_names_nobody() -> None:
    """Few ranks, few collectives, two slow ones by turns, no times, other groups."""
    assert find(dumps(3, 40, {1: 2})) is None
    assert find(dumps(4, FEWEST, {1: 2})) is None
    assert find({}) is None
    made = dumps(4, 40, {1: 2})
    assert find(made) is not None
    for without in (lambda entry: replace(entry, completed=None), lambda entry: replace(entry, created=None)):
        short = {rank: replace(each, entries=tuple(map(without, each.entries))) for rank, each in made.items()}
        assert find(short) is None
    part = {rank: replace(each, groups=(Group("0", "", (0, 1)),)) for rank, each in made.items()}
    assert find(part) is None
    tiny = {
        rank: replace(each, entries=tuple(
            replace(entry, created=(entry.created or 0) // 1000, completed=(entry.completed or 0) // 1000)
            for entry in each.entries
        ))
        for rank, each in made.items()
    }  # fmt: skip
    assert find(tiny) is None


def polled(made: dict[int, Dump], seed: int, *, timed: bool) -> dict[int, Dump]:
    """Return dumps of NCCL: each rank's watchdog sees ends at its next look; `timed`: the GPU measured durations."""
    found: dict[int, Dump] = {}
    for rank, dump in made.items():
        phase = random.Random(f"{seed} {rank}").randrange(POLL)
        entries = tuple(
            replace(
                each,
                completed=-((phase - (each.completed or 0)) // POLL) * POLL + phase,
                duration_ms=((each.completed or 0) - (each.created or 0)) / 1e6 if timed else None,
            )
            for each in dump.entries
        )
        found[rank] = replace(dump, entries=entries)
    return found


NCCL = "nccl:_all_gather_base"


@given(st.integers(4, 12), st.data(), st.floats(1.2, 5), st.integers(0, 1000))
def test_by_durations_the_rank_that_comes_last_is_found(
    ranks: int, data: st.DataObject, times: float, seed: int
) -> None:
    """Though the watchdog learns of ends by up to twice the time of a step too late."""
    slow = data.draw(st.integers(0, ranks - 1))
    found = find(polled(dumps(ranks, 60, {slow: times}, seed, NCCL), seed, timed=True))
    assert found is None or found.rank == slow
    assert found is not None or times < 2


@given(st.integers(4, 12), st.integers(0, 1000), st.booleans(), st.integers(1, 4))
def test_where_the_watchdog_looks_is_nobodys_fault(ranks: int, seed: int, timed: bool, steps: int) -> None:
    """Its looks may fall behind a step on one rank and before it on others, at each step."""
    made = dumps(ranks, 60, {}, seed, NCCL)
    locked = {
        rank: replace(dump, entries=tuple(
            replace(each, created=(each.created or 0) + each.collective * steps * POLL,
                    completed=(each.completed or 0) + each.collective * steps * POLL)
            for each in dump.entries))
        for rank, dump in made.items()
    }  # fmt: skip
    assert find(polled(locked, seed, timed=timed)) is None


def test_without_durations_only_much_work_shows_who_is_slow_under_nccl() -> None:
    """A tenth of a second is what the watchdog's looks blur."""
    assert find(polled(dumps(8, 60, {5: 2.0}, 1, NCCL), 1, timed=False)) is None
    found = find(polled(dumps(8, 60, {5: 9.0}, 1, NCCL), 1, timed=False))
    assert found is not None
    assert found.rank == 5


def test_a_broadcasts_root_is_not_the_slow_one_for_leaving_early() -> None:
    """Its duration says nothing about who came last; then ends and beginnings tell, or nothing does."""
    made = polled(dumps(8, 60, {5: 2.0}, 1, "nccl:broadcast"), 1, timed=True)
    assert find(made) is None
