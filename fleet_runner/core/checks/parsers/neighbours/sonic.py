"""SONiC: the table of `show lldp table`. Dashes below the titles say where columns are; the last line counts rows."""

import re
from collections.abc import Iterator

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.lldp import Neighbour
from fleet_runner.core.checks.parsers.neighbours.heard import Heard, word

BEGINS = re.compile(r"^[ \t]*LocalPort[ \t]+RemoteDevice[ \t]+RemotePortID\b", re.MULTILINE | re.ASCII)
"""How its titles begin."""

_TITLES = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")
_RULE = re.compile(r"[ \t]*-+(?:[ \t]+-+){2,8}[ \t]*$", re.ASCII)
_END = re.compile(r"[ \t]*-+[ \t]*$", re.ASCII)
_TOTAL = re.compile(r"[ \t]*Total entries displayed:[ \t]*(\d{1,6})[ \t]*$", re.ASCII)


def read(text: str) -> Heard:
    """Return what a switch hears; EvidenceError where rows are missing."""
    lines = text.split("\n")
    titles = next((at for at, line in enumerate(lines) if BEGINS.match(line)), len(lines))
    if titles + 1 >= len(lines) or not _RULE.match(lines[titles + 1]):
        raise EvidenceError(
            f"line {titles + 2}: expected dashes below the titles of show lldp table; was it cut short?"
        )
    spans = [found.span() for found in re.finditer("-+", lines[titles + 1])]
    names = [lines[titles][begin:end].strip() for begin, end in spans]
    if names != [*_TITLES][: len(names)]:
        raise EvidenceError(
            f"line {titles + 1}: found the titles {', '.join(names)[:120]}, expected {', '.join(_TITLES)}"
        )
    rows: list[Neighbour] = []
    for at in range(titles + 2, len(lines)):
        line = lines[at]
        if total := _TOTAL.match(line):
            if int(total[1]) != len(rows):
                raise EvidenceError(
                    f"line {at + 1}: found {len(rows)} rows, expected {total[1]}; was the table cut short?"
                )
            return Heard("", tuple(rows))
        if line.strip() and not _END.match(line):
            rows.append(_row(at + 1, line, spans))
    raise EvidenceError("show lldp table has no line Total entries displayed at its end; was it cut short?")


def _row(number: int, line: str, spans: list[tuple[int, int]]) -> Neighbour:
    """Return a row; the last column may be wider than its dashes."""
    cells = list(_cells(line, spans))
    if any(gap.strip() for gap in _gaps(line, spans)) or not cells[0]:
        raise EvidenceError(
            f"line {number}: found {line.strip()[:80]!r}, expected cells below the titles; copy it anew"
        )
    interface, system, port, _, description = (*cells, "", "")[:5]
    return Neighbour(interface, word(system), word(port), word(description))


def _cells(line: str, spans: list[tuple[int, int]]) -> Iterator[str]:
    for begin, end in spans[:-1]:
        yield line[begin:end].strip()
    yield line[spans[-1][0] :].strip()


def _gaps(line: str, spans: list[tuple[int, int]]) -> Iterator[str]:
    begin = 0
    for first, last in spans:
        yield line[begin:first]
        begin = last
