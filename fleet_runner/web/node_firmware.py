"""A node's firmware as its newest check found it, beside its pins: for its page, and for the API."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from fleet_runner.adapters.plays import profiles
from fleet_runner.core.base.errors import EvidenceError, SettingsError
from fleet_runner.core.checks.parsers import redfish
from fleet_runner.core.firmware import catalogue
from fleet_runner.core.firmware.pinned import NAME, Pinned, pinned
from fleet_runner.core.lifecycle.runs import Node, Stored
from fleet_runner.web.site import Site

LARGEST_INVENTORY = 4_000_000
"""Characters of a firmware inventory that is held against the pins for a page."""


class NodeFirmware(NamedTuple):
    """The newest result or None, its components, and why their pins cannot be told, "" where they can."""

    newest: Stored | None
    pins: tuple[Pinned, ...] = ()
    unpinned: str = ""


def firmware(here: Site, row: Node, latest: Iterable[Stored]) -> NodeFirmware:
    """Return a node's firmware beside its pins; where those cannot be read, why, and what was found alone."""
    newest = next((each for each in latest if each.result.check == NAME), None)
    if newest is None:
        return NodeFirmware(None)
    try:
        rows = catalogue.read(profiles.read(here.settings, row.device_type))
        return NodeFirmware(newest, pinned(newest.result, rows, _inventory(here, newest)))
    except (SettingsError, EvidenceError) as error:
        return NodeFirmware(newest, pinned(newest.result, None, {}), str(error))


def _inventory(here: Site, newest: Stored) -> Mapping[str, Mapping[str, Any]]:
    text = next((found for each in newest.result.evidence if (found := here.store.evidence(each))), "")
    return redfish.resources(text, "the firmware inventory") if 0 < len(text) <= LARGEST_INVENTORY else {}
