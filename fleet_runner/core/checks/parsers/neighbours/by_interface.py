"""Neighbours that a program keeps by the port that hears them: NAPALM's getters and the facts of Ansible's modules.

NAPALM: {"Ethernet1": [{"hostname": "gpu-01", "port": "eth0"}]}, in detail "remote_system_name" and "remote_port".
Ansible: `ansible_net_neighbors` of eos, ios, nxos and others, with "host" or "sysname". What wraps them (facts, a
minion's or a host's name) is looked through; neighbours of several devices in one text are refused.
"""

from collections.abc import Iterator
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.lldp import Neighbour
from fleet_runner.core.checks.parsers.neighbours.heard import Heard, get, holders, neighbour, word

_SYSTEM = ("remote_system_name", "sysname", "hostname", "host")
_PORT = ("remote_port", "port")
_EMPTY = ("ansible_net_neighbors", "lldp_neighbors", "get_lldp_neighbors", "napalm_lldp_neighbors")
_WRAPPERS = frozenset({"ansible_facts", "out", "result", "results", "return", "data", "stdout", ""})
_GETTERS = frozenset(f"{name}{detail}" for name in _EMPTY for detail in ("", "_detail"))
_NAMES = ("ansible_net_hostname", "hostname")
_FACTS = ("ansible_facts", "facts", "get_facts", "napalm_facts")

_Table = tuple[tuple[str, ...], dict[str, Any]]
"""The names of what wraps a table, and the table."""


def begins(root: Any) -> bool:
    """Whether it has such a table, or a place for one that is empty."""
    return any(True for _ in _tables(root, ())) or any(get(root, key) == {} for key in _EMPTY)


def read(root: Any) -> Heard:
    """Return what a device hears; EvidenceError for what several devices hear."""
    tables: dict[tuple[str, ...], dict[str, Any]] = {}
    for names, table in _tables(root, ()):
        tables[names] = tables.get(names, {}) | table  # in detail, where both are told
    if len(tables) > 1:
        told = ", ".join(" ".join(names) for names in tables)
        raise EvidenceError(f"found neighbours of several devices ({told:.120}), expected one's in a file")
    names, table = next(iter(tables.items()), ((), {}))
    named = (get(holder, key) for key in _NAMES for holder in (root, *_facts(root)))
    device = next((word(each) for each in named if word(each)), names[0] if len(names) == 1 else "")
    return Heard(device, tuple(each for interface, told in table.items() for each in _neighbours(interface, told)))


def _facts(root: Any) -> Iterator[Any]:
    for key in _FACTS:
        for holder in holders(root, key):
            yield get(holder, key)


def _tables(value: Any, names: tuple[str, ...]) -> Iterator[_Table]:
    """Yield each table with the names of what wraps it, without those that wrap any device's."""
    if isinstance(value, list):
        for each in value:
            yield from _tables(each, names)
    elif isinstance(value, dict) and _table(value):
        yield names, value
    elif isinstance(value, dict):
        for key, each in value.items():
            if isinstance(each, dict | list):
                yield from _tables(each, names if key in _WRAPPERS | _GETTERS else (*names, str(key)))


def _table(value: dict[str, Any]) -> bool:
    lists = [each for each in value.values() if isinstance(each, list)]
    entries = [entry for each in lists for entry in each]
    return len(lists) == len(value) and bool(entries) and all(map(_entry, entries))


def _entry(value: Any) -> bool:
    return isinstance(value, dict) and any(key in value for key in _SYSTEM) and any(key in value for key in _PORT)


def _neighbours(interface: str, told: list[Any]) -> Iterator[Neighbour]:
    for each in told:
        system, port = (
            next((found for key in keys if (found := word(get(each, key)))), "") for keys in (_SYSTEM, _PORT)
        )
        yield neighbour(interface, system, port, word(get(each, "remote_port_description")))
