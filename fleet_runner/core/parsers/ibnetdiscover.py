"""`ibnetdiscover`, plain (the netlist form) and with -p (a line per port end).

Real captures lose tabs, come with CRLF, without blank lines between records, with GUIDs without leading zeros, and
cut short. Every line that looks like a record and cannot be read is reported; comments and headers are passed over.
One pattern runs over the whole text, since a large fabric has a line for each of some hundred thousand port ends.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fleet_runner.core.errors import EvidenceError
from fleet_runner.core.parsers.discovery import Discovery, FabricLink, FabricPort

GUID_DIGITS = 16

_BY_PORT = re.compile(r"^[ \t]*(?:CA|SW|RT)[ \t]+\d", re.MULTILINE | re.ASCII)
# A node writes its own name: whatever stands in it, 64 bytes as a rule, must not make reading a line dear.
_PORT_LINE = re.compile(
    r"^[ \t]*(CA|SW|RT)[ \t]+\d+[ \t]+(\d{1,3})[ \t]+0x([0-9a-fA-F]{1,16})[ \t]+(\d{1,2}|\?+)x?[ \t]+(\S{1,16})"
    r"(?:[ \t]+-[ \t]+(CA|SW|RT)[ \t]+\d+[ \t]+(\d{1,3})[ \t]+0x([0-9a-fA-F]{1,16})"
    r"[ \t]+\([ \t]*'([^\n]{0,128})'[ \t]+-[ \t]+'([^\n]{0,128})'[ \t]*\)|[ \t]+'[^\n]*')[ \t\r]*$",
    re.MULTILINE | re.ASCII,
)
_RECORD_LINE = re.compile(
    r"^[ \t]*(?:(Switch|Ca|Rt)[ \t]*\d{1,4}[ \t]*\"([SHR])-([0-9a-fA-F]{1,16})\"[ \t]*#[ \t]*\"([^\n]*)\"[^\n\"]*$"
    r"|\[(\d{1,3})\](?:\[ext \d{1,3}\])?[ \t]*(?:\(([0-9a-fA-F]{1,16})\))?[ \t]*"
    r"\"([SHR])-([0-9a-fA-F]{1,16})\"\[(\d{1,3})\](?:\[ext \d{1,3}\])?[ \t]*(?:\(([0-9a-fA-F]{1,16})\))?([^\n]*)$)",
    re.MULTILINE | re.ASCII,
)
_HEADER = re.compile(
    r"^[ \t]*(?:#[^\n]*|(?:vendid|devid|sysimgguid|switchguid|caguid|rtguid)=[^\n]*)?\r?$", re.MULTILINE
)
_FAR_NAME = re.compile(r"\"([^\n]*)\"")
_RATE = re.compile(r"(\d{1,2})x([A-Z]{1,8}\d{0,3})$", re.ASCII)
_KINDS = {"S": "SW", "H": "CA", "R": "RT"}


class _Told(NamedTuple):
    """What was read: each link's ends as the text wrote them, so that its other telling is known by them alone."""

    links: list[FabricLink]
    lonely: list[FabricLink]


def parse(text: str) -> Discovery:
    """Read either form; EvidenceError where it holds nothing of a fabric at all."""
    by_port = _BY_PORT.search(text) is not None
    pattern = _PORT_LINE if by_port else _RECORD_LINE
    found: list[tuple[str, ...]] = pattern.findall(text)
    unread = () if _every_line(text, len(found)) else tuple(_unread(text, pattern))
    links, lonely = _by_port(found) if by_port else _by_record(found)
    if not links and unread:
        number, line = unread[0]
        raise EvidenceError(f"ibnetdiscover line {number}: expected a record of a fabric, found {line[:80]!r}")
    if not links:
        raise EvidenceError("ibnetdiscover saw no link at all: is there a fabric, and may this user ask it?")
    return Discovery(tuple(links), tuple(lonely), unread)


