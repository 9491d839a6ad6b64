"""Both ends of a node's own link in a technician's words, from the node's own record."""

from collections.abc import Mapping

from fleet_runner.core.cabling import quality
from fleet_runner.core.cabling.explain import degraded_key
from fleet_runner.core.cabling.explain import missing_key as key_of_missing
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.checks.evidence import Expected

CLEAN = "unplug the cable, clean plug and port if it is optical, and plug it in until it clicks"
"""What is done first at the end of a link that is plugged as designed and still bad."""


def here(expected: Expected, interface: str) -> str:
    """Return a port of the node as a person finds it: "gpu-07 port ib3 (hall-1 rack A2 U20)"."""
    return f"{expected.node} port {interface} ({expected.device.get('place') or 'place unknown'})"


def there(expected: Expected, interface: str) -> str:
    """Return the designed other end of a port; "the other end" where no cable is designed for it."""
    far = next((each for each in expected.device.get("links", ()) if each.get("interface") == interface), None)
    if far is None:
        return "the other end"
    return f"{far['far_device']} port {far['far_interface']} ({far['far_place']})"


def missing_key(expected: Expected, interface: str) -> str:
    """Return the key that the cabling's checks give to a port's link that is not there; "" where none is designed.

    A check that sees no more than the node's own end of a link finds the same fault under the same key.
    """
    joined = _designed(expected, interface)
    return key_of_missing(joined) if joined else ""


def slow_key(expected: Expected, interface: str) -> str:
    """Return the key that they give to a port's link that is slower than designed; "" where none is designed."""
    joined = _designed(expected, interface)
    return degraded_key(joined) if joined else ""


def bad_key(expected: Expected, interface: str) -> str:
    """Return the key of a port's link that is plugged as designed and bad; "" where none is designed."""
    joined = _designed(expected, interface)
    return quality.key(joined) if joined else ""


def both(expected: Expected, interface: str) -> tuple[str, ...]:
    """Return the devices that a port's link touches; none where none is designed."""
    joined = _designed(expected, interface)
    return tuple(sorted({port.device for port in joined})) if joined else ()


def _designed(expected: Expected, interface: str) -> Link | None:
    for each in expected.device.get("links") or ():
        if isinstance(each, Mapping) and each.get("interface") == interface and each.get("far_device"):
            far = Port(str(each["far_device"]), str(each.get("far_interface") or ""))
            return link(Port(expected.node, interface), far)
    return None
