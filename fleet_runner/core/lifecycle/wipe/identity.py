"""Is the machine that answers the node that is to be wiped? An address that was given twice must erase nobody."""

import re
from collections.abc import Collection
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.evidence import ReadEnd
from fleet_runner.core.lifecycle.wipe.devices import Seen
from fleet_runner.core.lifecycle.wipe.reads import BOOT_ID, SERIALS, UPTIME

HOLDS_SECONDS = 300.0
"""How long after the look, by the node's own clock since its boot, what was decided from it may still be begun."""

_BOOT = re.compile(r"[0-9a-f-]{36}")
_UPTIME = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)\s")


def stranger(serial: str, own: Collection[str], seen: Seen) -> str:
    """Say why it is not known to be the node; "" where it is. `own` are the serial numbers of the node's disks."""
    told = [_told(name, seen) for name in SERIALS]
    said = [each for each in told if each]
    if serial:
        if serial.casefold() in (each.casefold() for each in said):
            return ""
        return (
            f"the machine that answers says serial {' and '.join(dict.fromkeys(said)) or 'nothing'}, the source of "
            f"truth {serial}: is it another machine at this address? Nothing is erased"
        )
    if own:
        return ""  # then each disk is held against its own serial number
    return "the source of truth has no serial number of the node, nor of its disks: nothing says that this is it"


def term(seen: Seen) -> dict[str, Any]:
    """Return until when an order holds that is decided from this look; EvidenceError where it does not say.

    A play may be frozen between the look and the act, and the node installed anew meanwhile.
    """
    boot, uptime = _told(BOOT_ID, seen), _UPTIME.match(f"{_told(UPTIME, seen)} ")
    if not _BOOT.fullmatch(boot) or uptime is None:
        raise EvidenceError(
            f"the node does not report which boot this is, and how old: found {boot!r:.60}; nothing is erased"
        )
    return {"boot": boot, "until": float(uptime[1]) + HOLDS_SECONDS}


def _told(name: str, seen: Seen) -> str:
    reading = seen.get(name)
    return reading.text.strip() if reading is not None and reading.end is ReadEnd.OK and not reading.rc else ""
