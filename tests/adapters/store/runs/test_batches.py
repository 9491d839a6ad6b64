"""Batches between runners on PostgreSQL: each taken by one, begun once, kept no longer than its lease."""

import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy import Connection, text

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.results import results
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.inventory.placement import Offer, Runner
from fleet_runner.core.lifecycle.actions import OpenRun
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.spool import Evidence
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.core.schedules.retention import DAY
from tests.adapters.store.builders import UrlMaker, decision, device, judged, node, run, told
from tests.taking import fetch, take, worker

SECONDS = 30.0


@pytest.fixture
def shared(postgresql_urls: UrlMaker) -> Iterator[Store]:
    """A store that several runners share, with three nodes; two of its batches are offered."""
    with Store.open(postgresql_urls()) as store:
        store.register([device(f"gpu-0{number}") for number in (1, 2, 3)], 100.0)
        offered(store, "gpu-01", "b-1", "hall-1/A01")
        offered(store, "gpu-02", "b-2", "hall-2/B07")
        yield store


def offered(store: Store, name: str, batch: str, *places: str) -> Offer:
    """Open a run of a node and offer its batch."""
    (opened,) = store.apply(node(store, name), decision(OpenRun(Stage.VERIFY, "It is time.", batch=batch)), 200.0)
    given = Offer(batch, "verify", {name: {"run": opened.id, "fence": opened.fence}}, places)
    store.offer(given)
    return given


def begins(store: Store, name: str, *places: str, slots: int = 8) -> str:
    """Have a runner begin."""
    store.begin_runner(Runner(name, "host", "1", places, slots))
    return name


def age(store: Store, seconds: float) -> None:
    """Let so much time pass for leases, turns and beats, as the database's clock has it."""
    with store._database.write() as connection:
        connection.execute(text("UPDATE parcels SET until = until - :s WHERE until > 0"), {"s": seconds})
        connection.execute(text("UPDATE turns SET until = until - :s"), {"s": seconds})
        connection.execute(text("UPDATE runners SET beat_at = beat_at - :s"), {"s": seconds})


