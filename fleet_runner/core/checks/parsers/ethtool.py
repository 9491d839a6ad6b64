"""What `ethtool` prints of an interface: its driver's statistics (`-S`), and its FEC (`--show-fec`)."""

import re

from fleet_runner.core.base.errors import EvidenceError

MOST = 20_000
"""More statistics than any driver has: one of 256 queues prints some 15,000."""

FEC = frozenset({"auto", "off", "none", "baser", "rs", "llrs"})
"""Encodings that ethtool(8) knows; "off" and "none" are the same."""

_STATISTIC = re.compile(r"\s+([A-Za-z0-9_.\-]{1,64}): ([0-9]{1,20})\s*", re.ASCII)
_ACTIVE = re.compile(r"^Active FEC encodings?:[ \t]*([A-Za-z \t]{1,80})\n", re.MULTILINE)


def statistics(text: str) -> dict[str, int]:
    """Return the statistics by name; lines that are none, such as the title, are left out."""
    rows = text.split("\n")
    if len(rows) > MOST:
        raise EvidenceError(f"ethtool -S printed {len(rows)} lines, expected at most {MOST}")
    # A line without its end may have lost digits.
    found = {row[1]: int(row[2]) for line in rows[:-1] if (row := _STATISTIC.fullmatch(line))}
    if not found:
        raise EvidenceError("ethtool -S printed no statistic that is read; is it a driver that counts none?")
    return found


def fec(text: str) -> frozenset[str]:
    """Return the active encodings in lower case ("rs"; "none" for no FEC); EvidenceError for words nobody knows."""
    found = _ACTIVE.search(text)
    words = frozenset(found[1].lower().split()) if found else frozenset[str]()
    if not words or not words <= FEC:
        raise EvidenceError(f"ethtool --show-fec printed {text.strip()!r:.120}, expected the active FEC encoding")
    return frozenset("none" if word == "off" else word for word in words)
