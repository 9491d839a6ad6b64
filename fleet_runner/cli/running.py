"""Commands that do the work: tick once, or serve until told to stop."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from threading import Event
from types import FrameType
from typing import Annotated

import typer

from fleet_runner import reconcile
from fleet_runner.adapters import tracker_file
from fleet_runner.adapters.bell import hearing
from fleet_runner.adapters.store import Store
from fleet_runner.cli.session import console, opened, print_json
from fleet_runner.core.errors import SettingsError
from fleet_runner.reconcile.alone import serving
from fleet_runner.reconcile.world import Report, World
from fleet_runner.settings import Settings, load
from fleet_runner.source import Reader

STAND_BY = "another process serves the same state already; this one stands by, and the two take turns"


def tick(json: Annotated[bool, typer.Option("--json", help="print JSON instead of text")] = False) -> None:
    """Read, decide and act once: everything that is due now, and nothing twice."""
    reader = _source()
    with opened(create=True) as (settings, store):
        world = World(settings, store, reader)
        report = reconcile.tick(world)
        if json:
            print_json(report)
        else:
            tell(report)


def serve() -> None:
    """Keep ticking, so that nodes move and schedules are kept, until Ctrl-C or SIGTERM.

    Stopping it loses nothing: plays that are under way go on, and the next start adopts them.
    """
    stop = Event()
    reader = _source()
    with opened(create=True) as (settings, store), hearing(settings.state_dir) as bell, serving(settings) as others:

        def end(_signal: int, _frame: FrameType | None) -> None:
            stop.set()
            bell.ring()

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, end)
        world = World(settings, store, reader)
        console.print(f"serving {settings.source}; state in {settings.state_dir}; Ctrl-C ends it", markup=False)
        if others:
            console.print(STAND_BY, markup=False)
        with listening(settings, store, reader), sending(world):
            reconcile.serve(world, stop, bell, tell)
        console.print("stopped; running plays go on and are adopted at the next start")


@contextmanager
def listening(settings: Settings, store: Store, reader: Reader) -> Iterator[None]:
    """Take signals beside the work, where the settings say so."""
    if not settings.signals_listen:
        if settings.signals_syslog:
            raise SettingsError("signals_syslog is set, and nothing listens: set signals_listen too")
        yield
        return
    from fleet_runner.listening.beside import beside  # noqa: PLC0415  the server is slow to load, and few need it

    with beside(settings, store, reader, partial(console.print, markup=False, soft_wrap=True)):
        yield


@contextmanager
def sending(world: World) -> Iterator[None]:
    """Tell trackers of tickets beside the work, where a file names any."""
    if tracker_file.file(world.settings) is None:
        yield
        return
    from fleet_runner.reconcile import senders  # noqa: PLC0415  as above

    with senders.sending(world.settings, world.store, lambda: world.fleet):
        yield


def _source() -> Reader:
    """Read the source of truth before anything else: one that cannot be used changes nothing, not even a store."""
    reader = Reader(load())
    reader()
    return reader


def tell(report: Report) -> None:
    """Print what a tick did."""
    for sentence in report.moves:
        console.print(sentence, markup=False)
