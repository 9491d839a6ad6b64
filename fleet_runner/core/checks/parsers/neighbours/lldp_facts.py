"""Ansible's module `lldp` on a host: what lldpctl -f keyvalue says as an object for each port, by its name.

{"lldp": {"eth0": {"via": "LLDP", "chassis": {"name": "leaf-01"}, "port": {"ifname": "swp1", "descr": "swp1"}}}}
"""

from collections.abc import Iterator
from typing import Any

from fleet_runner.core.checks.parsers.lldp import Neighbour
from fleet_runner.core.checks.parsers.neighbours.heard import Heard, entries, get, holders, neighbour, word

KEYS = ("lldp", "ansible_lldp")
_PORT = ("ifname", "local", "mac")


def begins(root: Any) -> bool:
    """Whether it has ports of this form."""
    return any(True for _ in _ports(root))


def read(root: Any) -> Heard:
    """Return what a host hears, and its own name if its facts have it."""
    named = (get(holder, "ansible_hostname") for holder in holders(root, "ansible_hostname"))
    told = tuple(each for interface, body in _ports(root) for each in _neighbours(interface, body))
    return Heard(next(map(word, named), ""), told)


def _ports(root: Any) -> Iterator[tuple[str, Any]]:
    for key in KEYS:
        for holder in holders(root, key):
            ports = get(holder, key)
            for interface, body in ports.items() if isinstance(ports, dict) and "interface" not in ports else ():
                if get(body, "chassis") is not None and get(body, "port") is not None:
                    yield interface, body


def _neighbours(interface: str, body: Any) -> Iterator[Neighbour]:
    """Yield who is heard at a port; of several each word is a list, in their order."""
    port = get(body, "port")
    systems = entries(get(body, "chassis", "name"))
    ports = next((told for key in _PORT if (told := entries(get(port, key)))), [])
    words = entries(get(port, "descr"))
    for at, system in enumerate(systems):
        port_, descr = (each[at] if len(each) == len(systems) else "" for each in (ports, words))
        yield neighbour(interface, word(system), word(port_), word(descr))
