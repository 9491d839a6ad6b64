"""`ibqueryerrors`: the error counters of every port of a fabric that has any, at most one line a port.

It exits with 0 whatever happened: without a subnet manager it prints nothing, and queries without an answer are only
counted at the end of its summary. So nothing is taken from a report without its last line, or whose lines are not as
many as its summary says.
"""

import re
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError

GUID_DIGITS = 16

SYMBOL_LIMIT = 65_535
"""Where PortCounters:SymbolErrorCounter stops: it has 16 bits (InfiniBand Architecture, volume 1, PortCounters)."""

DOWNED_LIMIT = 255
"""Where PortCounters:LinkDownedCounter stops: it has 8 bits (likewise)."""

_PORT = re.compile(
    r"[ \t]*GUID 0x([0-9a-fA-F]{1,16}) port (\d{1,3}|ALL):"
    r"((?: \[\w{1,64} == \d{1,20}(?: \([^)\]]{0,32}\))?\]){1,64})[ \t]*",
    re.ASCII,
)
_COUNTER = re.compile(r"\[(\w+) == (\d+)", re.ASCII)
_NODE = re.compile(r"[ \t]*Errors for (?:0x[0-9a-fA-F]{1,16} )?\".*\"[ \t]*", re.ASCII)
_OTHER = re.compile(r"[ \t]*|##.*|[ \t]+Link info:.*", re.ASCII)
_SUMMARY = re.compile(
    r"^## Summary: (\d{1,9}) nodes checked, (\d{1,9}) bad nodes found[ \t\r]*\n"
    r"##[ \t]+(\d{1,9}) ports checked, (\d{1,9}) ports have errors beyond threshold[ \t\r]*$",
    re.MULTILINE | re.ASCII,
)
_FAILURES = re.compile(r"^##[ \t]+(\d{1,9}) PMA query failures[ \t\r]*$", re.MULTILINE | re.ASCII)
_END = re.compile(r"^## Suppressed:[^\n]*\n\s*\Z", re.MULTILINE | re.ASCII)


class PortErrors(NamedTuple):
    """What one port has counted since its counters were cleared. `guid` is the port's, 16 lower-case digits."""

    guid: str
    port: int
    symbol: int
    downed: int


class Report(NamedTuple):
    """Every port that counted an error; of `checked` ports, `unread` queries had no answer."""

    ports: tuple[PortErrors, ...]
    checked: int
    unread: int


def parse(text: str) -> Report:
    """Read the report; EvidenceError for one that is not whole, and where no port answered at all."""
    if not text.strip():
        raise EvidenceError(
            "ibqueryerrors printed nothing, as it does without a subnet manager; expected a summary: is one running?"
        )
    ports: list[PortErrors] = []
    nodes = lines = 0
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.removesuffix("\r")
        if found := _PORT.fullmatch(line):
            if found[2] != "ALL":  # a switch's sum over all of its ports says nothing that they do not
                ports.append(_port(found))
                lines += 1
        elif _NODE.fullmatch(line):
            nodes += 1
        elif not _OTHER.fullmatch(line):
            raise EvidenceError(f"ibqueryerrors line {number} cannot be read: {line.strip()[:80]!r}")
    checked, unread = _summed(text, nodes, lines)
    if len({(each.guid, each.port) for each in ports}) != lines:
        raise EvidenceError("ibqueryerrors describes one port twice, expected a line for each; read the fabric again")
    return Report(tuple(ports), checked, unread)


def _port(found: re.Match[str]) -> PortErrors:
    counted = dict(_COUNTER.findall(found[3]))
    symbol, downed = (int(counted.get(name, 0)) for name in ("SymbolErrorCounter", "LinkDownedCounter"))
    return PortErrors(found[1].lower().rjust(GUID_DIGITS, "0"), int(found[2]), symbol, downed)


def _summed(text: str, nodes: int, lines: int) -> tuple[int, int]:
    """Return how many ports were asked and how many queries failed, if the report holds what its summary says."""
    summaries = _SUMMARY.findall(text)
    if len(summaries) != 1 or not _END.search(text):
        raise EvidenceError(
            f"ibqueryerrors: found {len(summaries)} summaries, expected one and the report's end behind it;"
            " was it cut short?"
        )
    _, bad_nodes, checked, bad_ports = (int(number) for number in summaries[0])
    if (bad_nodes, bad_ports) != (nodes, lines):
        raise EvidenceError(
            f"ibqueryerrors: found {lines} ports of {nodes} nodes, expected the {bad_ports} of {bad_nodes} that its"
            " summary counts; lines are missing, read the fabric again"
        )
    unread = sum(int(count) for count in _FAILURES.findall(text))
    if unread >= checked:
        raise EvidenceError(
            f"ibqueryerrors had no answer from the {checked} ports it asked: have they addresses? A subnet manager"
            " gives them; see that one is running"
        )
    return checked, unread
