"""fleet-runner web serve: pages, the API and metrics alone, until it is told to stop."""

from functools import partial
from threading import Event

from fleet_runner.adapters.source import Reader
from fleet_runner.cli.base.session import console, opened
from fleet_runner.cli.base.shutdown import on_signal
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.settings import load


def serve() -> None:
    """Serve pages, the API and metrics until Ctrl-C or SIGTERM.

    fleet-runner serve does the same beside its work where web_listen is set; this is for a process of its own.
    """
    from fleet_runner.web.serving import pages  # noqa: PLC0415  likewise
    from fleet_runner.web.site import Site  # noqa: PLC0415  likewise
    from fleet_runner.web.source import Following  # noqa: PLC0415  the server is slow to load

    if not load().web_listen:
        raise SettingsError("setting 'web_listen' is empty; set the address for pages, like 127.0.0.1:8492")
    CHECKS.load()
    stop = Event()
    on_signal(stop.set)
    with (
        opened(create=True) as (settings, store),
        Following(Reader(settings)) as following,
        pages(Site(settings, store, lambda: following.fleet), partial(console.print, markup=False, soft_wrap=True)),
    ):
        stop.wait()
