"""Who held a job's collectives up, by the flight recorder dumps of its ranks."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.jobs.collectives import analyse
from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.flight_recorder import Dump, Entry, Frame, State
from tests.core.jobs.dumping import BEGUN, Job, Operation, dump, entry
from tests.recording.cases import CASES, Case, dumps_in

RECORDED = Path(__file__).resolve().parents[2] / "evidence" / "flight_recorder"
LATE = 599 * 10**9

PROGRAM = st.lists(st.sampled_from(["default_pg", "tensor", "data"]), min_size=3, max_size=12).map(
    lambda families: [Operation(family) for family in families]
)
JOBS = st.builds(Job, st.integers(2, 3), st.integers(2, 3), PROGRAM, st.integers(0, 3))


def symptoms(events: list[Event]) -> list[Event]:
    """Return what is no context."""
    return [each for each in events if each.role is not Role.CONTEXT]


def first(*dumps: Dump, world: int = 4) -> Event:
    """Return what the dumps say first."""
    return analyse({each.rank: each for each in dumps}, world)[0]


@given(JOBS, st.data())
def test_a_rank_that_stops_is_named_and_nobody_else(job: Job, data: st.DataObject) -> None:
    """Whatever groups wait for it, and for those that wait for it, and however little each rank kept."""
    rank = data.draw(st.integers(0, job.world - 1))
    job.stopped[rank] = data.draw(st.integers(0, len(job.program) - 1))
    job.run()
    dumps = job.dumps(starts=data.draw(st.booleans()), kept=data.draw(st.sampled_from([5, 1000])))
    if silent := data.draw(st.booleans()):
        del dumps[rank]
    found = symptoms(analyse(dumps))
    assert {(each.rank, each.area, each.role) for each in found} == {(rank, Area.UNKNOWN, Role.SYMPTOM)}
    assert {each.code for each in found} <= {"job.rank_missing", "job.no_dump"}
    assert not silent or {each.code for each in found} == {"job.no_dump"}


@given(JOBS, st.data())
def test_programs_that_differ_are_the_cause(job: Job, data: st.DataObject) -> None:
    """One rank calls another operation, or gives another size: no hardware does that."""
    rank, line = data.draw(st.integers(0, job.world - 1)), data.draw(st.integers(0, len(job.program) - 1))
    usual = job.program[line]
    name = data.draw(st.booleans())
    job.other[rank, line] = usual._replace(name="nccl:broadcast") if name else usual._replace(size=77)
    job.run()
    found = symptoms(analyse(job.dumps(starts=data.draw(st.booleans()))))
    assert [(each.area, each.role) for each in found] == [(Area.SOFTWARE, Role.CAUSE)]
    assert found[0].code == ("job.collective_mismatch" if name else "job.size_mismatch")
    alone = len(job.groups[usual.family, rank][1]) > 2
    assert found[0].rank == (rank if alone else None)


@given(JOBS, st.data())
def test_an_operation_that_hangs_with_all_in_it_is_nobodys(job: Job, data: st.DataObject) -> None:
    """The first one is told, and whatever waits behind it only follows."""
    rank, line = data.draw(st.integers(0, job.world - 1)), data.draw(st.integers(0, len(job.program) - 1))
    name = job.groups[job.program[line].family, rank][0]
    job.broken.add((name, line))
    job.run()
    found = symptoms(analyse(job.dumps(starts=data.draw(st.booleans()))))
    assert [(each.code, each.area, each.rank) for each in found] == [("job.hang_inside", Area.UNKNOWN, None)]
    assert found[0].component.endswith(f"of group {name}")


@given(JOBS, st.booleans())
def test_a_job_that_ended_well_has_nothing_stuck(job: Job, starts: bool) -> None:
    """Each operation is done."""
    job.run()
    (found,) = analyse(job.dumps(starts=starts))
    assert (found.code, found.role) == ("job.nothing_stuck", Role.CONTEXT)


@given(JOBS, st.data())
def test_any_dumps_give_sentences_and_blame_no_hardware(job: Job, data: st.DataObject) -> None:
    """Records in any state, of any rank, with any left out."""
    job.run()
    states = st.sampled_from(State)
    dumps = {
        rank: replace(
            each,
            entries=tuple(
                replace(one, state=data.draw(states), created=data.draw(st.none() | st.integers(1, BEGUN)))
                for one in each.entries
                if data.draw(st.booleans())
            ),
        )
        for rank, each in job.dumps().items()
        if data.draw(st.booleans())
    }
    for found in analyse(dumps, job.world):
        assert found.area in {Area.UNKNOWN, Area.SOFTWARE}
        assert (found.area is Area.SOFTWARE) is (found.role is Role.CAUSE)
        assert found.message
        assert "{" not in found.message


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_went_wrong_in_a_recorded_job_is_found(case: Case) -> None:
    """Real dumps of PyTorch 2.14.1, gloo on processors."""
    found = analyse(dumps_in(RECORDED / case.name), case.ranks)
    assert (found[0].code, found[0].rank, found[0].area) == case.found
    assert {each.rank for each in symptoms(found)} <= {case.found[1]}


def test_every_case_was_recorded() -> None:
    """No folder is missing."""
    assert {case.name for case in CASES} == {path.name for path in RECORDED.iterdir() if path.is_dir()}


def test_a_sentence_says_who_where_and_what_next() -> None:
    """With the line of the program that the missing rank was last seen in."""
    here = Frame("step", "/srv/job/train.py", 88)
    done = [dump(rank, entry(1203), entry(1204, State.SCHEDULED)) for rank in (0, 1, 2)]
    found = first(*done, dump(3, entry(1203, frames=(here,))))
    assert found.message == (
        "rank 3 never joined all_reduce 1,204 of process group 0 (default_pg, ranks 0 to 3), in which ranks 0 to 2"
        " wait; its last there was all_reduce 1,203 (step, train.py:88); look at its stack and output, and at its"
        " node's kernel log, first"
    )
    assert found.line == "nccl:all_reduce 1204 [1024] scheduled"
    assert (found.at, found.component) == ((BEGUN + 1_204_000_000) / 1e9, "collective 1204 of group 0")
    assert found.source == "flight recorder dumps of 4 of 4 ranks"


def test_a_gpu_that_has_not_begun_what_others_have_is_named() -> None:
    """Seen where starts are recorded."""
    found = first(*(dump(rank, entry(1, State.STARTED)) for rank in (0, 1, 2)), dump(3, entry(1, State.SCHEDULED)))
    assert (found.code, found.rank) == ("job.rank_not_started", 3)


def test_a_rank_that_alone_has_not_ended_is_named() -> None:
    """The others have."""
    found = first(*(dump(rank, entry(1)) for rank in (0, 1, 2)), dump(3, entry(1, State.SCHEDULED)))
    assert (found.code, found.rank) == ("job.rank_unfinished", 3)


def test_many_missing_ranks_are_told_together() -> None:
    """Nine of twelve."""
    done = [dump(rank, entry(1, State.SCHEDULED), world=12) for rank in range(3)]
    (found,) = analyse({each.rank: each for each in [*done, *(dump(rank, world=12) for rank in range(3, 12))]})
    assert (found.code, found.rank) == ("job.rank_missing", None)
    assert found.message.startswith("ranks 3 to 11 never joined")


def test_a_missing_rank_and_one_without_a_dump_are_both_named() -> None:
    """Either may be why the others wait."""
    found = analyse({rank: dump(rank, *([entry(1, State.SCHEDULED)] if rank < 2 else [])) for rank in range(3)})
    assert [(each.code, each.rank) for each in found] == [("job.rank_missing", 2), ("job.no_dump", 3)]


def test_a_dump_that_lost_the_group_is_no_missing_rank() -> None:
    """Its buffer holds only newer records, of another group."""
    other = entry(9, group="7", description="tensor", record=5000)
    lost = dump(3, other, groups={"0": range(4), "7": (3,)})
    found = first(*(dump(rank, entry(1, State.SCHEDULED)) for rank in (0, 1, 2)), lost)
    assert (found.code, found.rank) == ("job.no_dump", 3)


def test_dumps_of_active_operations_alone_show_nobody_missing() -> None:
    """TORCH_INCLUDE_ONLY_ACTIVE leaves out what is done; a rank without records may have done all."""
    active = [dump(rank, entry(8, State.SCHEDULED)) for rank in (0, 1, 2)]
    found = first(*active, dump(3))
    assert (found.code, found.rank) == ("job.no_dump", 3)


def test_where_one_thing_hangs_behind_another_the_operation_is_told() -> None:
    """Rank 0 has asked for two groups' collectives at once; rank 2 waits in the one that all are in."""
    pair, whole = {"1": (0, 2), "0": range(3)}, {"0": range(3)}
    wait = entry(1, State.SCHEDULED, record=0)
    found = analyse(
        {
            0: dump(0, replace(wait, group="1"), replace(wait, record=1), groups=pair),
            1: dump(1, wait, groups=whole),
            2: dump(2, wait, groups=pair),
        }
    )
    assert [(each.code, each.component) for each in found] == [
        ("job.hang_inside", "collective 1 of group 0"),
        ("job.collective_follows", "collective 1 of group 1"),
    ]


