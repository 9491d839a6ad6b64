"""What iproute2's `dcb -j` prints of an interface: priority flow control, and priorities of DSCP code points."""

from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_object
from fleet_runner.core.inventory.roce import DSCPS, PRIORITIES

_SWITCHED = {True: True, False: False, "on": True, "off": False}


def pfc(text: str) -> frozenset[int]:
    """Return the priorities with PFC, of `dcb -j pfc show dev`; EvidenceError where not all eight are told."""
    rows = json_object(text, "dcb pfc").get("prio_pfc")
    listed = rows if isinstance(rows, list) else []
    told = [_SWITCHED.get(row) if isinstance(row, bool | str) else None for row in listed]
    if len(told) != PRIORITIES or None in told:
        raise EvidenceError(f"dcb pfc: found prio_pfc {rows!r:.80}, expected on or off for {PRIORITIES} priorities")
    return frozenset(priority for priority, enabled in enumerate(told) if enabled)


def dscp(text: str) -> dict[int, int]:
    """Return the priority of each code point that has one, of `dcb -j app show dev`; none is an answer, too."""
    rows = json_object(text, "dcb app").get("dscp_prio", [])
    if not isinstance(rows, list) or not all(map(_is_pair, rows)):
        raise EvidenceError(f"dcb app: found dscp_prio {rows!r:.80}, expected pairs of a code point and a priority")
    return dict(rows)


def _is_pair(row: Any) -> bool:
    """Whether a row is a code point and its priority."""
    if not isinstance(row, list) or [type(each) for each in row] != [int, int]:
        return False
    return bool(0 <= row[0] < DSCPS and 0 <= row[1] < PRIORITIES)
