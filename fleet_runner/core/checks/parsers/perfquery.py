"""`perfquery`: the counters of single ports."""

import re
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError

HEAD = re.compile(
    r"^# Port (?:extended )?counters: (?:Lid (?P<lid>\d{1,5}) port (?P<port>\d{1,3})|[^\n]{1,80})",
    re.MULTILINE | re.ASCII,
)
_COUNTER = re.compile(r"^(\w{3,40}):\.{1,60}(\d{1,20})[ \t]*$", re.MULTILINE | re.ASCII)

BAD = frozenset({
    "SymbolErrorCounter", "LinkErrorRecoveryCounter", "LinkDownedCounter", "PortRcvErrors",
    "LocalLinkIntegrityErrors", "ExcessiveBufferOverrunErrors",
})  # fmt: skip
"""Counters that stand still on a good link; what congestion makes is left out."""

LAST = frozenset({"VL15Dropped", "PortXmitWait", "QP1Dropped", "PortMulticastRcvPkts"})
"""Counters of which one ends a whole report."""


class PortCounters(NamedTuple):
    """A port, and those of its counters that stand still on a good link."""

    name: str
    bad: dict[str, int]


def parse(text: str) -> tuple[PortCounters, ...]:
    """Return each port; EvidenceError for a text without one, and for one whose counters are cut."""
    heads = list(HEAD.finditer(text))
    if not heads:
        raise EvidenceError("perfquery names no port, expected `# Port counters: Lid 1 port 1`")
    found: list[PortCounters] = []
    for head, end in zip(heads, [*(each.start() for each in heads[1:]), len(text)], strict=True):
        counters = dict(_COUNTER.findall(text[head.end() : end]))
        if not LAST & counters.keys():
            raise EvidenceError(f"perfquery: the counters of {head[0][2:60]} are not whole; was it cut short?")
        name = f"lid {head['lid']} port {head['port']}" if head["lid"] else head[0].partition(": ")[2][:60]
        found.append(PortCounters(name, {each: int(counters[each]) for each in sorted(BAD & counters.keys())}))
    return tuple(found)
