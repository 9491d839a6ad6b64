"""Real plays under leases: they are told of, ended with their lease, and never begun twice."""

import os
import signal
import time

import pytest
from sqlalchemy import text

from fleet_runner.adapters.plays import batch_folder, engine, leased_engine, processes
from fleet_runner.adapters.plays.engine import BatchState
from fleet_runner.adapters.plays.supervisor import FENCED_RC
from fleet_runner.adapters.store import Store
from fleet_runner.core.lifecycle.runs import Outcome
from tests.carrying.conftest import LEASE, Hall
from tests.waiting import until


@pytest.mark.nightly
def test_a_play_is_carried_told_of_and_cleaned_up_without_its_runner(hall: Hall) -> None:
    """Whoever took it does nothing more: its supervisor renews, brings what was said, and removes its folder."""
    mine = hall.settings("r1")
    hall.site.play("say one; until_ gate", "say two")
    (run,) = hall.offer(hall.batch)
    assert hall.look(hall.batch).state is BatchState.OFFERED
    assert hall.carry(mine, "r1") == [hall.batch]
    hall.site.wait_for_witness("one")
    time.sleep(LEASE * 1.2)
    assert hall.look(hall.batch).state is BatchState.RUNNING
    hall.site.open_gate("gate")
    until(lambda: hall.look(hall.batch).state is BatchState.ENDED)
    assert hall.look(hall.batch).rc == 0
    assert hall.site.witness() == ["one", "two"]
    told = hall.store.run(run.id)
    assert told is not None
    assert told.task
    until(lambda: not hall.folder(mine, hall.batch).exists())


def test_a_runner_that_takes_too_long_begins_nothing(hall: Hall) -> None:
    """What it was given is over by then, and its nodes are another's to decide about."""
    mine = hall.settings("r1")
    hall.site.play("say one")
    hall.offer(hall.batch)
    claimed = Store.claim_parcel
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Store, "claim_parcel", lambda store, batch, runner, _: claimed(store, batch, runner, 0.0))
        assert hall.carry(mine, "r1") == [hall.batch]
    until(lambda: not hall.folder(mine, hall.batch).exists())
    assert hall.look(hall.batch).state is BatchState.DROPPED
    assert not hall.site.witness()


def test_a_batch_whose_folder_cannot_be_written_is_over_at_once(hall: Hall) -> None:
    """The disk of one runner is full, or its folder is not its own: its nodes are decided again."""
    broken = hall.settings("r1")
    hall.offer(hall.batch)
    broken.state_dir.mkdir()
    broken.batches_dir.touch()
    assert hall.carry(broken, "r1") == [hall.batch]
    look = hall.look(hall.batch)
    assert (look.state, look.detail) == (BatchState.DROPPED, "a runner took it and did not begin it")
    assert jobs(hall) == ["failed"]


