"""Dumps of NCCL's ranks: read and judged alike as pickles and as JSON, of any release of the form."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.jobs import straggler
from fleet_runner.core.jobs.collectives import analyse
from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.flight_recorder import Dump, Group, State, read
from tests.core.jobs.nccl_dumps import record, transfer, written

Records = Sequence[dict[str, Any]]
FORMS = [pytest.param(*form, id=f"{form[0]} {'JSON' if form[1] else 'pickle'}")
         for form in product(("2.5", "2.10"), (False, True))]  # fmt: skip
DONE = [record(number) for number in range(1, 5)]


def dumps(ranks: Mapping[int, Records], release: str, *, as_json: bool) -> dict[int, Dump]:
    return {rank: read(written(records, release, as_json=as_json), rank) for rank, records in ranks.items()}


def told(ranks: Mapping[int, Records], release: str, *, as_json: bool) -> list[Event]:
    """Return what is no context."""
    return [each for each in analyse(dumps(ranks, release, as_json=as_json), 4) if each.role is not Role.CONTEXT]


@pytest.mark.parametrize(("release", "as_json"), FORMS)
def test_every_form_tells_the_same(release: str, as_json: bool) -> None:
    found = read(written([*DONE, record(5, state="started")], release, as_json=as_json), 3)
    assert found.groups == (Group("0", "default_pg", (0, 1, 2, 3)), Group("5", "mesh_pp", (1, 3)))
    assert found.library == ("" if release == "2.5" else "2.27.3")
    first, last = found.entries[0], found.entries[-1]
    assert (first.state, first.duration_ms, first.backend) == (State.COMPLETED, 12.345, "nccl")
    assert (last.state, last.started, last.completed) == (State.STARTED, 1_795_000_005_005_000_000, None)
    assert (last.retired, last.inputs, last.input_types) == (False, ((1024, 4096),), ("BFloat16",))
    assert [each.function for each in last.frames] == ([] if as_json else ["train_step"])
    assert read(written([], release, as_json=as_json), 3).entries == ()


@pytest.mark.parametrize(("release", "as_json"), FORMS)
def test_a_rank_that_never_joined_is_named(release: str, as_json: bool) -> None:
    """The others' collective timed out: it is retired, and not completed."""
    waiting = [*DONE, record(5, state="scheduled", retired=True)]
    (found,) = told({0: waiting, 1: waiting, 2: DONE, 3: waiting}, release, as_json=as_json)
    assert (found.code, found.rank, found.area) == ("job.rank_missing", 2, Area.UNKNOWN)


@pytest.mark.parametrize(("release", "as_json"), FORMS)
def test_a_gpu_that_did_not_begin_is_named(release: str, as_json: bool) -> None:
    """All asked for it; three GPUs are inside, one has not begun."""
    inside, behind = [*DONE, record(5, state="started")], [*DONE, record(5, state="scheduled")]
    (found,) = told({0: inside, 1: behind, 2: inside, 3: inside}, release, as_json=as_json)
    assert (found.code, found.rank) == ("job.rank_not_started", 1)


@pytest.mark.parametrize(("release", "as_json"), FORMS)
def test_sizes_that_differ_are_the_programs(release: str, as_json: bool) -> None:
    right = [*DONE, record(5, "nccl:_reduce_scatter_base", "started")]
    wrong = [*DONE, record(5, "nccl:_reduce_scatter_base", "started", input_sizes=[[1024, 4000]])]
    (found,) = told({0: right, 1: right, 2: right, 3: wrong}, release, as_json=as_json)
    assert (found.code, found.rank, found.area) == ("job.size_mismatch", 3, Area.SOFTWARE)


@pytest.mark.parametrize(("release", "as_json"), FORMS)
def test_a_receive_without_its_send_names_who_did_not_send(release: str, as_json: bool) -> None:
    """Ranks 1 and 3 of the job are 0 and 1 of the pipeline's group."""
    waiting = [*DONE, transfer(1, "nccl:recv 1<-0", "started")]
    (found,) = told({0: DONE, 1: DONE, 2: DONE, 3: waiting}, release, as_json=as_json)
    assert (found.code, found.rank) == ("job.partner_missing", 1)


@pytest.mark.parametrize(("release", "as_json"), FORMS)
def test_transfers_that_were_sent_off_together_are_judged_by_their_common_record(release: str, as_json: bool) -> None:
    """batch_isend_irecv: theirs stay scheduled for good, that of the batch is completed."""
    batch = [
        transfer(1, "nccl:send 0->1"), transfer(1, "nccl:recv 0<-1"),
        transfer(1, "nccl:coalesced", "completed", input_sizes=[], output_sizes=[]),
    ]  # fmt: skip
    other = [transfer(1, "nccl:send 1->0"), transfer(1, "nccl:recv 1<-0"), batch[-1]]
    assert told({0: DONE, 1: [*DONE, *batch], 2: DONE, 3: [*DONE, *other]}, release, as_json=as_json) == []


@pytest.mark.parametrize(("release", "as_json"), FORMS)
def test_who_came_last_is_told_by_what_the_gpus_measured(release: str, as_json: bool) -> None:
    """TORCH_NCCL_ENABLE_TIMING: the latest rank is inside for 2 ms, the others for 400."""
    slow = [record(number, duration_ms=2.0) for number in range(1, 40)]
    wait = [record(number, duration_ms=400.0) for number in range(1, 40)]
    found = straggler.find(dumps({0: wait, 1: wait, 2: slow, 3: wait}, release, as_json=as_json))
    assert found is not None
    assert (found.rank, found.last, round(found.own, 2), round(found.others, 2)) == (2, 38, 1.0, 0.6)


@pytest.mark.parametrize("value", [True, "1", -1.0, float("inf"), float("nan"), 1e12])
def test_a_duration_that_is_none_is_refused(value: object) -> None:
    with pytest.raises(EvidenceError, match="duration_ms: found"):
        read(written([record(1, duration_ms=value)], "2.10", as_json=False), 0)


def test_a_whole_number_of_milliseconds_is_a_duration() -> None:
    (found,) = read(written([record(1, duration_ms=2)], "2.10", as_json=True), 0).entries
    assert found == replace(found, duration_ms=2.0)