def whole(discovery: Discovery) -> Discovery:
    """Return a discovery that was read to its end, since what is absent from half of one says nothing."""
    if discovery.unread:
        number, line = discovery.unread[0]
        raise EvidenceError(f"ibnetdiscover line {number} cannot be read: {line[:80]!r}; was it cut short?")
    if discovery.lonely:
        count, near = len(discovery.lonely), discovery.lonely[0].a
        raise EvidenceError(
            f"ibnetdiscover told {count} link{'s' if count > 1 else ''} from one end only, the first at "
            f"{near.name!r} port {near.port}, expected both ends; the capture is not whole, read the fabric again"
        )
    return discovery


def _every_line(text: str, found: int) -> bool:
    """Whether all lines were found but comments, headers and empty ones."""
    lines = text.count("\n") + (not text.endswith("\n"))
    return found == lines or found + len(_HEADER.findall(text)) == text.count("\n") + 1


def _unread(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not pattern.match(line) and not _HEADER.match(line):
            yield number, line.strip()


def _by_port(found: list[tuple[str, ...]]) -> _Told:
    links: list[FabricLink] = []
    told: dict[tuple[str, str, str, str], FabricLink] = {}
    for kind, port, guid, width, speed, far_kind, far_port, far_guid, name, far_name in found:
        if far_kind and told.pop((far_guid, far_port, guid, port), None) is None:
            near, far = _end(name, port, kind, guid), _end(far_name, far_port, far_kind, far_guid)
            joined = FabricLink(near, far, int(width) if width.isdecimal() else 0, speed)
            told[guid, port, far_guid, far_port] = joined
            links.append(joined)
    return _settled(links, told.values())


def _by_record(found: list[tuple[str, ...]]) -> _Told:
    """Give each port line the record it stands in, and its far end the name of that end's own record."""
    nodes = {row[1] + row[2]: _node(row[1], row[2]) for row in found if row[0]}
    names = {nodes[row[1] + row[2]]: row[3] for row in found if row[0]}
    links: list[FabricLink] = []
    told: dict[tuple[str, str, str, str], FabricLink] = {}
    rates: dict[str, tuple[int, str]] = {}
    mine = ""
    for kind, letter, digits, _, port, guid, far_letter, far_digits, far_port, far_guid, rest in found:
        if kind:
            mine = letter + digits
            continue
        if not mine:
            raise EvidenceError(f"ibnetdiscover: port {port} stands before any record; the capture has no beginning")
        theirs = far_letter + far_digits
        if told.pop((theirs, far_port, mine, port), None) is None:
            node, far_node = nodes[mine], nodes.get(theirs) or _node(far_letter, far_digits)
            far_name = names.get(far_node) or _commented(rest)
            word = rest.rstrip().rpartition(" ")[2]
            joined = FabricLink(
                _record_end(names[node], port, node, guid),
                _record_end(far_name, far_port, far_node, far_guid),
                *(rates.get(word) or rates.setdefault(word, _rate(word))),
            )
            told[mine, port, theirs, far_port] = joined
            links.append(joined)
    return _settled(links, told.values())


def _settled(links: list[FabricLink], lonely: Iterable[FabricLink]) -> _Told:
    """Join tellings that wrote the same GUIDs otherwise, and name what only one end told of."""
    alone: dict[tuple[str, int, str, int], FabricLink] = {}
    twice: set[FabricLink] = set()
    for each in lonely:
        if alone.pop((each.b.guid, each.b.port, each.a.guid, each.a.port), None) is None:
            alone[each.a.guid, each.a.port, each.b.guid, each.b.port] = each
        else:
            twice.add(each)
    return _Told([each for each in links if each not in twice] if twice else links, list(alone.values()))


def _record_end(name: str, port: str, node: str, guid: str) -> FabricPort:
    return FabricPort(name, int(port), _KINDS[node[0]], _guid(guid) if guid else node[1:])


def _node(letter: str, digits: str) -> str:
    return letter + _guid(digits)


def _commented(rest: str) -> str:
    """A far end whose own record is missing is named by the line's comment."""
    found = _FAR_NAME.search(rest)
    return found[1] if found else ""


def _rate(word: str) -> tuple[int, str]:
    found = _RATE.search(word)
    return (int(found[1]), found[2]) if found else (0, "")


def _end(name: str, port: str, kind: str, guid: str) -> FabricPort:
    return FabricPort(name, int(port), kind, _guid(guid))


def _guid(digits: str) -> str:
    return digits.lower().rjust(GUID_DIGITS, "0")
