"""Real kills at every place that matters, witnessed by the file that the play's own tasks write."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fleet_runner.adapters.plays import batch_folder, engine, processes
from fleet_runner.adapters.plays.engine import BatchState
from fleet_runner.core.lifecycle import states
from fleet_runner.core.lifecycle.states import Stage
from tests.adapters.plays.engine.conftest import B1, EITHER, WARM_AND_AT_NIGHT_COLD, Site

HANGING = "say in; (trap '' TERM; setsid sh -c 'trap \"\" TERM; while :; do sleep 0.1; done') & sleep 600; say late"
"""A task that hangs with a child in a session of its own that will not be asked to end."""


@EITHER
def test_a_play_goes_on_and_ends_once_when_its_launcher_is_killed(site: Site) -> None:
    """The runner is killed right after the launch; the next one finds the batch running and adopts it."""
    site.play("say one; until_ gate", "say two")
    runner = site.launch_elsewhere(site.batch(B1))
    assert runner.stdout is not None
    assert runner.stdout.readline() == "launched\n"
    os.kill(runner.pid, signal.SIGKILL)
    runner.wait()
    site.wait_for_witness("one")
    assert site.look(B1).state is BatchState.RUNNING
    engine.launch(site.settings, site.batch(B1))
    site.open_gate("gate")
    assert site.wait_for(B1, BatchState.ENDED).rc == 0
    assert site.witness() == ["one", "two"]


@EITHER
def test_a_killed_supervisor_leaves_an_orphan_then_a_lost_batch_and_nothing_is_repeated(site: Site) -> None:
    """While its task lives it is ORPHANED, then LOST; in both a launch starts nothing."""
    site.play("say in; until_ gate; say out", "say never")
    engine.launch(site.settings, site.batch(B1))
    site.wait_for_witness("in")
    os.kill(site.supervisor(B1), signal.SIGKILL)
    orphaned = site.wait_for(B1, BatchState.ORPHANED)
    assert "supervisor was killed" in orphaned.detail
    engine.launch(site.settings, site.batch(B1))
    assert site.look(B1).state is BatchState.ORPHANED
    site.open_gate("gate")
    assert site.wait_for(B1, BatchState.LOST).rc is None
    engine.launch(site.settings, site.batch(B1))
    assert site.look(B1).state is BatchState.LOST
    assert site.witness() == ["in", "out"]


@EITHER
def test_a_second_supervisor_for_a_batch_runs_nothing(site: Site) -> None:
    """Started by hand while the first lives, and again after it was killed."""
    site.play("say in; until_ gate")
    engine.launch(site.settings, site.batch(B1))
    site.wait_for_witness("in")
    command = [sys.executable, "-m", "fleet_runner.adapters.plays.supervisor", str(site.file(B1, ""))]
    second = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "another supervisor" in second.stdout
    os.kill(site.supervisor(B1), signal.SIGKILL)
    site.wait_for(B1, BatchState.ORPHANED)
    third = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "started before" in third.stdout
    assert site.look(B1).state is BatchState.ORPHANED
    assert site.witness() == ["in"]


@EITHER
def test_two_launches_at_once_start_a_batch_once(site: Site) -> None:
    """From two processes and from several threads of one."""
    site.play("say {{ inventory_hostname }}")
    batch = site.batch(B1, ("gpu-01", "gpu-02"))
    runners = [site.launch_elsewhere(batch) for _ in range(2)]
    threads = [threading.Thread(target=engine.launch, args=(site.settings, batch)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for runner in runners:
        assert runner.stdout is not None
        assert runner.stdout.readline() == "launched\n"
    assert site.wait_for(B1, BatchState.ENDED).rc == 0
    assert sorted(site.witness()) == ["gpu-01", "gpu-02"]


@WARM_AND_AT_NIGHT_COLD
def test_the_deadline_ends_a_hung_task_and_its_children(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The play hangs in a task with a child that ignores SIGTERM in a session of its own."""
    work = states.STAGES[Stage.VERIFY]
    monkeypatch.setitem(states.STAGES, Stage.VERIFY, work._replace(deadline=10.0))
    site.play(HANGING)
    engine.launch(site.settings, site.batch(B1))
    site.wait_for_witness("in")
    ended = site.wait_for(B1, BatchState.ENDED)
    assert (ended.rc, ended.detail) == (124, "It was ended at its stage's deadline.")
    assert [one.pid for one in processes.tagged(B1) if one.pid != site.supervisor(B1)] == []
    assert site.witness() == ["in"]


@WARM_AND_AT_NIGHT_COLD
def test_a_running_batch_is_stopped_by_its_supervisor(site: Site) -> None:
    site.play(HANGING)
    engine.launch(site.settings, site.batch(B1))
    site.wait_for_witness("in")
    engine.stop(site.settings, B1)
    ended = site.wait_for(B1, BatchState.ENDED)
    assert (ended.rc, ended.detail) == (143, "It was stopped on request.")
    assert site.witness() == ["in"]


@EITHER
def test_what_an_orphaned_batch_left_is_ended_on_request(site: Site) -> None:
    site.play(HANGING)
    engine.launch(site.settings, site.batch(B1))
    site.wait_for_witness("in")
    os.kill(site.supervisor(B1), signal.SIGKILL)
    site.wait_for(B1, BatchState.ORPHANED)
    engine.stop(site.settings, B1)
    assert site.look(B1).state is BatchState.LOST
    assert processes.tagged(B1) == ()


@EITHER
def test_a_killed_ansible_is_waited_out_and_is_no_exit_status_of_its_own(site: Site) -> None:
    """The out-of-memory killer took ansible-playbook; the task it was in ends before the batch does."""
    site.play("say in; until_ gate; say out")
    engine.launch(site.settings, site.batch(B1))
    site.wait_for_witness("in")
    supervisor = site.supervisor(B1)
    (ansible,) = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()
    os.kill(int(ansible), signal.SIGKILL)
    site.open_gate("gate")
    ended = site.wait_for(B1, BatchState.ENDED)
    assert (ended.rc, ended.detail) == (125, "ansible-playbook was killed.")
    assert site.witness() == ["in", "out"]


@pytest.mark.parametrize("told", ["", "[]", "{}", '{"pid": %d, "ticks": 1}'])
@EITHER
def test_nobody_is_killed_because_of_an_id_that_was_used_again(site: Site, told: str) -> None:
    """`started` names a process that is not the batch's supervisor, here a sleeper; stop leaves it alone."""
    site.play("say in; until_ gate")
    engine.launch(site.settings, site.batch(B1))
    site.wait_for_witness("in")
    with subprocess.Popen(["sleep", "600"], env={**os.environ, processes.TAG: B1}) as sleeper:
        try:
            started = site.file(B1, batch_folder.STARTED)
            right = started.read_text()
            started.write_text(told.replace("%d", str(sleeper.pid)))
            engine.stop(site.settings, B1)
            assert sleeper.poll() is None
            assert site.look(B1).state is BatchState.RUNNING
            started.write_text(right)
        finally:
            sleeper.kill()
