"""A play in the foreground ends with whoever waits for it, and leaves nothing behind."""

import time
from pathlib import Path

import pytest

from fleet_runner.adapters.plays import foreground
from fleet_runner.core.lifecycle.spool import Progress
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.settings import Settings
from tests.playing import PROJECT, inventory


def test_a_play_ends_with_whoever_waits_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while a tool hangs."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\nexec sleep 20\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    nodes = inventory(tmp_path / "inventory.yml", {"gpu-01": {}}, fleet_environment=environment)
    settings = Settings(project_dir=PROJECT, inventory=nodes, state_dir=tmp_path)
    asked, begun = {"check_names": ["gpu_usage"]}, time.monotonic()
    told: list[object] = []
    waiting = foreground.started(settings, Stage.CHECK, ["gpu-01"], asked)
    play = waiting.__enter__()
    while not told:
        assert play.ended(0.05) is None, play.said()
        told += play.told()
    interrupt = KeyboardInterrupt()
    assert not waiting.__exit__(KeyboardInterrupt, interrupt, None)
    assert isinstance(told[0], Progress)
    assert play.ended(0.0) is not None
    assert not play._folder.exists()
    assert time.monotonic() - begun < 60