def test_records_of_the_dispatcher_beside_the_backends_are_not_named() -> None:
    """Where both were recorded, an operation is one."""
    both = [entry(1, State.SCHEDULED, name="c10d:allreduce", retired=True), entry(1, State.SCHEDULED)]
    found = first(*(dump(rank, *both) for rank in range(3)), dump(3))
    assert found.message.startswith("rank 3 never joined all_reduce 1 of process group 0")


def test_a_group_that_was_made_anew_counts_anew() -> None:
    """The older numbers are of the group before."""
    again = [entry(500), entry(1), entry(2)]
    assert first(*(dump(rank, *again) for rank in range(4))).code == "job.nothing_stuck"


def test_operations_that_were_sent_off_together_are_told_by_their_common_record() -> None:
    """Theirs stay scheduled for ever (ProcessGroupNCCL)."""
    parts = [entry(1, State.SCHEDULED, record=0), entry(1, State.SCHEDULED, record=1)]
    both = entry(1, record=2, name="nccl:coalesced", inputs=(), input_types=())
    assert first(*(dump(rank, *parts, both) for rank in range(4))).code == "job.nothing_stuck"
    stuck = replace(both, state=State.STARTED)
    assert first(*(dump(rank, *parts, stuck) for rank in range(4))).code == "job.hang_inside"


