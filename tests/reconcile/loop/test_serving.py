"""What a process that serves has in hand before its first tick."""

from collections.abc import Callable, Iterator, Mapping
from threading import Event

import pytest

from fleet_runner import reconcile
from fleet_runner.adapters.plays.wakeup import hearing
from fleet_runner.core.checks.catalogue import CHECKS, NAMES
from fleet_runner.core.checks.check import Check
from fleet_runner.reconcile.loop.context import World


class Counted(Mapping[str, Check]):
    """The checks, and which of them were asked for."""

    def __init__(self) -> None:
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> Check:
        self.asked.add(name)
        return CHECKS[name]

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


def test_it_imports_every_check_before_it_looks(
    make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installation that is updated in its place would else give it a check of the next release."""
    counted, stop, world = Counted(), Event(), make_world()
    monkeypatch.setattr(reconcile, "CHECKS", counted)
    stop.set()
    with hearing(world.settings.state_dir) as bell:
        reconcile.serve(world, stop, bell, [].append)
    assert counted.asked == set(NAMES)
