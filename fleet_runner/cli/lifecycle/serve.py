"""Commands that do the work: tick once, or serve until told to stop."""

import faulthandler
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Annotated

import typer

from fleet_runner.adapters.files import notifications, trackers
from fleet_runner.adapters.plays import engine
from fleet_runner.adapters.plays.fork_server import keeper
from fleet_runner.adapters.plays.wakeup import Wakeup, hearing
from fleet_runner.adapters.redfish.credentials import trouble
from fleet_runner.adapters.source import Reader
from fleet_runner.adapters.store import Store
from fleet_runner.adapters.systemd import Systemd
from fleet_runner.cli.base.session import Exit, console, errors, opened, print_json
from fleet_runner.cli.base.shutdown import STDERR, on_signal
from fleet_runner.core.base.errors import NotLeaderError, SettingsError
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.reconcile.loop import control_loop, store_ownership
from fleet_runner.reconcile.loop.context import Report, TickContext
from fleet_runner.reconcile.loop.leader import RunnerStatus, one_turn
from fleet_runner.reconcile.loop.shutdown import leave
from fleet_runner.reconcile.loop.single_instance import serving
from fleet_runner.reconcile.schedules.runner import by_the_clock
from fleet_runner.services.health.parts import Health
from fleet_runner.services.health.watchdog import watched
from fleet_runner.settings import Settings, load, origin

if TYPE_CHECKING:
    from fleet_runner.services.signals.thread import Beside

STAND_BY = "another process serves the same state already; this one is on standby"


def tick(json: Annotated[bool, typer.Option("--json", help="print JSON instead of text")] = False) -> None:
    """Run the control loop once: everything that is due now, and nothing twice.

    Where a runner on the same PostgreSQL decides, that one is told to look at once; exit code 1 then.
    """
    reader = _source()
    with opened(create=True) as (settings, store):
        _warn(settings)
        world = TickContext(settings, store, reader)
        try:
            with one_turn(world):
                report = control_loop.tick(world)
        except NotLeaderError as error:
            errors.print(f"no: {error}", markup=False, soft_wrap=True)
            raise typer.Exit(Exit.NO) from None
        if json:
            print_json(report)
        else:
            tell(report)


def serve(
    drain: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            metavar="SECONDS",
            help="at the end wait this long for running plays, then end them in order: for a container, "
            "whose end would kill them",
        ),
    ] = None,
) -> None:
    """Run the control loop, which moves nodes and keeps schedules, until Ctrl-C or SIGTERM.

    Stopping it loses nothing: plays that are under way go on, and the next start adopts them.
    """
    stop = Event()
    systemd = Systemd()
    faulthandler.enable(STDERR)  # systemd's watchdog sends SIGABRT: then every thread says where it hangs
    CHECKS.load()
    reader = _source()
    with opened(create=True) as (settings, store), hearing(settings.state_dir) as bell, serving(settings) as others:

        def end() -> None:
            stop.set()
            systemd.stopping()
            bell.ring()

        on_signal(end)
        world = TickContext(settings, store, reader)
        _say(f"serving {settings.source}; state in {settings.state_dir}; Ctrl-C ends it")
        _warn(settings)
        if others:
            _say(STAND_BY)
        with ExitStack() as beside:
            listener = beside.enter_context(listening(settings, store, reader))
            health = Health(world, stop, lambda: listener.trouble if listener is not None else "")
            beside.enter_context(answering(settings, health))
            beside.enter_context(showing(world))
            work = beside.enter_context(ExitStack())
            work.enter_context(sending(world))
            work.enter_context(notifying(world))
            work.enter_context(mirroring(world))
            work.enter_context(conditions(world))
            work.enter_context(remediations(world))
            work.enter_context(taking(world))
            work.enter_context(keeper.kept(settings, engine.environment(settings, "")))
            work.enter_context(carrying(world, bell))
            work.enter_context(tracing(world))
            work.enter_context(by_the_clock(world))
            beside.enter_context(watched(systemd, lambda: health.alive().ok))
            control_loop.serve(world, stop, bell, tell)
            work.close()  # while plays are waited for, another runner decides, and this one takes nothing
            if drain is not None:
                _leave(world, drain)
                return
        _say("stopped; running plays continue and are adopted at the next start")


def _warn(settings: Settings) -> None:
    """Say once what each node's plays would say one by one, and only there."""
    if said := trouble(settings):
        errors.print(f"warning: BMC credentials: {said}", markup=False, soft_wrap=True)


def _leave(world: TickContext, seconds: float) -> None:
    _say(f"waiting up to {seconds:.0f} s for plays that are under way")
    asked, left = leave(world.settings, seconds, world.pulse.move)
    _say(f"stopped; {asked} plays were asked to end, {left} did not; the next start reads their results")


