"""`ibnetdiscover`, plain (the netlist form) and with -p (a line per port end).

Real captures lose tabs, come with CRLF, without blank lines between records, with GUIDs without leading zeros, and
cut short. Every line that looks like a record and cannot be read is reported; comments and headers are passed over.
With -p a port without a far end may be down or up: its rate does not tell, since one that is down may keep its last.
Patterns run over the whole text, since a large fabric has a line for each of some hundred thousand port ends.
"""

import re
from collections.abc import Sequence

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import discovery
from fleet_runner.core.checks.parsers.discovery import (
    AGGREGATION_NODE,
    Discovery,
    FabricLink,
    FabricPort,
    Form,
    LldpEnds,
    Rate,
    cables,
    guid,
    joined,
)

TOOL = "ibnetdiscover"

BY_PORT = re.compile(r"\n[ \t]*(?:CA|SW|RT)[ \t]+\d", re.ASCII)
PLAIN = re.compile(r"\n[ \t]*(?:(?:Switch|Ca|Rt)[ \t]*\d{1,4}[ \t]*\"[SHR]-|\[\d{1,3}\].{0,40}\"[SHR]-)", re.ASCII)
"""How a line of each form begins."""

# A node writes its own name: whatever stands in it, 64 bytes as a rule, must not make reading a line dear.
_PORT_LINE = re.compile(
    r"\n[ \t]*(CA|SW|RT)[ \t]+\d+[ \t]+(\d{1,3}[ \t]+0x[0-9a-fA-F]{1,16})[ \t]+((?:\d{1,2}|\?+)x?[ \t]+\S{1,16})"
    r"(?:[ \t]+-[ \t]+(CA|SW|RT)[ \t]+\d+[ \t]+(\d{1,3}[ \t]+0x[0-9a-fA-F]{1,16})"
    r"[ \t]+\([ \t]*'([^\n]{0,128}' - '[^\n]{0,128})'[ \t]*\)|[ \t]+'[^\n]*')[ \t\r]*$",
    re.MULTILINE | re.ASCII,
)
RECORD = re.compile(
    r"\n[ \t]*(?:Switch|Ca|Rt)[ \t]*\d{1,4}[ \t]*\"([SHR])-([0-9a-fA-F]{1,16})\"[ \t]*#[ \t]*\"([^\n]*)\"[^\n\"]*$",
    re.MULTILINE | re.ASCII,
)
_ROW = re.compile(
    r"\n[ \t]*\[(\d{1,3})\](?:\[ext \d{1,3}\])?[ \t]*(?:\(([0-9a-fA-F]{1,16})\))?[ \t]*"
    r"\"([SHR]-[0-9a-fA-F]{1,16}\"\[\d{1,3})\](?:\[ext \d{1,3}\])?[ \t]*(?:\(([0-9a-fA-F]{1,16})\))?([^\n]*)",
    re.ASCII,
)
_HEADER = re.compile(
    r"\n[ \t]*(?:#[^\n]*|(?:vendid|devid|sysimgguid|switchguid|caguid|rtguid)=[^\n]*|Chassis \d+[^\n]*)?\r?$",
    re.MULTILINE | re.ASCII,
)
_FAR_NAME = re.compile(r"\"([^\n]*)\"")
_RATE = re.compile(r"(\d{1,2})x[ \t]*([A-Z]{1,8}\d{0,3})(?: s=\d+ w=\d+ v=\d+)?[ \t\r]*$", re.ASCII)
KINDS = {"S": "SW", "H": "CA", "R": "RT"}
"""What each letter before a GUID means."""

_GUID = r"[0-9a-fA-F]{12,16}(?![0-9a-fA-F])"
_LINES = Form(
    TOOL,
    (_PORT_LINE,),
    _HEADER,
    re.compile(rf"0x{_GUID}| - (?:CA|SW|RT)[ \t]|\"[SHR]-"),
    ("CA ", "SW ", "RT "),
)
_RECORDS = Form(
    TOOL,
    (RECORD, _ROW),
    _HEADER,
    re.compile(rf"\"[SHR]-|^\[\d*(?:\]|$)|\"\[\d|[(-]{_GUID}|guid="),
    ("Switch", "Ca\t", "Ca ", "Rt\t", "Rt ", "vendid=", "devid="),
)


