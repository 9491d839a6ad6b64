"""`ibdiagnet2.db_csv`: sections of comma-separated values between START_NAME and END_NAME, a header first in each.

NODES say what a node is, PORTS a port's GUID and rate, LINKS what is joined: a link in one line as a rule, so that it
is the sections' ends that say that the file is whole. Columns are found by name, since each version of ibutils2 and
ibdiagnet has others, and opensm's smdb.dump has the same sections with fewer; other sections are passed over.
"""

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from operator import itemgetter

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import discovery
from fleet_runner.core.checks.parsers.discovery import AGGREGATION_NODE, Discovery, FabricLink, FabricPort
from fleet_runner.core.checks.parsers.ibdiagnet_planes import PLANES, front_ports

TOOL = "ibdiagnet2.db_csv"

BEGINS = re.compile(r"\nSTART_[A-Z]\w{0,60}[ \t\r]*$", re.MULTILINE | re.ASCII)
"""How a section begins."""

NODES = ("nodedesc", "nodetype", "nodeguid")
PORTS = ("nodeguid", "portnum", "portguid")
STATES = ("linkwidthactv", "linkspeedactv", "portphystate")
LINKS = ("nodeguid1", "portnum1", "nodeguid2", "portnum2")

KINDS = {"1": "CA", "2": "SW", "3": "RT"}
WIDTHS = {"1": 1, "2": 4, "4": 8, "8": 12, "16": 2}
SPEEDS = {
    "1": "SDR",
    "2": "DDR",
    "4": "QDR",
    "256": "FDR",
    "512": "EDR",
    "1024": "HDR",
    "2048": "NDR",
    "4096": "XDR",
    "65536": "FDR10",
}
"""PortInfo's LinkSpeedActive, from 256 on LinkSpeedExtActive (8 bits further up), and the vendor's FDR10."""

UP = "5"
"""PortInfo's PortPhysicalState LinkUp: somebody is at the far end, answering or not."""

_GUID = re.compile(r"0x([0-9a-fA-F]{1,16})", re.ASCII)
_CABLED = re.compile(r"[1-9][0-9]{0,2}", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,3}", re.ASCII)

_UNTOLD = ("", "", "", "")

End = tuple[str, str]
"""A node's GUID and a port's number."""


@dataclass(frozen=True, slots=True)
class _Fabric:
    """What the first two sections told: nodes' names and kinds; ports' GUIDs, rates and states, as written."""

    nodes: dict[str, tuple[str, str]] = field(default_factory=dict)
    ports: dict[End, tuple[str, str, str, str]] = field(default_factory=dict)
    guids: dict[str, str] = field(default_factory=dict)

    def guid(self, word: str, line: int) -> str:
        """Return a GUID with its leading zeros, and keep it in `guids`."""
        found = _GUID.fullmatch(word)
        if not found:
            raise EvidenceError(
                f"{TOOL} line {line}: found {word[:40]!r}, expected a GUID such as 0xfc6a1c0300e70000"
            )
        known = self.guids[word] = discovery.guid(found[1])
        return known

    def port(self, end: End, line: int) -> FabricPort:
        """Return an end of a link."""
        node, number = end
        told = self.nodes.get(node)
        if told is None or not _NUMBER.fullmatch(number):
            raise EvidenceError(
                f"{TOOL} line {line}: found a link of node 0x{node} port {number[:40]}, expected a node that stands "
                f"in NODES; is the file of one run?"
            )
        own = self.ports.get(end, _UNTOLD)[0]
        known = self.guids.get(own) or (self.guid(own, line) if _GUID.fullmatch(own) else node)
        return FabricPort(told[0], int(number), told[1], known)


def parse(text: str) -> Discovery:
    """Return its links; EvidenceError names the line where a section is missing, cut short or cannot be read."""
    fabric = _Fabric()
    for line, (name, kind, node) in _rows(text, "NODES", NODES):
        fabric.nodes[fabric.guid(node, line)] = (name.strip(), KINDS.get(kind.strip(), ""))
    known = fabric.guids.get  # a call less for each of some hundred thousand rows
    for line, (node, number, own, width, speed, state) in _rows(text, "PORTS", PORTS, STATES):
        fabric.ports[known(node) or fabric.guid(node, line), number] = (own, width, speed, state)
    links, ends = _links(text, fabric)
    if not links:
        raise EvidenceError(f"{TOOL} lists no link: is there a fabric, and may this user query it?")
    cables = front_ports(discovery.cables(links, text), text)
    return Discovery(tuple(cables), (), (), tuple(_unanswered(fabric, ends)))