def test_a_late_rank_is_told_by_its_clock_against_earlier_collectives() -> None:
    """A clock that is an hour off is not late."""

    def of(rank: int, off: int, late: int) -> Dump:
        times = [BEGUN + off, BEGUN + off + 10**6, BEGUN + off + 2 * 10**6 + late]
        done = [entry(1 + at, created=when, name="gloo:all_reduce") for at, when in enumerate(times)]
        return dump(rank, *done)

    hour = 3600 * 10**9
    assert first(of(0, 0, 0), of(1, 0, 0), of(2, hour, 0), of(3, 0, 0)).code == "job.nothing_stuck"
    found = first(of(0, 0, 0), of(1, 0, 0), of(2, hour, LATE), of(3, 0, 0))
    assert (found.code, found.rank) == ("job.rank_late", 2)
    assert "599.0 s after the others, whose timeout was 600.0 s" in found.message


def test_uneven_operations_may_have_any_sizes() -> None:
    """An all-to-all hangs, and its sizes are no reason."""
    found = first(
        *(dump(rank, entry(1, State.STARTED, name="nccl:all_to_all", inputs=((rank,),))) for rank in range(4))
    )
    assert found.code == "job.hang_inside"


def test_groups_that_no_dump_describes_are_made_of_who_used_them() -> None:
    """As gloo's dumps have it; the whole job's group is known by its description."""
    whole = [dump(rank, entry(1, State.SCHEDULED), groups={"": range(4)}) for rank in (0, 1, 2)]
    assert (first(*whole).code, first(*whole).rank) == ("job.no_dump", 3)
    pair = [dump(rank, entry(1, State.STARTED, group="7", description="pair"), groups={}) for rank in (0, 1)]
    assert "process group 7 (pair, ranks 0 to 1)" in first(*pair, world=0).message


