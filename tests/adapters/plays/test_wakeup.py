"""The bell of a state folder: rung by any process, heard by the one that serves, and never in the way."""

import subprocess
import sys
import time
from pathlib import Path
from threading import Timer

import pytest

from fleet_runner.adapters.plays.wakeup import NAME, hearing, ring
from fleet_runner.core.base.errors import SettingsError

LONG = 30.0


def waited(seconds: float, folder: Path, ringing: float | None = None) -> tuple[bool, float]:
    """Wait for the bell, which somebody rings after so many seconds; return what was heard, and when."""
    with hearing(folder) as bell:
        timer = Timer(ringing or 0.0, ring, (folder,))
        if ringing is not None:
            timer.start()
        began = time.monotonic()
        heard = bell.wait(seconds)
        timer.cancel()
        return heard, time.monotonic() - began


def test_a_ring_ends_the_wait_at_once(tmp_path: Path) -> None:
    heard, after = waited(LONG, tmp_path, ringing=0.05)
    assert heard
    assert after < LONG


def test_without_a_ring_the_wait_ends_in_time(tmp_path: Path) -> None:
    heard, after = waited(0.1, tmp_path)
    assert not heard
    assert after >= 0.1


def test_rings_before_the_wait_are_heard_as_one(tmp_path: Path) -> None:
    """However many come while it ticks, it looks once; more than the pipe holds stop nobody."""
    with hearing(tmp_path) as bell:
        assert all(ring(tmp_path) for _ in range(70_000))
        assert bell.wait(LONG)
        assert not bell.wait(0.0)


def test_another_process_rings_and_its_end_is_no_ring(tmp_path: Path) -> None:
    script = (
        "import sys, pathlib; from fleet_runner.adapters.plays.wakeup import ring; ring(pathlib.Path(sys.argv[1]))"
    )
    with hearing(tmp_path) as bell:
        subprocess.run([sys.executable, "-c", script, tmp_path], check=True)
        assert bell.wait(LONG)
        assert not bell.wait(0.0)


def test_its_own_process_is_rung_apart_from_others(tmp_path: Path) -> None:
    with hearing(tmp_path) as one, hearing(tmp_path) as other:
        one.ring()
        assert not other.wait(0.0)
        assert one.wait(0.0)


def test_where_nobody_hears_a_ring_is_no_trouble(tmp_path: Path) -> None:
    assert not ring(tmp_path)
    with hearing(tmp_path):
        pass
    assert not ring(tmp_path)


def test_a_bell_that_is_closed_can_still_be_rung(tmp_path: Path) -> None:
    """A signal may come while a process ends."""
    with hearing(tmp_path) as bell:
        pass
    bell.ring()


def test_what_is_no_pipe_is_said_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("mine", "utf-8")
    with pytest.raises(SettingsError, match="not a named pipe; remove it"), hearing(tmp_path):
        pass
    assert (tmp_path / NAME).read_text("utf-8") == "mine"
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(SettingsError, match="expected a state_dir on a disk"), hearing(tmp_path / "file" / "state"):
        pass
