"""`lldpctl -f json` and `-f json0`: who a node's Ethernet ports say they are joined to."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_object


class Neighbour(NamedTuple):
    """What one port hears: the far system's name and its port, by id and by description ("" where not told)."""

    interface: str
    system: str
    port: str
    description: str


def parse(text: str) -> tuple[Neighbour, ...]:
    """Return every neighbour; a port that hears several systems has several entries."""
    root = json_object(text, "lldpctl")
    if "lldp" not in root:
        raise EvidenceError("lldpctl: expected the key 'lldp', found " + (", ".join(sorted(root)[:3]) or "nothing"))
    return neighbours(root)


def neighbours(root: dict[str, Any]) -> tuple[Neighbour, ...]:
    """Return every neighbour of what was read from JSON."""
    return tuple(neighbour for section in _list(root["lldp"]) for neighbour in _neighbours(section))


def _neighbours(section: Any) -> Iterator[Neighbour]:
    for entry in _list(_get(section, "interface")):
        for name, interface in _named(entry):
            chassis = [(key, one) for each in _list(_get(interface, "chassis")) for key, one in _named(each)]
            ports = _list(_get(interface, "port"))
            port = ports[0] if ports else {}
            for key, one in chassis:
                yield Neighbour(
                    name, _value(_get(one, "name")) or key, _value(_get(port, "id")), _value(_get(port, "descr"))
                )


def _named(entry: Any) -> Iterator[tuple[str, Any]]:
    """Yield (name, body): json0 keeps a name beside its body, json makes it the key."""
    if not isinstance(entry, dict):
        return
    if any(key in entry for key in ("name", "id", "via", "chassis")):
        yield _value(entry.get("name")), entry
        return
    for name, body in entry.items():
        yield str(name), body


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _value(value: Any) -> str:
    """Return text that stands bare, as {"value": text}, or as a list of one such."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        value = value.get("value")
    return value if isinstance(value, str) else ""