@contextmanager
def listening(settings: Settings, store: Store, reader: Reader) -> Iterator["Beside | None"]:
    """Take signals beside the work, where the settings say so."""
    if not settings.signals_listen:
        if settings.signals_syslog:
            raise SettingsError("signals_syslog is set, and nothing listens: set signals_listen too")
        yield None
        return
    from fleet_runner.services.signals.thread import beside  # noqa: PLC0415  the server is slow to load, and few need it

    with beside(settings, store, reader, _say) as listener:
        yield listener


@contextmanager
def answering(settings: Settings, health: Health) -> Iterator[None]:
    """Answer who asks for the health of this process, where the settings say so."""
    if not settings.health_listen:
        yield
        return
    from fleet_runner.services.health.thread import pages  # noqa: PLC0415  as above

    with pages(settings.health_listen, health, _say):
        yield


@contextmanager
def showing(world: TickContext) -> Iterator[None]:
    """Serve pages, the API and metrics, where the settings say so."""
    if not world.settings.web_listen:
        yield
        return
    from fleet_runner.web.serving import pages  # noqa: PLC0415  as above
    from fleet_runner.web.site import Site  # noqa: PLC0415  as above

    with pages(Site(world.settings, world.store, lambda: world.fleet, pulse=world.pulse), _say):
        yield


@contextmanager
def sending(world: TickContext) -> Iterator[None]:
    """Tell trackers of tickets beside the work, where a file names any."""
    if trackers.file(world.settings) is None:
        yield
        return
    from fleet_runner.reconcile.tickets import senders  # noqa: PLC0415  as above

    with senders.sending(world.settings, world.store, lambda: world.fleet if world.unaccepted == "" else None):
        yield


@contextmanager
def notifying(world: TickContext) -> Iterator[None]:
    """Notify people and programs beside the work, where a file names any."""
    if notifications.file(world.settings) is None:
        yield
        return
    from fleet_runner.reconcile.tickets import notifications as telling  # noqa: PLC0415  as above

    with telling.notifying(world.settings, world.store, lambda: world.fleet):
        yield


@contextmanager
def tracing(world: TickContext) -> Iterator[None]:
    """Send traces of stages beside the work, where the settings say where to."""
    if not world.settings.traces_url:
        yield
        return
    from fleet_runner.reconcile.loop import traces as telling  # noqa: PLC0415  as above

    with telling.tracing(world.settings, world.store, world.decides):
        yield


@contextmanager
def mirroring(world: TickContext) -> Iterator[None]:
    """Tell the NetBox of nodes beside the work, where the settings say so and there is one."""
    if world.settings.netbox_write_nodes and "://" not in world.settings.source:
        where = f"{origin('netbox_write_nodes')}, and source is the folder {world.settings.source}"
        _say(f"netbox_write_nodes is on, {where}: no NetBox gets updates")
    if not world.settings.netbox_write_nodes or "://" not in world.settings.source:
        yield
        return
    from fleet_runner.reconcile.inventory import netbox as telling  # noqa: PLC0415  as above

    with telling.mirroring(world.settings, world.store, store_ownership.Outward(world)):
        yield


@contextmanager
def conditions(world: TickContext) -> Iterator[None]:
    """Keep the nodes of a Kubernetes cluster true beside the work, where the settings say so."""
    if not world.settings.kubernetes_conditions:
        yield
        return
    from fleet_runner.reconcile.lifecycle import node_conditions  # noqa: PLC0415  as above

    with node_conditions.telling(world):
        yield


@contextmanager
def remediations(world: TickContext) -> Iterator[None]:
    """Take what a Kubernetes cluster asks for beside the work, where the settings say so."""
    if not world.settings.kubernetes_remediations:
        yield
        return
    from fleet_runner.reconcile.lifecycle import node_remediations  # noqa: PLC0415  as above

    with node_remediations.taking(world):
        yield


@contextmanager
def taking(world: TickContext) -> Iterator[None]:
    """Take what people ask for in NetBox's pages beside the work, where the settings say so."""
    if not world.settings.netbox_wishes:
        yield
        return
    from fleet_runner.reconcile.inventory import page_intents  # noqa: PLC0415  as above

    with page_intents.taking(world.settings, world.store):
        yield


@contextmanager
def carrying(world: TickContext, bell: Wakeup) -> Iterator[None]:
    """Share the work with other runners beside it, where the store is one that they share."""
    if not world.store.shared:
        yield
        return
    carrier = RunnerStatus(world.settings, world.store, bell.ring)
    carrier.begin()
    world.decides = carrier.decides
    _say(f"runner {carrier.runner.id}; {', '.join(carrier.runner.places) or 'every place'}")
    world.heard = carrier.heard
    with carrier.beside():
        yield
    world.heard = None


_say = partial(console.print, markup=False, soft_wrap=True)


def _source() -> Reader:
    """Read the source of truth before anything else: one that cannot be used changes nothing, not even a store."""
    reader = Reader(load())
    reader()
    return reader


def tell(report: Report) -> None:
    """Print what a tick did."""
    for sentence in report.moves:
        _say(sentence)
