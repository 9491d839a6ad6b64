"""Settings that earlier releases had, and what to write now."""

from collections.abc import Mapping
from types import MappingProxyType

SINCE: Mapping[str, str] = MappingProxyType(
    {
        "passive_seconds": 'passive_schedule = "every 5min"',
        "active_seconds": 'active_schedule = "every 1h", or "off" for never',
        "cabling_seconds": 'cabling_schedule = "every 4h"',
        "reboots_per_day": "a policy file, which has the steps and how often each may be taken (docs/policy.md)",
    }
)
"""By the old name, what takes its place, as it is written into fleet.toml."""


def sentence(name: str) -> str:
    """Return what to write in the place of a setting that is gone; "" for any other name."""
    return f"earlier releases had it; write {SINCE[name]}" if name in SINCE else ""
