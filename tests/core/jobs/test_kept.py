"""Answers as they are kept: what is counted of them, and which of them are about the same end."""

from fleet_runner.core.jobs.event import Area
from fleet_runner.core.jobs.kept import kept, key
from tests.core.jobs.made import ENDED, answer, fallen


def test_what_is_counted_is_that_of_the_job_and_of_the_event_it_began_with() -> None:
    found = kept(answer(fallen(blur=300.0)), 7.0, "ann")
    assert (found.scheduler, found.job, found.owner, found.tenant) == ("slurm", "4711", "ann", "acme")
    assert (found.area, found.code, found.component, found.node) == (Area.HARDWARE, "xid.79", "GPU 3", "gpu-01")
    assert (found.fault_at, found.blur, found.ended, found.gpus, found.node_count) == (
        ENDED - 600.0,
        300.0,
        ENDED,
        16,
        2,
    )
    assert (found.at, found.told_at, found.by, found.body["sentence"]) == (7.0, 7.0, "ann", "It is so.")


def test_of_an_end_that_nothing_is_known_of_nothing_is_said() -> None:
    found = kept(answer(), 7.0, "ann")
    assert (found.area, found.code, found.component, found.node) == (Area.UNKNOWN, "", "", "")
    assert (found.fault_at, found.blur, found.body["origin"]) == (None, 0.0, None)


def test_an_end_of_a_job_has_one_key_whatever_is_known_of_it() -> None:
    assert key(answer()) == key(answer(fallen(), state="FAILED", gpus=0))
    assert len({key(answer(ended=at)) for at in (None, ENDED, ENDED + 1)}) == 3
    assert key(answer()) != key(answer(scheduler="kubernetes"))


def test_work_without_a_number_is_known_by_its_nodes_and_times() -> None:
    mine = key(answer(id="", nodes=("gpu-02", "gpu-01")))
    assert mine == key(answer(id=""))
    assert mine != key(answer(id="", nodes=("gpu-01",)))
    assert mine != key(answer(id="", begun=1.0))