def test_a_batch_is_taken_by_one_of_many_that_ask_at_once(shared: Store) -> None:
    """Eight threads of two runners ask at the same time: each batch goes to one of them."""
    names = [begins(shared, "r1"), begins(shared, "r2")]
    taken: list[str] = []
    ready = threading.Barrier(8)

    def ask(name: str) -> None:
        ready.wait()
        taken.extend(each.batch for each in take(shared, name))

    threads = [threading.Thread(target=ask, args=(names[at % 2],)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == ["b-1", "b-2"]


def test_what_was_taken_and_never_begun_is_over_and_its_taker_begins_nothing_any_more(shared: Store) -> None:
    """It was killed, or its computer is too busy: the nodes are decided again, and whatever comes late is refused."""
    begins(shared, "r1")
    assert len(take(shared, "r1", SECONDS)) == 2
    shared.lapse_parcels()
    assert [each.runner for each in shared.parcels()] == ["r1", "r1"]
    age(shared, SECONDS + 1)
    assert shared.start_parcel("b-1", "late", SECONDS) == frozenset()
    shared.lapse_parcels()
    assert shared.parcels() == ()
    assert shared.parcels(["b-1"])[0].detail == "a runner took it and did not begin it"
    assert take(shared, "r1") == []


@pytest.mark.parametrize("ended", ["failed", "aborted"])
def test_a_batch_whose_job_ended_before_its_runner_took_it_is_over(shared: Store, ended: str) -> None:
    """Its worker was killed just after it was given the job; or somebody ended it in the engine's shell."""
    begins(shared, "r1", "hall-1")
    given = fetch(shared, "r1", worker(shared))
    assert given is not None
    shared.lapse_parcels()
    assert len(shared.parcels()) == 2
    with shared._database.write() as connection:
        over = text("SELECT procrastinate_finish_job_v1(:job, CAST(:ended AS procrastinate_job_status), false)")
        connection.execute(over, {"job": given[0], "ended": ended})
    shared.lapse_parcels()
    assert [each.batch for each in shared.parcels()] == ["b-2"]
    assert shared.claim_parcel("b-1", "r1", SECONDS) is None


def test_a_job_that_is_done_twice_begins_its_batch_once(shared: Store) -> None:
    """Somebody had the engine do it again."""
    assert shared.claim_parcel("b-1", "r1", SECONDS) is not None
    assert shared.claim_parcel("b-1", "r2", SECONDS) is None
    assert shared.claim_parcel("b-1", "r1", SECONDS) is None


def test_the_job_of_a_batch_that_is_over_is_removed(shared: Store) -> None:
    shared.stop_parcel("b-1", "ann stopped it")
    shared.lapse_parcels()
    with shared._database.read() as connection:
        left = connection.execute(text("SELECT args->>'batch' FROM procrastinate_jobs")).scalars().all()
    assert left == ["b-2"]


def test_a_batch_begins_once_and_its_carrier_may_ask_again(shared: Store) -> None:
    """An answer that was lost on its way is asked for again; another supervisor of the same folder is refused."""
    begins(shared, "r1")
    take(shared, "r1")
    assert shared.start_parcel("b-1", "mine", SECONDS) == {"gpu-01"}
    assert shared.start_parcel("b-1", "mine", SECONDS) == {"gpu-01"}
    assert shared.start_parcel("b-1", "other", SECONDS) == frozenset()


def test_what_was_begun_is_never_given_out_again(shared: Store) -> None:
    begins(shared, "r1")
    taken = take(shared, "r1")
    for each in taken:
        assert shared.start_parcel(each.batch, "c", SECONDS)
    age(shared, SECONDS + 1)
    assert take(shared, "r1") == []


def test_a_lease_that_is_over_is_never_renewed(shared: Store) -> None:
    """Its carrier was frozen: it writes nothing any more, and its runs are another's to decide about."""
    begins(shared, "r1")
    take(shared, "r1")
    shared.start_parcel("b-1", "c", SECONDS)
    assert shared.renew_parcel("b-1", SECONDS) == ""
    age(shared, SECONDS + 1)
    assert shared.renew_parcel("b-1", SECONDS) is None
    shared.lapse_parcels()
    (found,) = shared.parcels(["b-1"])
    assert (found.rc, found.detail) == (None, "its runner was silent for longer than its lease")
    shared.close_run(run(shared, 1), Outcome.LOST, found.detail, 300.0)
    with pytest.raises(ConflictError, match="none of its runs is open"):
        shared.ingest("b-1", 0, 10, [judged()])
    assert not shared.finish_parcel("b-1", 0, "")
    assert shared.results(1) == ()


def test_a_batch_whose_runs_are_over_is_its_carriers_no_more(shared: Store) -> None:
    begins(shared, "r1")
    take(shared, "r1")
    shared.start_parcel("b-1", "c", SECONDS)
    shared.close_run(run(shared, 1), Outcome.CANCELLED, "", 300.0)
    assert shared.renew_parcel("b-1", SECONDS) is None


def test_a_batch_whose_runs_were_closed_before_it_began_runs_nothing(shared: Store) -> None:
    begins(shared, "r1")
    take(shared, "r1")
    shared.close_run(run(shared, 1), Outcome.CANCELLED, "", 300.0)
    assert shared.start_parcel("b-1", "c", SECONDS) == frozenset()
    assert [each.batch for each in shared.parcels()] == ["b-2"]


def test_a_batch_is_not_offered_for_runs_that_are_over(shared: Store) -> None:
    """Whoever decided it was frozen meanwhile, and somebody else has cleaned up."""
    (opened,) = shared.apply(
        node(shared, "gpu-03"), decision(OpenRun(Stage.VERIFY, "It is time.", batch="b-3")), 200.0
    )
    shared.close_run(opened, Outcome.CANCELLED, "", 300.0)
    with pytest.raises(ConflictError, match="its run of gpu-03 is over"):
        shared.offer(Offer("b-3", "verify", {"gpu-03": {}}))


def test_a_batch_that_is_offered_again_stays_as_it_was(shared: Store) -> None:
    begins(shared, "r1")
    given = take(shared, "r1")[0]
    shared.offer(given)
    assert shared.parcels(["b-1"])[0].runner == "r1"
    assert take(shared, "r1") == []


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ((), ["b-1", "b-2"]),
        (("hall-1",), ["b-1"]),
        (("hall-2/B0*",), ["b-2"]),
        (("hall-*",), ["b-1", "b-2"]),
        (("hall-3", "hall-1/A02"), []),
    ],
)
def test_a_runner_takes_what_it_reaches(shared: Store, places: tuple[str, ...], expected: list[str]) -> None:
    begins(shared, "r1", *places)
    assert [each.batch for each in take(shared, "r1")] == expected


def test_a_batch_of_many_racks_is_taken_as_any_other(shared: Store) -> None:
    begins(shared, "r1", "hall-9")
    offered(shared, "gpu-03", "b-3", *(f"hall-9/r{rack:02}" for rack in range(20)))
    assert [each.batch for each in take(shared, "r1")] == ["b-3"]


def test_a_runner_takes_no_more_than_it_may_carry(shared: Store) -> None:
    begins(shared, "r1", slots=1)
    (first,) = take(shared, "r1")
    assert take(shared, "r1") == []
    shared.start_parcel(first.batch, "c", SECONDS)
    assert take(shared, "r1") == []
    assert shared.finish_parcel(first.batch, 0, "")
    assert [each.batch for each in take(shared, "r1")] == ["b-2"]


def test_a_runner_that_ends_takes_nothing_and_lets_another_decide(shared: Store) -> None:
    begins(shared, "r1")
    begins(shared, "r2")
    assert shared.take_turn("r1", SECONDS)
    assert not shared.take_turn("r2", SECONDS)
    shared.end_runner("r1")
    assert take(shared, "r1") == []
    assert shared.take_turn("r2", SECONDS)
    assert shared.deciding() == "r2"


