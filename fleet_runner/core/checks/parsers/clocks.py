"""How well a node's clock is kept: `chronyc -c tracking`, or `timedatectl show`."""

import re
from dataclasses import dataclass

from fleet_runner.core.base.errors import EvidenceError

FIELDS = 14
"""Of `chronyc -c tracking`: the reference's id and name, stratum, time, the offsets, …, and the leap status."""

_NUMBER = re.compile(r"-?[0-9]{1,12}(?:\.[0-9]{1,12})?(?:e[+-]?[0-9]{1,2})?", re.ASCII)
_LEAPS = {"Normal": True, "Insert second": True, "Delete second": True, "Not synchronised": False}


@dataclass(frozen=True, slots=True)
class Clock:
    """Whether the clock follows a source, its name, and how far it is from it: seconds, None where nothing tells."""

    synchronised: bool
    source: str
    offset: float | None
    bound: float | None


def tracking(text: str) -> Clock:
    """Read chronyc's one line; EvidenceError for one that is not whole.

    `bound` is the most that the clock can be off: half of the delay to the source and the dispersion on top.
    """
    lines = text.strip().split("\n")
    fields = lines[-1].split(",")
    if len(fields) != FIELDS or fields[13] not in _LEAPS:
        raise EvidenceError(f"chronyc printed {lines[-1]!r:.120}, expected {FIELDS} fields; does chronyd run?")
    told = [fields[place] for place in (4, 10, 11)]
    if not all(_NUMBER.fullmatch(each) for each in told):
        raise EvidenceError(f"chronyc printed {lines[-1]!r:.120}, expected seconds in it; read it again")
    offset, delay, dispersion = (abs(float(each)) for each in told)
    return Clock(_LEAPS[fields[13]], fields[1] or fields[0], offset, offset + delay / 2 + dispersion)


def timedatectl(text: str) -> Clock:
    """Read systemd's word, which tells no offset; EvidenceError without it."""
    told = dict(line.split("=", 1) for line in text.split("\n")[:-1] if "=" in line)
    known = {"yes": True, "no": False}.get(told.get("NTPSynchronized", ""))
    if known is None:
        raise EvidenceError(f"timedatectl printed {text.strip()!r:.120}, expected NTPSynchronized; was it cut short?")
    return Clock(known, "systemd", None, None)
