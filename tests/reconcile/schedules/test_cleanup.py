"""Old folders of a runner's own disk, which the runner that prunes the store does not reach."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.schedules.firing import Outcome
from fleet_runner.reconcile.schedules.cleanup import NAME, LocalRetention
from fleet_runner.settings import Settings
from tests.waiting import PATIENCE

DAY = 86_400.0


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Folders are kept for 30 days, and retention is due at once."""
    return Settings(state_dir=tmp_path, retention_schedule="every 1s")


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    """A new store."""
    with Store.create(settings.store_url) as opened:
        yield opened


def left(settings: Settings, name: str, days: float) -> Path:
    """Make what a batch left so many days ago."""
    folder = settings.batches_dir / name
    folder.mkdir(parents=True)
    os.utime(folder, (time.time() - days * DAY,) * 2)
    return folder


def pruned_by(settings: Settings, store: Store, runner: str) -> None:
    """Have a runner do the store's part of retention."""
    store.ask_schedule(NAME)
    taken = store.take_schedule(settings.schedule(NAME), settings.source, runner, 60.0)
    assert taken is not None
    store.end_schedule(taken, Outcome.DONE, "nothing")


def followed(tidying: LocalRetention, store: Store) -> None:
    """Follow what the store says, to the end."""
    tidying.follow(store.schedules()[1][NAME])
    if tidying.thread is not None:
        tidying.thread.join(PATIENCE)


def test_after_another_runner_has_pruned_old_folders_here_go_once(settings: Settings, store: Store) -> None:
    """What is younger stays, and what became old meanwhile waits for the next time."""
    tidying = LocalRetention(settings, store, "here")
    old, young = left(settings, "old", 40), left(settings, "young", 20)
    pruned_by(settings, store, "there")
    followed(tidying, store)
    assert (old.exists(), young.exists()) == (False, True)
    later = left(settings, "later", 40)
    followed(tidying, store)
    assert later.exists()
    pruned_by(settings, store, "there")
    followed(tidying, store)
    assert not later.exists()


def test_who_has_pruned_itself_is_done(settings: Settings, store: Store) -> None:
    """Its own folders went with the store's part."""
    tidying, old = LocalRetention(settings, store, "here"), left(settings, "old", 40)
    pruned_by(settings, store, "here")
    followed(tidying, store)
    assert tidying.thread is None
    assert old.exists()


def test_what_still_runs_is_waited_for(settings: Settings, store: Store) -> None:
    """Folders go after the store's part, not beside it."""
    tidying, old = LocalRetention(settings, store, "here"), left(settings, "old", 40)
    store.ask_schedule(NAME)
    taken = store.take_schedule(settings.schedule(NAME), settings.source, "there", 60.0)
    assert taken is not None
    followed(tidying, store)
    assert old.exists()
    store.end_schedule(taken, Outcome.DONE, "nothing")
    followed(tidying, store)
    assert not old.exists()


def test_a_store_that_is_away_is_said_and_harms_nothing(
    settings: Settings, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folders stay until the next time."""
    tidying, old = LocalRetention(settings, store, "here"), left(settings, "old", 40)
    pruned_by(settings, store, "there")
    row = store.schedules()[1][NAME]
    (settings.state_dir / "fleet.db").rename(settings.state_dir / "elsewhere")
    (settings.state_dir / "fleet.db").mkdir()
    store.close()
    tidying.follow(row)
    assert tidying.thread is not None
    tidying.thread.join(PATIENCE)
    assert old.exists()
    assert "stay until the next retention" in capsys.readouterr().out
