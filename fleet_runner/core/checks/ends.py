"""Both ends of a node's own link in a technician's words, from the node's own record."""

from fleet_runner.core.evidence import Expected

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
