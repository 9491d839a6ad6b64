"""fleet-runner boot serve: the boot service, until it is told to stop."""

from functools import partial

from fleet_runner.adapters.source import Reader
from fleet_runner.cli.base.session import console, opened
from fleet_runner.cli.boot.readiness import unready, warn
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.settings import load


def serve() -> None:
    """Answer nodes that boot over the network, until Ctrl-C or SIGTERM.

    Several may run beside each other: they share the store, and the file boot.key of the state folder.
    """
    from fleet_runner.services.boot import serving  # noqa: PLC0415  the server is slow to load, and no other command needs it

    if not load().boot_url:
        raise SettingsError(
            "setting 'boot_url' is empty; name the address where nodes reach this service, like http://10.0.0.1:8480"
        )
    with opened(create=True) as (settings, store):
        warn(unready(settings))
        tell = partial(console.print, markup=False, soft_wrap=True)
        serving.run(settings, store, Reader(settings), tell)
