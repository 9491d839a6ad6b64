"""Whether the parts of the boot path were heard of lately, in words."""

from collections.abc import Mapping

from fleet_runner.core.base.durations import age
from fleet_runner.core.boot.progress import HEARD_SECONDS

PARTS: Mapping[str, str] = {"boot": "boot service", "dhcp": "DHCP server"}


def signs(beats: Mapping[str, float], now: float) -> tuple[str, bool]:
    """Return "boot service heard 8 s ago, DHCP server never heard", and whether both were heard lately."""
    said = [f"{part} {_ago(now - beats[name]) if name in beats else 'never heard'}" for name, part in PARTS.items()]
    return ", ".join(said), all(abs(now - beats.get(name, 0.0)) < HEARD_SECONDS[name] for name in PARTS)


def silence(beats: Mapping[str, float], now: float) -> str:
    """Say that no boot service answers nodes, and what to do about it; empty where one was heard lately."""
    at = beats.get("boot")
    if abs(now - (at or 0.0)) < HEARD_SECONDS["boot"]:
        return ""
    if at is not None and at > now:
        return f"a boot service reported {at - now:.0f} s from now; set both clocks"
    ago = "yet" if at is None else f"for {now - at:.0f} s"
    return f"no boot service has reported {ago}; start it (fleet-runner boot serve)"


def _ago(seconds: float) -> str:
    return f"heard {age(seconds)} ago" if seconds >= 0 else f"heard {age(-seconds)} from now"
