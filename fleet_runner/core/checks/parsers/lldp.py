"""`lldpctl -f json` and `-f json0`: who a node's Ethernet ports say they are joined to, and what these announce."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_object

PFC_TLV = ("00,80,c2", "11")
"""The OUI and subtype of IEEE 802.1Qaz's PFC configuration, by which DCBX announces it. lldpd keeps it among the TLVs
that it does not know."""

_WILLING = 0x80
"""The bit of one that takes the other end's settings over: what it announces may not be what it does."""


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


def announced_pfc(text: str) -> dict[str, frozenset[int]]:
    """Return the priorities for which the neighbour at each port announces PFC by DCBX.

    Left out are ports of which nobody announces any, whose neighbour is willing to take other settings over, or whose
    neighbours differ.
    """
    root = json_object(text, "lldpctl")
    told: dict[str, set[frozenset[int] | None]] = {}
    for section in _list(root.get("lldp")):
        for entry in _list(_get(section, "interface")):
            for name, interface in _named(entry):
                for holder in _list(_get(interface, "unknown-tlvs")):
                    found = [_pfc(each) for each in _list(_get(holder, "unknown-tlv")) if _is_pfc(each)]
                    told.setdefault(name, set()).update(found)
    sure = {name: next(iter(each)) for name, each in told.items() if len(each) == 1}
    return {name: each for name, each in sure.items() if each is not None}


def _is_pfc(tlv: Any) -> bool:
    return (_value(_get(tlv, "oui")).lower(), _value(_get(tlv, "subtype"))) == PFC_TLV


def _pfc(tlv: Any) -> frozenset[int] | None:
    """Return the priorities of a TLV; None of one that is willing, or that cannot be read."""
    try:
        octets = bytes.fromhex(_value(_get(tlv, "value")).replace(",", ""))
    except ValueError:
        return None
    if len(octets) != len(("flags", "priorities")) or octets[0] & _WILLING:
        return None
    return frozenset(priority for priority in range(8) if octets[1] >> priority & 1)


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
