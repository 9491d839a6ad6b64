"""What `mlnx_qos -i INTERFACE` of NVIDIA's driver package prints: what a port trusts, and where it has PFC."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.inventory.roce import DSCPS, PRIORITIES

_TRUST = re.compile(r"^Priority trust state: (dscp|pcp)[ \t]*\n", re.MULTILINE)
_PFC = re.compile(r"^PFC configuration:[ \t]*\n\s*priority(?:\s+[0-7]){8}\s*\n\s*enabled([ \t01]+)\n", re.MULTILINE)
_MAPPED = re.compile(r"^\s*prio:([0-7]) dscp:([0-9,]+)[ \t]*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Qos:
    """A port's settings. `trust` is "dscp" or "pcp", "" where it is not told, as by old releases.

    `dscp` is the priority of each of the 64 code points; empty where not all of them are told.
    """

    trust: str
    pfc: frozenset[int]
    dscp: Mapping[int, int]


def parse(text: str) -> Qos:
    """Return the settings; EvidenceError where the table of PFC is not whole."""
    table, trust = _PFC.search(text), _TRUST.search(text)
    enabled = table[1].split() if table else []
    if len(enabled) != PRIORITIES or not set(enabled) <= {"0", "1"}:
        raise EvidenceError(f"mlnx_qos printed {text.strip()!r:.120}, expected the PFC of {PRIORITIES} priorities")
    rows = [
        (int(dscp), int(row[1])) for row in _MAPPED.finditer(text) for dscp in row[2].split(",") if dscp
    ]  # a code point that is told twice makes more rows than there are
    mapped = dict(rows)
    return Qos(
        trust=trust[1] if trust else "",
        pfc=frozenset(priority for priority, word in enumerate(enabled) if word == "1"),
        dscp=mapped if len(rows) == DSCPS and set(mapped) == set(range(DSCPS)) else {},
    )