def test_whose_turn_it_is_changes_when_it_is_not_kept(shared: Store) -> None:
    assert shared.take_turn("r1", SECONDS)
    age(shared, SECONDS - 1)
    assert not shared.take_turn("r2", SECONDS)
    assert shared.take_turn("r1", SECONDS)
    age(shared, SECONDS + 1)
    assert shared.deciding() == ""
    assert shared.take_turn("r2", SECONDS)
    assert not shared.take_turn("r1", SECONDS)


def test_nothing_is_taken_while_the_queue_is_paused(shared: Store) -> None:
    begins(shared, "r1")
    shared.pause_queue("ann", "a switch is replaced")
    paused = shared.queue_paused()
    assert paused is not None
    assert (paused.by, paused.reason) == ("ann", "a switch is replaced")
    assert take(shared, "r1") == []
    assert shared.resume_queue()
    assert not shared.resume_queue()
    assert len(take(shared, "r1")) == 2


def test_a_batch_that_is_stopped_before_it_began_never_begins(shared: Store) -> None:
    begins(shared, "r1")
    take(shared, "r1")
    assert shared.stop_parcel("b-1", "ann stopped it")
    assert shared.start_parcel("b-1", "c", SECONDS) == frozenset()
    assert not shared.stop_parcel("b-1", "once more")


def test_a_carrier_learns_that_its_batch_is_to_end(shared: Store) -> None:
    begins(shared, "r1")
    take(shared, "r1")
    shared.start_parcel("b-1", "c", SECONDS)
    assert shared.stop_parcel("b-1", "ann stopped it")
    assert shared.renew_parcel("b-1", SECONDS) == "ann stopped it"
    assert shared.finish_parcel("b-1", 143, "ann stopped it")
    shared.forget_parcel("b-1")
    assert shared.parcels(["b-1"]) == ()


def test_what_a_runner_gave_up_is_lost_at_once_or_never_begins(shared: Store) -> None:
    begins(shared, "r1")
    take(shared, "r1")
    shared.start_parcel("b-1", "c", SECONDS)
    shared.drop_parcel("b-1")
    shared.drop_parcel("b-2")
    shared.lapse_parcels()
    found = {each.batch: each for each in shared.parcels(["b-1", "b-2"])}
    assert found["b-1"].ended_at is not None
    assert found["b-1"].started_at is not None
    assert found["b-2"].started_at is None
    assert shared.parcels() == ()


def test_who_runs_is_known_with_how_much_and_for_how_long_silent(shared: Store) -> None:
    begins(shared, "r1", "hall-1")
    take(shared, "r1")
    age(shared, 12.0)
    (known,) = shared.runners()
    assert (known.used, known.places) == (1, ("hall-1",))
    assert 12.0 <= known.silent < 20.0
    shared.beat_runner("r1")
    assert shared.runners()[0].silent < 5.0


def test_a_ring_waits_for_who_decides_and_is_one_however_often_somebody_rings(shared: Store) -> None:
    assert not shared.is_rung()
    threads = [threading.Thread(target=shared.ring) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shared.is_rung()
    with shared._database.read() as connection:
        rung = "SELECT count(*) FROM procrastinate_jobs WHERE task_name = 'fleet:look'"
        assert connection.execute(text(rung)).scalar_one() == 1


@pytest.mark.parametrize("again", [False, True])
def test_batches_that_share_evidence_never_wait_for_each_other(shared: Store, *, again: bool) -> None:
    """Each play tells it in an order of its own; one batch is in the middle of writing it while the other comes."""
    first, second = sorted((told("one", "gpu-01"), told("two", "gpu-01")), key=lambda line: line.hash)
    if again:
        shared.ingest("b-2", 0, 10, [replace(line, node="gpu-02") for line in (first, second)])
    late, stretch = 200.0 + 2 * DAY, shared.offset("b-1")
    lines = [replace(line, at=late) for line in (second, first)]
    ingest = threading.Thread(target=shared.ingest, args=("b-1", stretch, stretch + 10, lines))
    with shared._database.write() as connection:
        write(connection, first)
        ingest.start()
        waits = text(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )
        while True:
            with shared._database.read() as other:
                if other.execute(waits).scalar():
                    break
            time.sleep(0.02)
        write(connection, second)
    ingest.join()
    assert shared.offset("b-1") == stretch + 10


def write(connection: Connection, line: Evidence) -> None:
    """Write one piece of evidence, as a batch does that has it from another day."""
    packed = results.pack([line])
    if results.known_evidence(connection, [line.hash]):
        connection.execute(text("UPDATE evidence SET at = at + 1 WHERE hash = :hash"), {"hash": line.hash})
    else:
        results.add_evidence(connection, packed)
