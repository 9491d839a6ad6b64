"""What the switches of a fabric hear, in one text: how a sweep keeps it as evidence.

Shape: {"lldp_of_switches": {device: {"neighbours": [[interface, system, port, description]]} or {"unread": why}}}.
What a neighbour says of itself comes from whoever is plugged in: it is cut to the length that LLDP's standard allows
(IEEE 802.1AB: 255).
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_object
from fleet_runner.core.checks.parsers.lldp import Neighbour

KEY = "lldp_of_switches"

LONGEST = 255
"""Characters of a name, and of a sentence that says why a switch was not read."""

MOST = 4096
"""Neighbours of one switch: some seven on each port of the largest there are."""


class HeardBySwitches(NamedTuple):
    """The neighbours of each switch that was read, and of each other one why it was not."""

    heard: Mapping[str, tuple[Neighbour, ...]]
    unread: Mapping[str, str]


def written(heard: Mapping[str, Iterable[Neighbour]], unread: Mapping[str, str]) -> dict[str, Any]:
    """Return what switches hear in its form as plain JSON."""
    told = {
        device: {"neighbours": [[cell[:LONGEST] for cell in each] for each in tuple(neighbours)[:MOST]]}
        for device, neighbours in heard.items()
    }
    return {KEY: told | {device: {"unread": why[:LONGEST]} for device, why in unread.items()}}


def begins(text: str) -> bool:
    """Whether a text begins as these do."""
    return text.lstrip().startswith(f'{{"{KEY}"')


def parse(text: str) -> HeardBySwitches:
    """Return what the switches hear; EvidenceError for a text that is cut, or something else."""
    devices = json_object(text, "the sweep").get(KEY)
    if not isinstance(devices, dict):
        raise EvidenceError(f"the sweep: expected the key {KEY!r} with an object for each switch")
    heard: dict[str, tuple[Neighbour, ...]] = {}
    unread: dict[str, str] = {}
    for device, told in devices.items():
        if not isinstance(told, dict) or not (isinstance(told.get("unread"), str) or _rows(told.get("neighbours"))):
            found = json.dumps(told)[:80]
            raise EvidenceError(f"the sweep: {device}: found {found}, expected its neighbours or why it was not read")
        if "unread" in told:
            unread[device] = told["unread"]
        else:
            heard[device] = tuple(Neighbour(*row) for row in told["neighbours"])
    return HeardBySwitches(heard, unread)


def _rows(rows: object) -> bool:
    """Whether these are rows of four texts."""
    return isinstance(rows, list) and all(
        isinstance(row, list) and len(row) == len(Neighbour._fields) and all(isinstance(cell, str) for cell in row)
        for row in rows
    )
