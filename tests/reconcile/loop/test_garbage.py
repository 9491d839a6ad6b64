"""A tick searches for no garbage: what it reads of a large fleet stays, and would be walked through each time."""

import gc
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    """Leave the search for garbage as it was found."""
    searching = gc.isenabled()
    yield
    (gc.enable if searching else gc.disable)()


@pytest.mark.parametrize("searching", [True, False])
def test_a_tick_leaves_the_search_for_garbage_as_it_found_it(
    make_world: Callable[..., TickContext], searching: bool
) -> None:
    world = make_world()
    meanwhile = list[bool]()

    def read() -> Fleet:
        meanwhile.append(gc.isenabled())
        if len(meanwhile) > 1:
            raise SourceError("it is away")
        return world.read_source()

    watched = replace(world, read_source=read)
    (gc.enable if searching else gc.disable)()
    tick(watched, 1_000.0)
    assert gc.isenabled() is searching
    watched.fleet = None
    with pytest.raises(SourceError, match="it is away"):
        tick(watched, 2_000.0)
    assert (gc.isenabled(), meanwhile) == (searching, [False, False])
