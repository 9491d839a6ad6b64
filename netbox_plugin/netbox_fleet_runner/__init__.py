"""fleet-runner in NetBox: each server's state and why, open tickets, firmware, links, and what people ask for.

It makes no table and writes nothing but the two custom fields of a request, which fleet-runner takes up.
"""

from netbox.plugins import PluginConfig

from netbox_fleet_runner.release import __version__


class FleetRunnerConfig(PluginConfig):
    """What NetBox is told of the plugin, and its settings with their defaults."""

    name = "netbox_fleet_runner"
    verbose_name = "fleet-runner"
    description = "The state of GPU servers, why, what is open, and what people ask fleet-runner for"
    version = __version__
    author = "fleet-runner"
    base_url = "fleet-runner"
    min_version = "4.7.0"
    max_version = "4.7.99"
    default_settings = {  # noqa: RUF012  NetBox reads it as it is
        "url": "",
        "web_url": "",
        "token_file": "",
        "ca_file": "",
        "timeout_seconds": 1.5,
    }

    def ready(self) -> None:
        """Add the column, the tab of racks and the permission, once NetBox's own models are there."""
        super().ready()
        from netbox_fleet_runner import permissions, tables, views  # noqa: PLC0415  they need NetBox's models

        permissions.register()
        tables.register()
        views.register()


config = FleetRunnerConfig