def parse(text: str) -> Discovery:
    """Read either form; EvidenceError where it holds nothing of a fabric at all."""
    return (by_columns(text) if len(text) >= discovery.LARGE else None) or by_line(text)


def by_line(text: str) -> Discovery:
    """Read either form, as `parse` does."""
    after = "\n" + text
    if BY_PORT.search(after):
        return joined(text, _LINES, _by_port(after))
    return joined(text, _RECORDS, _by_record(after))


def by_columns(text: str) -> Discovery | None:
    """Read records that are all spelled as the tool does, and fit together; None where there may be others."""
    from fleet_runner.core.checks.parsers import ibnetdiscover_columns  # noqa: PLC0415  numpy, for large fabrics alone

    links = ibnetdiscover_columns.links(text)
    if links is None:
        return None
    if any(AGGREGATION_NODE in face.name for face in links.faces):
        return Discovery(tuple(cables(list(links), text)), (), ())
    return Discovery(links, (), ())


def whole(found: Discovery) -> Discovery:
    """Return a discovery that was read to its end, since what is absent from half of one says nothing."""
    return discovery.whole(found, TOOL)


def _by_port(text: str) -> LldpEnds:
    """Both ends stand in each of a link's two lines, so that one of them is enough."""
    found: list[tuple[str, ...]] = _PORT_LINE.findall(text)
    up = [row for row in found if row[3]]

    def alone(rows: Sequence[int]) -> list[FabricLink]:
        rates = {words: _rate(words) for words in {up[row][2] for row in rows}}
        links: list[FabricLink] = []
        for kind, end, words, far_kind, far_end, names in map(up.__getitem__, rows):
            port, _, digits = end.partition("0x")
            far_port, _, far_digits = far_end.partition("0x")
            name, _, far_name = names.rpartition("' - '")
            near = FabricPort(name.strip(), int(port), kind, guid(digits))
            far = FabricPort(far_name.strip(), int(far_port), far_kind, guid(far_digits))
            links.append(FabricLink(near, far, *rates[words]))
        return links

    return LldpEnds([row[1] for row in up], [row[4] for row in up], lambda rows, _: alone(rows), alone, len(found))


def _by_record(text: str) -> LldpEnds:
    """Give each row the record it stands in; a far end without a record is named by the row's comment."""
    before, *pieces = RECORD.split(text)
    if stray := _ROW.search(before):
        raise EvidenceError(f"{TOOL}: port {stray[1]} stands before any record; the capture has no beginning")
    near: list[str] = []
    found: list[tuple[str, ...]] = []
    records: list[tuple[str, str, str]] = []
    for letter, digits, name, below in zip(*(pieces[at::4] for at in range(4)), strict=True):
        mine = _ROW.findall(below)
        found += mine
        near += [f'{letter}-{digits}"[{row[0]}' for row in mine]
        records += [(name.strip(), KINDS[letter], guid(digits))] * len(mine)

    def ports(rows: Sequence[int]) -> list[FabricPort]:
        told = ((*records[row], *found[row][:2]) for row in rows)
        return [FabricPort(name, int(port), kind, guid(own) if own else node) for name, kind, node, port, own in told]

    def links(rows: Sequence[int], others: Sequence[int]) -> list[FabricLink]:
        return _links(ports(rows), ports(others), [found[row][4] for row in rows])

    def alone(rows: Sequence[int]) -> list[FabricLink]:
        return _links(ports(rows), [_far(*found[row][2:]) for row in rows], [found[row][4] for row in rows])

    return LldpEnds(near, [row[2] for row in found], links, alone, len(found) + len(pieces) // 4)


def _links(near: list[FabricPort], far: list[FabricPort], rests: list[str]) -> list[FabricLink]:
    words = [rest.rpartition('"')[2] for rest in rests]
    rates = {each: _rate(each) for each in set(words)}
    return [FabricLink(a, b, *rates[each]) for a, b, each in zip(near, far, words, strict=True)]


def _far(end: str, own: str, rest: str) -> FabricPort:
    node, _, number = end.partition('"[')
    commented = _FAR_NAME.search(rest)
    name = commented[1].strip() if commented else ""
    return FabricPort(name, int(number), KINDS[node[0]], guid(own or node[2:]))


def _rate(words: str) -> Rate:
    found = _RATE.search(words)
    return (int(found[1]), found[2]) if found else (0, "")
