"""What a node's panel shows: custom fields, and where it is known what fleet-runner says of it."""

from typing import Any
from urllib.parse import quote

from dcim.models import Device
from django.conf import settings
from django.core.cache import cache

from netbox_fleet_runner import client
from netbox_fleet_runner.brief import Brief
from netbox_fleet_runner.nodes import fields, offered
from netbox_fleet_runner.permissions import may_ask
from netbox_fleet_runner.states import WISHES, shown, tone

NOT_SET = "The plugin's url is not set: set it to fleet-runner's address."


def configured() -> dict[str, Any]:
    """Return the plugin's settings."""
    return dict(settings.PLUGINS_CONFIG["netbox_fleet_runner"])


def context(user: Any, device: Device, brief: Brief | None = None, away: str = "") -> dict[str, Any]:
    """Return what the panel's template is given. Without a brief every request that NetBox takes is offered."""
    held = fields(device)
    takes = offered() if may_ask(user, device) else frozenset[str]()
    kinds = takes if brief is None else takes & brief.wanted
    page = client.page(configured())
    state = brief.state if brief is not None else held.state
    return {
        "fields": held,
        "brief": brief,
        "away": away,
        "state": shown(state),
        "tone": tone(state),
        "since": brief.since if brief is not None else held.since,
        "page": f"{page}/nodes/{quote(device.name or '', safe='')}" if page and device.name else "",
        "tickets": f"{page}/tickets" if page else "",
        "wishes": [(kind, wish) for kind, wish in WISHES.items() if kind in kinds],
    }


def asked(user: Any, device: Device) -> dict[str, Any]:
    """Return the same with what fleet-runner says, or why it says nothing: it is asked once at most."""
    server = client.server(configured())
    if server is None:
        return context(user, device, away=NOT_SET)
    if not device.name:
        return context(user, device, away="fleet-runner knows nodes by name, and this device has none.")
    try:
        return context(user, device, client.ask(server, device.name, cache))
    except client.AwayError as error:
        return context(user, device, away=str(error))
