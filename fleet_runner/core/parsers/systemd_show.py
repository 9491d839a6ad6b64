"""What `systemctl show` says of a unit: its properties, one a line."""

import re

from fleet_runner.core.errors import EvidenceError

MOST = 200
"""Properties of a unit that are read; systemd knows about as many, and a check asks for a few."""

_LINE = re.compile(r"([A-Z][A-Za-z0-9]{0,60})=(.{0,400})")
_STAMP = re.compile(r"[A-Z][a-z]{2} (\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2})(?: \S{1,20})?")


def parse(text: str) -> dict[str, str]:
    """Read the properties; EvidenceError where the unit's state is not among them. A line without its end is none."""
    lines = text.rpartition("\n")[0].splitlines()[:MOST]
    found = {match[1]: match[2].strip() for match in map(_LINE.fullmatch, lines) if match is not None}
    if not found.get("ActiveState") or not found.get("LoadState"):
        raise EvidenceError(f"systemctl show printed {text[:60]!r}, expected a unit's LoadState and ActiveState")
    return found


def stamp(value: str) -> str:
    """Return "2026-08-27 07:13:21" of "Thu 2026-08-27 07:13:21 UTC", the node's own time; "" for anything else."""
    found = _STAMP.fullmatch(value)
    return found[1] if found else ""
