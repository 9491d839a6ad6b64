"""Carrier losses in the kernel's log, or in a syslog that holds it: which interface, and when.

A line counts only if a driver or the network daemon begins it. Bonds, bridges and the like say once more what their
members say, and do not count.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.kernel_lines import PREFIX, plain

MAX_LINES = 500_000
"""A kernel log longer than this is not a kernel's ring buffer."""

_NAME = r"(?P<{}>[A-Za-z][A-Za-z0-9_.\-]{{0,14}})"
_DRIVER = (
    r"[a-z][a-z0-9_]{1,20}:? (?:[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]:? )?"
    + _NAME.format("name")
    + r":? (?:[a-z][a-z0-9_]{1,20}: (?P=name) )?(?:NIC )?[Ll]ink (?:is )?[Dd](?:own|OWN)\b"
)
_BARE = _NAME.format("bare") + r": (?:NIC )?[Ll]ink (?:is )?[Dd](?:own|OWN)\b"
_DAEMON = r"(?:[\w.-]{1,255} )?systemd-networkd\[\d{1,10}\]: " + _NAME.format("daemon") + r": [Ll]ost carrier\b"
_DOWN = re.compile(rf"{PREFIX}(?:{_DRIVER}|{_BARE}|{_DAEMON})", re.ASCII)
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)", re.ASCII)
_WORDS = ("ink down", "ink Down", "ink is down", "ink is Down", "ink DOWN", "ost carrier")
_GATHERED = re.compile(r"bond|team|br-|br\d|virbr|docker|veth|cali|tap|vlan|.*\.\d", re.ASCII)


class CarrierLoss(NamedTuple):
    """One loss. `at` is in seconds since the epoch; None where the line has no ISO time with its zone."""

    interface: str
    at: float | None


def parse(text: str) -> tuple[CarrierLoss, ...]:
    """Return the losses in the log's order; EvidenceError for an empty one: a kernel that booted said something."""
    if not text.strip():
        raise EvidenceError("the kernel log is empty, expected at least the boot's messages; was it cleared?")
    if text.count("\n") > MAX_LINES:
        raise EvidenceError(
            f"the kernel log has over {MAX_LINES} lines, which no ring buffer holds; look at the node"
        )
    places = sorted({place for word in _WORDS for place in _lines(text, word)})
    found = (_loss(text[begin:end]) for begin, end in places)
    return tuple(loss for loss in found if loss is not None)


def _lines(text: str, word: str) -> Iterator[tuple[int, int]]:
    """Yield where each line with a word begins and ends: most lines are others, and are only searched.

    The last line may be cut anywhere, even within its interface's name: without its end it is none.
    """
    at = text.find(word)
    while at >= 0 and (end := text.find("\n", at)) >= 0:
        yield text.rfind("\n", 0, at) + 1, end
        at = text.find(word, end)


def _loss(line: str) -> CarrierLoss | None:
    found = _DOWN.match(plain(line))
    if found is None:
        return None
    name = found["name"] or found["bare"] or found["daemon"]
    return None if _GATHERED.match(name) else CarrierLoss(name, _seconds(found["at"]))


def _seconds(stamp: str | None) -> float | None:
    found = _TIME.fullmatch(stamp or "")
    if found is None:
        return None
    whole, fraction, zone = found[1], found[2] or "0", found[3].replace("Z", "+00:00")
    try:
        return datetime.fromisoformat(f"{whole}{zone}").timestamp() + float(f"0.{fraction}")
    except (ValueError, OverflowError):
        return None
