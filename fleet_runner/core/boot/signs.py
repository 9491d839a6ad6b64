"""Whether the parts of the boot path were heard of lately, in words."""

from collections.abc import Mapping

from fleet_runner.core.boot.progress import HEARD_SECONDS
from fleet_runner.core.spans import age

PARTS: Mapping[str, str] = {"boot": "boot service", "dhcp": "DHCP server"}


def signs(beats: Mapping[str, float], now: float) -> tuple[str, bool]:
    """Return "boot service heard 8 s ago, DHCP server never heard", and whether both were heard lately."""
    said = [f"{part} {_ago(now - beats[name]) if name in beats else 'never heard'}" for name, part in PARTS.items()]
    return ", ".join(said), all(abs(now - beats.get(name, 0.0)) < HEARD_SECONDS[name] for name in PARTS)


def _ago(seconds: float) -> str:
    return f"heard {age(seconds)} ago" if seconds >= 0 else f"heard {age(-seconds)} from now"
