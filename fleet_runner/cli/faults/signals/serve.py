"""fleet-runner signals serve: the listener alone, until it is told to stop."""

from functools import partial

from fleet_runner.adapters.source import Reader
from fleet_runner.cli.base.session import console, opened
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.settings import load


def serve() -> None:
    """Receive signals over HTTP, and syslog where it is set, until Ctrl-C or SIGTERM.

    fleet-runner serve does the same beside its work where signals_listen is set; this is for a machine of its own.
    """
    from fleet_runner.services.signals import serving  # noqa: PLC0415  the server is slow to load, and other commands need none

    if not load().signals_listen:
        raise SettingsError("setting 'signals_listen' is empty; set the address for signals, like 127.0.0.1:8490")
    with opened(create=True) as (settings, store):
        serving.run(settings, store, Reader(settings), partial(console.print, markup=False, soft_wrap=True))
