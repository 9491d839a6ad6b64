"""Juniper Junos: `show lldp neighbors | display json`, also with `detail`; each word stands in a list, as `data`."""

import re
from typing import Any

from fleet_runner.core.checks.parsers.neighbours.heard import Heard, entries, get, holders, neighbour, word

KEY = "lldp-neighbors-information"

_UNIT = re.compile(r"\.\d{1,5}$", re.ASCII)
"""A logical unit: older versions name the port "ge-0/0/1.0"."""


def read(root: Any) -> Heard:
    """Return what a device hears."""
    told = [
        each
        for holder in holders(root, KEY)
        for section in entries(get(holder, KEY))
        for each in entries(get(section, "lldp-neighbor-information"))
    ]
    return Heard(
        "",
        tuple(
            neighbour(
                _UNIT.sub("", _data(each, "lldp-local-port-id") or _data(each, "lldp-local-interface")),
                _data(each, "lldp-remote-system-name") or _data(each, "lldp-system-name"),
                _data(each, "lldp-remote-port-id"),
                _data(each, "lldp-remote-port-description"),
                _data(each, "lldp-remote-port-id-subtype"),
            )
            for each in told
        ),
    )


def _data(value: Any, key: str) -> str:
    """Return a word, also where a proxy took it out of its list."""
    found = next(iter(entries(get(value, key))), None)
    return word(get(found, "data") if isinstance(found, dict) else found)
