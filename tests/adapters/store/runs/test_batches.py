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
from tests.waiting import PATIENCE

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
        taken.extend(each.offer.batch for each in shared.take_parcels(name, SECONDS))

    threads = [threading.Thread(target=ask, args=(names[at % 2],)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == ["b-1", "b-2"]


def test_what_was_taken_and_never_begun_is_anybodys_again_and_its_first_taker_begins_nothing(shared: Store) -> None:
    begins(shared, "r1", slots=1)
    begins(shared, "r2")
    (first,) = shared.take_parcels("r1", SECONDS)
    assert [each.offer.batch for each in shared.take_parcels("r2", SECONDS)] == ["b-2"]
    age(shared, SECONDS + 1)
    again = {each.offer.batch: each for each in shared.take_parcels("r2", SECONDS)}
    assert again["b-1"].token == first.token + 1
    assert shared.start_parcel("b-1", first.token, "late", SECONDS) == frozenset()
    assert shared.start_parcel("b-1", again["b-1"].token, "new", SECONDS) == {"gpu-01"}


def test_a_runner_that_lives_keeps_what_it_is_about_to_begin(shared: Store) -> None:
    """A busy computer takes longer than a lease to start a supervisor; what has begun is its supervisor's to keep."""
    begins(shared, "r1")
    begins(shared, "r2")
    one, other = shared.take_parcels("r1", SECONDS)
    shared.start_parcel(other.offer.batch, other.token, "c", SECONDS)
    age(shared, SECONDS - 1)
    shared.beat_runner("r1", SECONDS)
    age(shared, 2.0)
    assert shared.take_parcels("r2", SECONDS) == ()
    assert shared.start_parcel("b-1", one.token, "c", SECONDS)
    shared.lapse_parcels()
    assert shared.parcels(["b-2"])[0].ended_at is not None


def test_a_batch_begins_once_and_its_carrier_may_ask_again(shared: Store) -> None:
    """An answer that was lost on its way is asked for again; another supervisor of the same folder is refused."""
    begins(shared, "r1")
    token = shared.take_parcels("r1", SECONDS)[0].token
    assert shared.start_parcel("b-1", token, "mine", SECONDS) == {"gpu-01"}
    assert shared.start_parcel("b-1", token, "mine", SECONDS) == {"gpu-01"}
    assert shared.start_parcel("b-1", token, "other", SECONDS) == frozenset()


def test_what_was_begun_is_never_given_out_again(shared: Store) -> None:
    begins(shared, "r1")
    taken = shared.take_parcels("r1", SECONDS)
    for each in taken:
        assert shared.start_parcel(each.offer.batch, each.token, "c", SECONDS)
    age(shared, SECONDS + 1)
    assert shared.take_parcels("r1", SECONDS) == ()


def test_a_lease_that_is_over_is_never_renewed(shared: Store) -> None:
    """Its carrier was frozen: it writes nothing any more, and its runs are another's to decide about."""
    begins(shared, "r1")
    token = shared.take_parcels("r1", SECONDS)[0].token
    shared.start_parcel("b-1", token, "c", SECONDS)
    assert shared.renew_parcel("b-1", token, SECONDS) == ""
    age(shared, SECONDS + 1)
    assert shared.renew_parcel("b-1", token, SECONDS) is None
    shared.lapse_parcels()
    (found,) = shared.parcels(["b-1"])
    assert (found.rc, found.detail) == (None, "its runner was silent for longer than its lease")
    shared.close_run(run(shared, 1), Outcome.LOST, found.detail, 300.0)
    with pytest.raises(ConflictError, match="none of its runs is open"):
        shared.ingest("b-1", 0, 10, [judged()])
    assert not shared.finish_parcel("b-1", token, 0, "")
    assert shared.results(1) == ()


def test_a_batch_whose_runs_are_over_is_its_carriers_no_more(shared: Store) -> None:
    begins(shared, "r1")
    token = shared.take_parcels("r1", SECONDS)[0].token
    shared.start_parcel("b-1", token, "c", SECONDS)
    shared.close_run(run(shared, 1), Outcome.CANCELLED, "", 300.0)
    assert shared.renew_parcel("b-1", token, SECONDS) is None


def test_a_batch_whose_runs_were_closed_before_it_began_runs_nothing(shared: Store) -> None:
    begins(shared, "r1")
    token = shared.take_parcels("r1", SECONDS)[0].token
    shared.close_run(run(shared, 1), Outcome.CANCELLED, "", 300.0)
    assert shared.start_parcel("b-1", token, "c", SECONDS) == frozenset()
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
    given = shared.take_parcels("r1", SECONDS)[0]
    shared.offer(given.offer)
    assert shared.parcels(["b-1"])[0].token == given.token


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
    assert [each.offer.batch for each in shared.take_parcels("r1", SECONDS)] == expected


def test_what_nobody_reaches_holds_up_nothing_behind_it(shared: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """More waits than is looked at together, and only the last of it is within reach."""
    monkeypatch.setattr("fleet_runner.adapters.store.runs.batches.PAGE", 1)
    offered(shared, "gpu-03", "b-3", "hall-9")
    begins(shared, "r1", "hall-9")
    assert [each.offer.batch for each in shared.take_parcels("r1", SECONDS)] == ["b-3"]


def test_a_runner_takes_no_more_than_it_may_carry(shared: Store) -> None:
    begins(shared, "r1", slots=1)
    (first,) = shared.take_parcels("r1", SECONDS)
    assert shared.take_parcels("r1", SECONDS) == ()
    shared.start_parcel(first.offer.batch, first.token, "c", SECONDS)
    assert shared.take_parcels("r1", SECONDS) == ()
    assert shared.finish_parcel(first.offer.batch, first.token, 0, "")
    assert [each.offer.batch for each in shared.take_parcels("r1", SECONDS)] == ["b-2"]


def test_a_runner_that_ends_takes_nothing_and_lets_another_decide(shared: Store) -> None:
    begins(shared, "r1")
    begins(shared, "r2")
    assert shared.take_turn("r1", SECONDS)
    assert not shared.take_turn("r2", SECONDS)
    shared.end_runner("r1")
    assert shared.take_parcels("r1", SECONDS) == ()
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
    assert shared.take_parcels("r1", SECONDS) == ()
    assert shared.resume_queue()
    assert not shared.resume_queue()
    assert len(shared.take_parcels("r1", SECONDS)) == 2


def test_a_batch_that_is_stopped_before_it_began_never_begins(shared: Store) -> None:
    begins(shared, "r1")
    token = shared.take_parcels("r1", SECONDS)[0].token
    assert shared.stop_parcel("b-1", "ann stopped it")
    assert shared.start_parcel("b-1", token, "c", SECONDS) == frozenset()
    assert not shared.stop_parcel("b-1", "once more")


def test_a_carrier_learns_that_its_batch_is_to_end(shared: Store) -> None:
    begins(shared, "r1")
    token = shared.take_parcels("r1", SECONDS)[0].token
    shared.start_parcel("b-1", token, "c", SECONDS)
    assert shared.stop_parcel("b-1", "ann stopped it")
    assert shared.renew_parcel("b-1", token, SECONDS) == "ann stopped it"
    assert shared.finish_parcel("b-1", token, 143, "ann stopped it")
    shared.forget_parcel("b-1")
    assert shared.parcels(["b-1"]) == ()


def test_what_a_runner_gave_up_is_lost_at_once_or_free(shared: Store) -> None:
    begins(shared, "r1")
    one, other = shared.take_parcels("r1", SECONDS)
    shared.start_parcel("b-1", one.token, "c", SECONDS)
    shared.drop_parcel("b-1", one.token)
    shared.drop_parcel("b-2", other.token)
    shared.lapse_parcels()
    assert shared.parcels(["b-1"])[0].ended_at is not None
    assert [each.offer.batch for each in shared.take_parcels("r1", SECONDS)] == ["b-2"]


def test_who_runs_is_known_with_how_much_and_for_how_long_silent(shared: Store) -> None:
    begins(shared, "r1", "hall-1")
    shared.take_parcels("r1", SECONDS)
    age(shared, 12.0)
    (known,) = shared.runners()
    assert (known.used, known.places) == (1, ("hall-1",))
    assert 12.0 <= known.silent < 20.0
    shared.beat_runner("r1", SECONDS)
    assert shared.runners()[0].silent < 5.0


def test_what_is_rung_is_heard_once_the_transaction_is_through(shared: Store) -> None:
    ear = shared.ear()
    assert ear.wait(0.0) == {"deaf"}
    assert ear.wait(0.0) == frozenset()
    shared.ring()
    assert ear.wait(PATIENCE) == {"look"}
    offered(shared, "gpu-03", "b-3")
    assert ear.wait(PATIENCE) == {"parcel"}
    ear.close()


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
