"""NVUE (Cumulus Linux, NVOS): `nv show interface lldp -o json`, also `lldp-detail`: interface, lldp, neighbor."""

from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.neighbours.heard import Heard, get, neighbour, word

KEY = "lldp"


def begins(root: Any) -> bool:
    """Whether an object is by interface, and one of these has LLDP's neighbours or the kernel's."""
    bodies = root.values() if isinstance(root, dict) else ()
    return any(isinstance(each, dict) and (KEY in each or "neighbor" in each) for each in bodies)


def read(root: Any) -> Heard:
    """Return what a switch hears; neighbours of ARP and IPv6, which another command shows, say nothing of cables."""
    if not any(get(each, KEY) is not None for each in root.values()) and not any(map(_heard, root.values())):
        raise EvidenceError(
            "it is nv show interface neighbor, whose neighbours are IP addresses, expected nv show interface lldp -o "
            "json; read the switch again"
        )
    return Heard(
        "",
        tuple(
            neighbour(
                interface,
                word(get(each, "chassis", "system-name")),
                word(get(each, "port", "name")),
                word(get(each, "port", "description")),
                word(get(each, "port", "type")),
            )
            for interface, body in root.items()
            for each in _heard(body)
        ),
    )


def _heard(body: Any) -> list[Any]:
    """Return who is heard at an interface: an adapter's own agent may answer beside its host."""
    inner = get(body, KEY)
    found = get(body if inner is None else inner, "neighbor")
    told = found.values() if isinstance(found, dict) else ()
    return [each for each in told if get(each, "chassis") is not None]