def test_a_supervisor_that_never_came_up_keeps_nothing(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its runner lives: after a while nobody may begin the batch any more."""
    mine = hall.settings("r1")
    hall.offer(hall.batch)
    monkeypatch.setattr(engine, "_spawn", lambda *_: os.getpid())
    hall.carry(mine, "r1")
    leased_engine.sweep(mine, hall.store)
    assert hall.look(hall.batch).state is BatchState.OFFERED
    assert hall.folder(mine, hall.batch).exists()
    hall.store.drop_parcel(hall.batch)  # so long it takes
    assert hall.look(hall.batch).state is BatchState.DROPPED
    leased_engine.sweep(mine, hall.store)
    assert not hall.folder(mine, hall.batch).exists()


def jobs(hall: Hall) -> list[str]:
    """Return how the engine's jobs stand."""
    with hall.store._database.read() as connection:
        return list(connection.execute(text("SELECT CAST(status AS text) FROM procrastinate_jobs")).scalars())


@pytest.mark.nightly
def test_a_killed_supervisors_play_ends_with_its_lease_and_its_runs_are_lost(hall: Hall) -> None:
    """Nobody asks it to: its warden does, in the middle of a task."""
    mine = hall.settings("r1")
    hall.site.play("say one; until_ gate", "say two")
    hall.offer(hall.batch)
    hall.carry(mine, "r1")
    hall.site.wait_for_witness("one")
    folder = hall.folder(mine, hall.batch)
    os.kill(hall.supervisor(folder), signal.SIGKILL)
    until(lambda: hall.look(hall.batch).state is BatchState.LOST)
    assert "r1 began it" in hall.look(hall.batch).detail
    until(lambda: not processes.tagged(folder.name))
    hall.site.open_gate("gate")
    time.sleep(1.0)
    assert hall.site.witness() == ["one"]


def test_a_runner_that_comes_back_gives_up_at_once_what_its_killed_supervisor_left(hall: Hall) -> None:
    """It need not wait for the lease: nothing of the batch is alive."""
    mine = hall.settings("r1", lease_seconds=3600.0)
    hall.site.play("say one; until_ gate")
    hall.offer(hall.batch)
    hall.carry(mine, "r1")
    hall.site.wait_for_witness("one")
    folder = hall.folder(mine, hall.batch)
    for one in (*processes.tagged(folder.name), *processes.tagged(folder.name)):
        processes.send(one, folder.name, signal.SIGKILL)
    # A process that was killed has no environment before it has no files: its lock may be held a moment longer.
    until(lambda: not processes.tagged(folder.name) and not batch_folder.locked(folder))
    leased_engine.sweep(mine, hall.store)
    assert hall.look(hall.batch).state is BatchState.LOST
    leased_engine.sweep(mine, hall.store)
    assert (folder / batch_folder.TOLD).exists()


@pytest.mark.nightly
def test_a_frozen_supervisors_play_is_ended_and_it_writes_nothing_when_it_wakes(hall: Hall) -> None:
    mine = hall.settings("r1")
    hall.site.play("say one; until_ gate", "say two")
    (run,) = hall.offer(hall.batch)
    hall.carry(mine, "r1")
    hall.site.wait_for_witness("one")
    folder = hall.folder(mine, hall.batch)
    supervisor = hall.supervisor(folder)
    os.kill(supervisor, signal.SIGSTOP)
    until(lambda: hall.look(hall.batch).state is BatchState.LOST)
    until(lambda: not [one for one in processes.tagged(folder.name) if "playbook" in one.command])
    hall.store.close_run(run, Outcome.LOST, "nobody saw its end", time.time())
    before = (
        hall.store.run(run.id),
        hall.store.history("gpu-01"),
        hall.store.offset(hall.batch),
        hall.parcel(hall.batch),
    )
    os.kill(supervisor, signal.SIGCONT)
    until((folder / batch_folder.TOLD).exists)
    after = (
        hall.store.run(run.id),
        hall.store.history("gpu-01"),
        hall.store.offset(hall.batch),
        hall.parcel(hall.batch),
    )
    assert before[:3] == after[:3]
    assert (before[3].rc, before[3].ended_at) == (after[3].rc, after[3].ended_at)
    assert hall.site.witness() == ["one"]


def test_a_database_that_is_away_for_a_moment_costs_nothing(hall: Hall) -> None:
    """Every connection is cut in the middle of a play, and nobody gets in for a while."""
    mine = hall.settings("r1", lease_seconds=40.0)
    hall.site.play("say one; until_ gate", "say two")
    hall.offer(hall.batch)
    hall.carry(mine, "r1")
    hall.site.wait_for_witness("one")
    hall.began(hall.batch)
    back = hall.without_server()
    hall.site.open_gate("gate")
    hall.site.wait_for_witness("two")
    time.sleep(2.0)
    back()
    until(lambda: hall.look(hall.batch).state is BatchState.ENDED)
    assert hall.look(hall.batch).rc == 0


@pytest.mark.nightly
def test_a_play_ends_by_itself_while_the_database_is_away_for_too_long_and_what_it_said_is_kept(hall: Hall) -> None:
    """It is ended before its lease is over; as nobody has closed its runs meanwhile, its end still counts."""
    mine = hall.settings("r1")
    hall.site.play("say one; until_ gate", "say two")
    hall.offer(hall.batch)
    hall.carry(mine, "r1")
    hall.site.wait_for_witness("one")
    hall.began(hall.batch)
    folder = hall.folder(mine, hall.batch)
    back = hall.without_server()
    until(lambda: batch_folder.read_rc(folder) is not None)
    assert not [one for one in processes.tagged(folder.name) if "playbook" in one.command]
    back()
    until(lambda: hall.engine.look(mine, hall.batch).state is BatchState.ENDED)
    look = hall.engine.look(mine, hall.batch)
    assert look.rc == FENCED_RC
    assert "was not renewed" in look.detail
    assert hall.site.witness() == ["one"]


def test_a_batch_that_is_stopped_ends_wherever_it_runs(hall: Hall) -> None:
    mine = hall.settings("r1")
    hall.site.play("say one; until_ gate", "say two")
    hall.offer(hall.batch)
    hall.carry(mine, "r1")
    hall.site.wait_for_witness("one")
    hall.engine.stop(mine, hall.batch)
    until(lambda: hall.look(hall.batch).state is BatchState.ENDED)
    assert hall.look(hall.batch).detail == "It was stopped on request."
    assert hall.site.witness() == ["one"]


def test_nodes_whose_runs_are_over_before_it_begins_are_left_out(hall: Hall) -> None:
    mine = hall.settings("r1")
    hall.site.play("say {{ inventory_hostname }}")
    one, _ = hall.offer(hall.batch, "gpu-01", "gpu-02")
    hall.store.close_run(one, Outcome.CANCELLED, "", time.time())
    hall.carry(mine, "r1")
    until(lambda: hall.look(hall.batch).state is BatchState.ENDED)
    assert hall.site.witness() == ["gpu-02"]
