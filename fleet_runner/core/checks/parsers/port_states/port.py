"""A switch's port as every maker's reader tells it, and what these readers share: words, numbers and tables."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_object
from fleet_runner.core.checks.parsers.port_states.modules import ModuleAlarm
from fleet_runner.core.inventory.roce import PRIORITIES

UNCORRECTED, STORMS = "uncorrected", "storms"
"""Counts that are kept: blocks or symbols that FEC did not correct, and pause storms that a watchdog saw."""

STORM_DROPS = "storm_drops"
"""Packets that a PFC watchdog dropped while it saw a storm."""

LOSSLESS_DROPS, ECN_MARKS = "lossless_drops", "ecn_marks"
"""Packets dropped in queues of priorities with PFC, and packets of all queues that WRED marked instead."""

DOWNS = "downs"
"""Times the port went down. Makers count each change of its state: half of these, since it begins down."""

COUNTS = (UNCORRECTED, STORMS, STORM_DROPS, LOSSLESS_DROPS, ECN_MARKS, DOWNS)

FEC = {
    "rs": "rs",
    "rs-fec": "rs",
    "reed-solomon": "rs",
    "fc": "baser",
    "fire-code": "baser",
    "baser": "baser",
    "none": "none",
    "off": "none",
}
"""FEC as makers call it, in small letters, and as ethtool does."""

_SPEED = re.compile(r"([0-9]{1,4}(?:\.5)?) ?([GMgm])?(?:b/s|bps)?", re.ASCII)
_RULE = re.compile(r"-{2,}(?: +-{2,})+ *", re.ASCII)

_DIGITS = 18
"""Of a count: more are nothing that a counter of 64 bits holds within the life of a switch."""


@dataclass(frozen=True, slots=True)
class SwitchPort:
    """One port. None, "" and a count that is missing mean that the switch does not tell.

    `fec` is "rs", "baser" or "none", as ethtool has it; `pfc` the priorities with PFC. `dcbx` says that these are
    what both ends agreed on by DCBX, not what was set here. `ecn` are those with PFC whose packets are marked, too.
    `alarms` are what the module in a port that is up measures beyond its own limits.
    """

    mbps: int | None = None
    mtu: int | None = None
    fec: str = ""
    pfc: frozenset[int] | None = None
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    dcbx: bool = False
    ecn: frozenset[int] | None = None
    alarms: tuple[ModuleAlarm, ...] = ()


class Table(NamedTuple):
    """Rows of a table by its titles in lower case. `ended`: an empty line stands behind it, so none was cut off."""

    rows: tuple[dict[str, str], ...]
    ended: bool


def table(text: str) -> tuple[dict[str, str], ...]:
    """Return the rows of the first table of a text."""
    return next(tables(text), Table((), ended=False)).rows


def tables(text: str) -> Iterator[Table]:
    """Yield tables; dashes under the titles say where each cell stands, and an empty line ends a table."""
    rows: list[dict[str, str]] = []
    titles: list[tuple[str, slice]] = []
    before = ""
    for line in text.expandtabs().split("\n")[:-1]:  # a line without its end may have lost a part
        if before and _RULE.fullmatch(line.lstrip()):
            spans = [slice(*each.span()) for each in re.finditer("-+", line)]
            titles = [(before[span].strip().lower(), span) for span in spans]
            rows = []
        elif titles and not line.strip():
            yield Table(tuple(rows), ended=True)
            titles = []
        elif titles:
            rows.append({title: line[span].strip() for title, span in titles})
        before = line
    if titles:
        yield Table(tuple(rows), ended=False)


def objects(found: object) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of an object, by their keys."""
    rows = found.items() if isinstance(found, dict) else ()
    return ((str(name), row) for name, row in rows if isinstance(row, dict))


def optional(text: str | None, what: str) -> dict[str, Any]:
    """Return the object that a command printed; none where it was refused, or printed something else."""
    try:
        return json_object(text or "", what)
    except EvidenceError:
        return {}


def mbps(told: object) -> int | None:
    """Return a speed in Mb/s: of "400G", "400Gbps", "400 Gb/s" or "1000mbps"; None for anything else."""
    speed = _SPEED.fullmatch(told) if isinstance(told, str) else None
    if speed is None or speed[2] is None:
        return None
    return int(float(speed[1]) * (1000 if speed[2] in "Gg" else 1)) or None


def whole(told: object) -> int | None:
    """Return a number, also in digits, and with commas between its thousands."""
    if isinstance(told, str):
        digits = told.replace(",", "")
        return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) <= _DIGITS else None
    return count(told)


def count(told: object) -> int | None:
    """Return a number that is one in JSON."""
    right = isinstance(told, int) and not isinstance(told, bool) and 0 <= told < 10**_DIGITS
    return told if right and isinstance(told, int) else None


def downs(changes: int | None) -> int | None:
    """Return how often a port went down whose state changed so often since it began, down."""
    return None if changes is None else changes // 2


def priorities(told: str | None) -> frozenset[int] | None:
    """Return priorities from "3,4"; of "" none are known, and "N/A" stands for none that are on."""
    found = [whole(word.strip()) for word in (told or "").split(",")]
    if told and all(each is not None and each < PRIORITIES for each in found):
        return frozenset(each for each in found if each is not None)
    return frozenset() if told == "N/A" else None


def known(counts: Mapping[str, int | None]) -> dict[str, int]:
    """Return the counts that are told."""
    return {name: told for name, told in counts.items() if told is not None}
