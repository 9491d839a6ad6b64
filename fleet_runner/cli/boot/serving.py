"""fleet-runner boot serve: the boot service, until it is told to stop."""

from fleet_runner.core.errors import SettingsError


def serve() -> None:
    """Answer nodes that boot over the network, until Ctrl-C or SIGTERM."""
    raise SettingsError("boot serve: there is no boot service in this version yet")
