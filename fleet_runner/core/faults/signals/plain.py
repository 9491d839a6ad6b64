"""Our own form of a signal, for tools and people who have none: an object, or a list of them.

{"node": "gpu-03", "code": "fan.noisy", "component": "fan 2", "message": "it rattles", "at": "2026-01-31T12:00:00Z",
"ended": false, "key": "ticket 12"}; node and code are needed.
"""

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.signals.clock import moment, settled
from fleet_runner.core.faults.signals.signal import Signal, Source

MOST = 1_000
"""Signals of one push."""

LENGTHS: Mapping[str, int] = {"node": 255, "code": 120, "component": 200, "message": 1_000, "key": 200}
"""The texts of a signal, and the most characters of each."""

FIELDS = frozenset({*LENGTHS, "at", "ended"})


def read(text: str, heard: float) -> tuple[Signal, ...]:
    """Return what was told; EvidenceError says which signal cannot be meant, and then none is taken."""
    try:
        found = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise EvidenceError(f"the signals are not JSON ({f'{error}':.120})") from error
    rows = found if isinstance(found, list) else [found]
    if len(rows) > MOST:
        raise EvidenceError(f"found {len(rows)} signals, expected at most {MOST} in one push")
    return tuple(_signal(row, f"signal {number}", heard) for number, row in enumerate(rows, 1))


def _signal(row: Any, where: str, heard: float) -> Signal:
    if not isinstance(row, dict):
        raise EvidenceError(f"{where}: found {row!r:.40}, expected an object with node and code")
    strange = sorted(row.keys() - FIELDS)
    if strange:
        raise EvidenceError(f"{where}: {strange[0]!r:.40} is no field; expected {', '.join(sorted(FIELDS))}")
    said = {name: _text(row, name, where) for name in LENGTHS}
    for name in ("node", "code"):
        if not said[name]:
            raise EvidenceError(f"{where}: {name} is missing")
    ended = row.get("ended", False)
    if not isinstance(ended, bool):
        raise EvidenceError(f"{where}: ended is {ended!r:.40}, expected true or false")
    told = row.get("at")
    at = moment(told, heard)
    if told is not None and at is None:
        raise EvidenceError(f"{where}: at is {told!r:.40}, expected a time such as 2026-01-31T12:00:00Z")
    return Signal(
        said["node"], said["code"], said["component"], settled(at, heard), Source.OPERATOR,
        said["message"] or said["code"], Remedy.WATCH, ended=ended, key=said["key"],
    )  # fmt: skip


def _text(row: Mapping[str, Any], name: str, where: str) -> str:
    """Return a text on one line, "" where there is none."""
    found = row.get(name, "")
    if not isinstance(found, str) or len(found) > LENGTHS[name]:
        raise EvidenceError(
            f"{where}: {name} is {found!r:.40}, expected a text of at most {LENGTHS[name]} characters"
        )
    return printable(found).replace("\n", " ").strip()


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")