def by_columns(text: str) -> tuple[Discovery, str] | None:
    """Read rows that are all spelled as the tool does, and fit together; None where there may be others.

    Beside what `parse` returns is what the text has besides these rows.
    """
    from fleet_runner.core.checks.parsers import ibdiagnet_columns  # noqa: PLC0415  numpy, for large fabrics alone

    found = ibdiagnet_columns.sections(text)
    if found is None:
        return None
    named = any(AGGREGATION_NODE in face.name for face in found.links.faces)
    plain = not named and PLANES not in found.rest
    links = found.links if plain else tuple(front_ports(discovery.cables(list(found.links), text), text))
    return Discovery(links, (), (), found.unanswered), found.rest


def whole(found: Discovery) -> Discovery:
    """Return the discovery: one that can be read has the ends of its sections."""
    return found


def _unanswered(fabric: _Fabric, ends: Container[End]) -> Iterator[FabricPort]:
    """Yield the ports that are up and stand in no link; a switch's port 0 is the switch itself."""
    for end, (_, _, _, state) in fabric.ports.items():
        if state == UP and end not in ends and end[0] in fabric.nodes and _CABLED.fullmatch(end[1]):
            yield fabric.port(end, 0)


def _links(text: str, fabric: _Fabric) -> tuple[list[FabricLink], Container[End]]:
    """Return the links, and all of their ends."""
    links: list[FabricLink] = []
    told: dict[End, tuple[End, int]] = {}
    known = fabric.guids.get
    for line, (one, number, other, other_number) in _rows(text, "LINKS", LINKS):
        near = known(one) or fabric.guid(one, line), number
        far = known(other) or fabric.guid(other, line), other_number
        joined, first = told.setdefault(near, (far, line))
        back, second = told.setdefault(far, (near, line))
        if joined != far or back != near:
            port, before = (near, first) if joined != far else (far, second)
            raise EvidenceError(
                f"{TOOL} line {line}: {discovery.said(fabric.port(port, line))} has another cable in line {before}; "
                f"expected one a port: are these two captures in one?"
            )
        if first == second == line:
            _, width, speed, _ = fabric.ports.get(near, _UNTOLD)
            rate = WIDTHS.get(width, 0), SPEEDS.get(speed, "")
            links.append(FabricLink(fabric.port(near, line), fabric.port(far, line), *rate))
    return links, told


def _rows(
    text: str, name: str, columns: tuple[str, ...], more: tuple[str, ...] = ()
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield a section's rows, each with its line (counted from 1), and of its cells those of the columns.

    `more` are columns that a version may lack: then their cells are "".
    """
    line, lines = _section(text, name)
    titles = {title.strip().lower(): at for at, title in enumerate(lines[0].split(","))}
    missing = [column for column in columns if column not in titles]
    if missing:
        raise EvidenceError(f"{TOOL} line {line}: section {name} has no column {missing[0]}, found {lines[0][:80]!r}")
    told = [titles[column] for column in (*columns, *more) if column in titles]
    last = max(told) + 1
    pick = itemgetter(*(titles.get(column, last) for column in (*columns, *more)))
    for number, row in enumerate(lines[1:], start=line + 1):
        cells = (_quoted(row) if '"' in row else row.split(",", last))[:last]
        if len(cells) < last:
            raise EvidenceError(
                f"{TOOL} line {number}: found {row[:80]!r}, expected {len(titles)} cells; was it cut short?"
            )
        cells.append("")
        yield number, pick(cells)


def _quoted(row: str) -> list[str]:
    """A node's description is the one quoted cell, and may hold anything: commas and quotes too."""
    before, _, rest = row.partition('"')
    cell, _, after = rest.rpartition('"')
    return [*before.split(",")[:-1], cell, *after.split(",")[1:]]


def _section(text: str, name: str) -> tuple[int, list[str]]:
    """Return a section's lines and the first one's number."""
    after = "\n" + text
    begins = [found for found in BEGINS.finditer(after) if found[0].strip() == f"START_{name}"]
    if not begins:
        raise EvidenceError(
            f"{TOOL}: found no section {name}, expected NODES, PORTS and LINKS; is this the whole file?"
        )
    first, *more = (after.count("\n", 0, found.start() + 1) for found in begins[:2])
    if more:
        raise EvidenceError(f"{TOOL} line {more[0]}: section {name} begins again, after line {first}; expected one")
    begin = begins[0].end()
    end = re.compile(rf"\nEND_{name}[ \t\r]*$", re.MULTILINE).search(after, begin)
    following = BEGINS.search(after, begin)
    if end is None or (following and following.start() < end.start()):
        raise EvidenceError(f"{TOOL} line {first}: section {name} begins here and never ends; was it cut short?")
    lines = after[begin + 1 : end.start()].replace("\r", "").split("\n")
    return first + 1, lines
