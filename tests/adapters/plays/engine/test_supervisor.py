"""What a supervisor does when the disk or its surroundings are against it."""

import contextlib
import os
import socket
import time
from pathlib import Path

import pytest

from fleet_runner.adapters.plays import batch_folder, engine, supervisor
from fleet_runner.adapters.plays.engine import BatchState
from tests.adapters.plays.engine.conftest import B1, Site


def test_a_log_that_takes_nothing_does_not_end_the_play(site: Site) -> None:
    """A full disk is somebody's next job; the play's result is wanted all the same."""
    site.play("say one", "say two")
    site.file(B1, "").mkdir(parents=True)
    site.file(B1, batch_folder.LOG).symlink_to("/dev/full")
    engine.launch(site.settings, site.batch(B1))
    assert site.wait_for(B1, BatchState.ENDED).rc == 0
    assert site.witness() == ["one", "two"]


def test_a_log_drops_what_a_full_disk_does_not_take() -> None:
    file = open("/dev/full", "w")  # noqa: PTH123, SIM115 - closing it fails, as it must
    log = supervisor.Log(file)
    assert log.write("x" * 100_000) == 100_000
    log.flush()
    with contextlib.suppress(OSError):
        file.close()


def test_the_exit_status_is_written_as_soon_as_the_disk_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder is missing at first, which stands for a full disk; the first pause brings it."""
    path = tmp_path / "batch" / batch_folder.RC
    monkeypatch.setattr(time, "sleep", lambda _: path.parent.mkdir())
    supervisor._leave(path, "0\n")
    assert batch_folder.read_rc(path.parent) == (0, "")
    assert "cannot be written" in capsys.readouterr().out


def test_a_batch_that_is_stopped_before_it_runs_runs_nothing(site: Site) -> None:
    """The signal came while the supervisor was still loading ansible-runner."""
    site.play("say one")
    folder = site.file(B1, "")
    folder.mkdir(parents=True)
    engine._specify(folder, site.batch(B1))
    watch = supervisor.PlayLimits(B1, float("inf"), stopped=True)
    assert supervisor._carry(folder, watch).rc == supervisor.STOPPED_RC
    assert site.witness() == []


def test_a_batch_without_a_readable_spec_is_an_end_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    end = supervisor._carry(tmp_path, supervisor.PlayLimits(B1, float("inf")))
    assert end.rc == supervisor.BROKEN_RC
    assert batch_folder.SPEC in end.reason
    assert "Traceback" in capsys.readouterr().err


def test_a_supervisor_keeps_nothing_open_of_its_launcher(site: Site) -> None:
    """A port that the runner listened on would stay taken for as long as the play lasts."""
    site.play("say in; until_ gate")
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        os.set_inheritable(listening.fileno(), True)  # noqa: FBT003 - its only parameter
        ours = Path(f"/proc/self/fd/{listening.fileno()}").readlink()
        engine.launch(site.settings, site.batch(B1))
        site.wait_for_witness("in")
        theirs = [one.readlink() for one in Path(f"/proc/{site.supervisor(B1)}/fd").iterdir() if one.exists()]
    assert ours not in theirs
    site.open_gate("gate")
    site.wait_for(B1, BatchState.ENDED)


def test_a_supervisor_leads_a_session_of_its_own(site: Site) -> None:
    """Neither a closed terminal nor Ctrl-C in it reaches the play."""
    site.play("say in; until_ gate")
    engine.launch(site.settings, site.batch(B1))
    site.wait_for_witness("in")
    pid = site.supervisor(B1)
    assert os.getsid(pid) == pid
    assert Path(f"/proc/{pid}/fd/0").readlink() == Path(os.devnull)
    site.open_gate("gate")
    site.wait_for(B1, BatchState.ENDED)
