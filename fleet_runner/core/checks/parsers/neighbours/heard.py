"""What the readers of all forms share: words that may be absent, and how one port of JSON becomes a neighbour."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from fleet_runner.core.checks.parsers.lldp import Neighbour

NOT_TOLD = frozenset({"", "-", "--", "n/a", "null", "none", "not advertised"})
"""What makers print where a neighbour told nothing."""

LOCAL = ("local", "7")
"""How the kind of a port's identifier begins that means something to its own device alone, in small letters."""


class Heard(NamedTuple):
    """What one device hears. `device` is its own name, "" where the capture does not tell it."""

    device: str
    neighbours: tuple[Neighbour, ...]


_DOTTED = re.compile(r"([0-9a-fA-F]{2})([0-9a-fA-F]{2})[.]" * 2 + r"([0-9a-fA-F]{2})([0-9a-fA-F]{2})", re.ASCII)
"""An address as Cisco and Arista write it: 0200.0000.0201."""


def neighbour(interface: str, system: str, port: str, description: str, kind: str = "") -> Neighbour:
    """Return one neighbour, an address with colons. A bare number that means something to it alone is no port's."""
    dotted = _DOTTED.fullmatch(port)
    port = ":".join(dotted.groups()) if dotted else port
    index = port.isdecimal() and kind.lower().startswith(LOCAL)
    return Neighbour(interface, system, "" if index else port, description)


def word(value: Any) -> str:
    """Return what is told; "" for nothing, for what stands for nothing, and for what is no text."""
    told = value.strip() if isinstance(value, str) else ""
    return "" if told.lower() in NOT_TOLD else told


def get(value: Any, *keys: str) -> Any:
    """Return what lies below keys, whichever module's name stands before them; None where it is not there."""
    for key in keys:
        value = next((each for name, each in _items(value) if bare(name) == key), None)
    return value


def entries(value: Any) -> list[Any]:
    """Return a list, or a single entry as a list of one: several makers write one entry without its list."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def holders(root: Any, key: str) -> Iterator[dict[str, Any]]:
    """Yield each object that has a key, with or without a module's name, however deep in wrappers it lies."""
    waiting = [root]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if any(bare(name) == key for name in value):
                yield value
                continue
            waiting += reversed(value.values())
        elif isinstance(value, list):
            waiting += reversed(value)


def bare(name: str) -> str:
    """Return a key without its module's name: "openconfig-lldp:interfaces" is "interfaces"."""
    return name.rpartition(":")[2]


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    yield from value.items() if isinstance(value, dict) else ()