def transfer(number: int, name: str, state: State = State.STARTED, size: int = 8) -> Entry:
    """Return a send or a receive."""
    return entry(0, state, p2p=number, name=f"nccl:{name}", is_p2p=True, inputs=((size,),), outputs=((size,),))


def test_a_transfer_without_its_partner_names_who_did_not_come() -> None:
    """In a pipeline: rank 1 waits for rank 0, and rank 2 for rank 1."""
    groups = {"0": range(3)}
    found = analyse(
        {
            0: dump(0, groups=groups),
            1: dump(1, transfer(1, "recv 1<-0"), groups=groups),
            2: dump(2, transfer(1, "recv 2<-1"), groups=groups),
        }
    )
    assert [(each.code, each.rank) for each in found] == [
        ("job.partner_missing", 0),
        ("job.collective_follows", None),
    ]
    assert found[0].message.startswith(
        "rank 0 has not asked for its part of a transfer from rank 0 to rank 1 in process group 0"
    )


def test_a_transfer_with_both_in_it_hangs_or_has_two_sizes() -> None:
    """Ranks of a group are numbered within it: 4 and 6 here."""
    groups = {"0": (4, 6)}
    both = dump(4, transfer(1, "send 0->1"), groups=groups), dump(6, transfer(1, "recv 1<-0"), groups=groups)
    assert first(*both, world=0).code == "job.hang_inside"
    assert first(both[0], dump(6, transfer(1, "recv 1<-0", size=9), groups=groups), world=0).code == (
        "job.size_mismatch"
    )
    assert (first(both[0], world=0).code, first(both[0], world=0).rank) == ("job.no_dump", 6)
    assert first(both[1], world=0).rank == 4


def test_transfers_that_cannot_be_placed_say_nothing() -> None:
    """A source that is not told, a number outside of the group, another's, one that is done."""
    odd = ["recv 0<-?", "send 0->9", "send 1->0", "send"]
    steps = [transfer(1 + at, name) for at, name in enumerate(odd)]
    done = [transfer(8, "send 0->1", State.COMPLETED), transfer(9, "coalesced")]
    assert first(dump(0, *steps, *done, world=2), dump(1, world=2)).code == "job.nothing_stuck"


def test_transfers_in_a_circle_are_the_programs_order() -> None:
    """Each sends first, and neither receives."""
    groups = {"0": (0, 1)}
    found = first(
        dump(0, transfer(1, "send 0->1"), groups=groups), dump(1, transfer(1, "send 1->0"), groups=groups), world=2
    )
    assert (found.code, found.area) == ("job.group_order", Area.SOFTWARE)


def test_a_rank_without_a_dump_for_whom_nobody_waits_is_context() -> None:
    """All others are done."""
    found = analyse({rank: dump(rank, entry(1)) for rank in range(3)})
    assert [(each.code, each.rank) for each in found] == [("job.nothing_stuck", None), ("job.dump_missing", 3)]
    two = analyse({rank: dump(rank, entry(1)) for rank in range(2)})
    assert (two[1].rank, two[1].message[:13]) == (None, "ranks 2 to 3 ")


def test_dumps_without_records_say_so_and_none_say_nothing() -> None:
    """The recorder was off."""
    assert first(*(dump(rank) for rank in range(4))).code == "job.nothing_recorded"
    assert analyse({}, 8) == []
