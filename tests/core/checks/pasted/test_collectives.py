"""Who waited for whom, by what PyTorch's watchdog logs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.pasted.collectives import timeouts
from tests.core.checks.pasted.pasting import asking, evidence, read

WATCHDOG = evidence("nccl/watchdog.txt")


def waited(rank: int, number: int = 7, operation: str = "ALLREDUCE", size: int | None = 4096) -> str:
    """Return what one rank logs."""
    sizes = "" if size is None else f", NumelIn={size}, NumelOut={size}"
    return (
        f"[E ProcessGroupNCCL.cpp:458] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL("
        f"SeqNum={number}, OpType={operation}{sizes}, Timeout(ms)=1800000) ran for 1800441 milliseconds before"
    )


def of_group(rank: int, number: int, group: int) -> str:
    """Return the line that says of which process group it was."""
    return (
        f"[rank{rank}]:[E419 10:42:28.86 ProcessGroupNCCL.cpp:1785] [PG ID {group} PG GUID 9 Rank {rank}] Exception"
        f" (either an error or timeout) detected by watchdog at work: {number}, last enqueued NCCL work: 9"
    )


def told(*lines: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the notes, which are certain, and what is left open."""
    part = timeouts("\n".join(lines), "gpu-01")
    assert part.told == ()
    return part.notes, part.unsure


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 3), st.sampled_from(["ALLREDUCE", "ALLTOALL"]), st.integers(0, 2))
    ),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(0, 2))),
)
def test_no_timeout_ever_condemns_hardware(
    waits: list[tuple[int, int, str, int]], groups: list[tuple[int, int, int]]
) -> None:
    """Whoever waited where: it says who to look at, or that the program is to blame."""
    found = read("\n".join([*(waited(*each) for each in waits), *(of_group(*each) for each in groups), ""]))
    assert asking(found) == {}
    assert bool(found.unsure or found.notes) or not waits


def test_a_rank_that_told_nothing_is_looked_at_first() -> None:
    """It never joined what all others wait in."""
    (sentence,) = told(*WATCHDOG.splitlines())[1]
    assert sentence.startswith(
        "process group 0: rank 2 of 0 to 3 told of no timeout: never joined collective 4486 (ALLREDUCE)"
    )


def test_a_rank_that_is_behind_is_named() -> None:
    """The others wait in a later collective."""
    (sentence,) = told(*(waited(rank, 96120) for rank in range(7)), waited(7, 64088))[1]
    assert sentence.startswith("most ranks waited in collective 96120 (ALLREDUCE), and rank 7 in 64088 (ALLREDUCE)")


def test_ranks_whose_programs_went_different_ways_are_no_hardwares_fault() -> None:
    """Certain where the process group is told; else two groups may have the same numbers."""
    lines = [*(waited(rank) for rank in range(3)), waited(3, operation="ALLGATHER")]
    notes, unsure = told(*lines, *(of_group(rank, 7, 2) for rank in range(4)))
    assert unsure == ()
    assert notes[0].startswith(
        "process group 2: collective 7 differs between ranks: ALLGATHER on rank 3; ALLREDUCE on ranks 0 to 2; their"
    )
    notes, unsure = told(*lines)
    assert notes == ()
    assert unsure[0].endswith("unless these are two process groups")


def test_sizes_that_differ_are_the_programs_where_they_must_not() -> None:
    """An all-to-all may give each rank what it likes; older releases tell no sizes."""
    lines = [waited(0), waited(1, size=512), of_group(0, 7, 0), of_group(1, 7, 0)]
    assert "has different sizes: 4096 in, 4096 out on rank 0; 512 in, 512 out on rank 1" in told(*lines)[0][0]
    assert told(*(each.replace("ALLREDUCE", "ALLTOALL") for each in lines))[0] == ()
    assert told(waited(0, size=None), waited(1, size=None))[0] == ()


@pytest.mark.parametrize("ranks", [[0, 1, 2, 3], [5], [3, 700]])
def test_where_nobody_is_behind_it_says_what_would_tell(ranks: list[int]) -> None:
    """Also of an excerpt, which says nothing of the ranks that are not in it."""
    (sentence,) = told(*(waited(rank) for rank in ranks))[1]
    assert "waited 1800 s in collective 7 (ALLREDUCE), and nobody is behind in what was pasted" in sentence
    assert "flight recorder dumps" in sentence


def test_in_a_group_of_a_part_of_the_job_nobody_is_missing() -> None:
    """Its ranks have the numbers that they have in the job."""
    lines = [*(waited(rank) for rank in (0, 1, 3)), *(of_group(rank, 7, 4) for rank in (0, 1, 3))]
    (sentence,) = told(*lines)[1]
    assert sentence.startswith("process group 4: ranks 0 to 1, 3 waited 1800 s")


def test_a_rank_counts_once_and_a_line_that_cannot_be_read_is_told_of() -> None:
    """What follows from the first timeout of a rank says nothing more."""
    part = timeouts("\n".join([waited(0, 7), "[Rank 0] sees nobody", waited(0, 9), waited(1, 7)]), "gpu-01")
    assert part.name == "PyTorch's watchdog of 2 ranks"
    assert told("Watchdog caught collective operation timeout: Work")[1] == (
        "gpu-01: a collective timed out; the line that says in which cannot be read",
    )
    many = told(*(waited(rank) for rank in range(0, 40, 2)), *(waited(rank) for rank in range(41, 70)))[1]
    assert "ranks 1, 3, 5, 7, 9, 11, 13, 15 and 12 more of 0 to 69 told of no timeout" in many[0]
