"""`iblinkinfo`: a heading for each node and a line for each of its ports, or with -l all of it in each line.

The first form tells no GUID of a far end: the far line is the one with the same LID, port and name. With -l nothing
says what is a switch; a GUID that several ports share is one, since each port of an adapter has its own. "Could be"
remarks are noise: what a link could be is the design's to say.
"""

import re
from collections import Counter
from collections.abc import Sequence

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import discovery
from fleet_runner.core.checks.parsers.discovery import (
    Discovery,
    FabricLink,
    FabricPort,
    Form,
    LldpEnds,
    Rate,
    guid,
    joined,
)

TOOL = "iblinkinfo"

BEGINS = re.compile(
    r"\n[ \t]*(?:Switch:?[ \t]*0x[0-9a-fA-F]|(?:CA|RT|Router):[ \t]"
    r"|(?:0x[0-9a-fA-F]{1,16}[ \t]+)?(?:\"[^\n]{0,128}\"[ \t]+)?\d{1,5}[ \t]+\d{1,3}\[[ \d]{0,4}\][ \t]*==\()",
    re.ASCII,
)
"""How a line of either form begins."""

_HEADING = re.compile(
    r"\n[ \t]*(?:(Switch):?[ \t]*0x([0-9a-fA-F]{1,16})|(CA|RT|Router):)[ \t]+([^\n]{0,128}):[ \t\r]*$",
    re.MULTILINE | re.ASCII,
)
_STATE = r"(\d{1,5})[ \t]+(\d{1,3})\[[ \d]{0,4}\][ \t]*==\(([^\n=]{1,100})==>[ \t]*"
_DOWN = r"\[[ \d]{0,4}\][ \t]*\"\"[^\n]{0,80}|\"Port not available\")[ \t\r]*$"
_PORT = re.compile(
    r"\n[ \t]*(?:0x([0-9a-fA-F]{1,16})[ \t]+)?" + _STATE + r"(?:(\d{1,5})[ \t]+(\d{1,3})\[[ \d]{0,4}\]"
    r"[ \t]*\"([^\n]{0,128})\"[ \t]*\([^\n\"]{0,80}\)|" + _DOWN,
    re.MULTILINE | re.ASCII,
)
_LINE = re.compile(
    r"\n[ \t]*0x([0-9a-fA-F]{1,16})[ \t]*\"([^\n]{0,128})\"[ \t]*" + _STATE + r"(?:0x([0-9a-fA-F]{1,16})[ \t]+\d{1,5}"
    r"[ \t]+(\d{1,3})\[[ \d]{0,4}\][ \t]*\"([^\n]{0,128})\"[ \t]*\([^\n\"]{0,80}\)|" + _DOWN,
    re.MULTILINE | re.ASCII,
)
_BLANK = re.compile(r"\n[ \t\r]*$", re.MULTILINE)
_PIECE = re.compile(r"^[0-9]|\"\"|==|\d\[|\[[ \d]*\][ \t]*[\"=]|0x[0-9a-fA-F]{12,16}(?![0-9a-fA-F])|Could be")
_WORDS = ("Switch", "CA:", "RT:", "Router:", "0x")
_RATE = re.compile(r"[ \t]*(\d{1,2})X[ \t]+(\d{1,3}\.\d{1,5}) Gbps(?:[ \t]*\((FDR10)\))?", re.ASCII)

_SPEEDS = {
    "2.5": "SDR",
    "5.0": "DDR",
    "10.0": "QDR",
    "14.0625": "FDR",
    "25.78125": "EDR",
    "53.125": "HDR",
    "106.25": "NDR",
    "212.5": "XDR",
}
"""What a lane signals, as libibmad prints it, and how ibnetdiscover calls it."""

_UP = "LinkUp"
"""The physical state of a port at whose far end somebody is, answering or not."""

_KINDS = {"Switch": "SW", "CA": "CA", "RT": "RT", "Router": "RT"}


def parse(text: str) -> Discovery:
    """Read either form; EvidenceError where it holds nothing of a fabric at all."""
    after = "\n" + text
    if _HEADING.search(after):
        return joined(text, Form(TOOL, (_HEADING, _PORT), _BLANK, _PIECE, _WORDS), _by_node(after))
    return joined(text, Form(TOOL, (_LINE,), _BLANK, _PIECE, _WORDS), _by_line(after))


def whole(found: Discovery) -> Discovery:
    """Return a discovery that was read to its end; one of switches only tells of adapters from one end."""
    try:
        return discovery.whole(found, TOOL)
    except EvidenceError as error:
        if found.unread or any(each.b.kind == "SW" for each in found.lonely):
            raise
        raise EvidenceError(
            f"{error}; if it was asked for switches only (--switches-only), leave that out"
        ) from error


def _by_node(text: str) -> LldpEnds:
    before, *pieces = _HEADING.split(text)
    if stray := _PORT.search(before):
        raise EvidenceError(f"{TOOL}: port {stray[3]} stands before any heading; the capture has no beginning")
    near: list[str] = []
    found: list[tuple[str, ...]] = []
    nodes: list[tuple[str, str, str]] = []
    unanswered: list[FabricPort] = []
    lines = 0
    for switch, digits, kind, heading, below in zip(*(pieces[at::5] for at in range(5)), strict=True):
        mine = _PORT.findall(below)
        up = [row for row in mine if row[5]]
        name = heading.strip()
        lines += len(mine) + 1
        found += up
        near += [f"{row[1]} {row[2]} {name}" for row in up]
        node = (name, _KINDS[switch or kind], digits or "")
        nodes += [node] * len(up)
        silent = [row for row in mine if not row[5] and _UP in row[3]]
        unanswered += [FabricPort(name, int(row[2]), node[1], guid(row[0] or node[2])) for row in silent]

    if len(set(near)) < len(near) and any(row[1] == "0" for row in found):
        raise EvidenceError(_nameless(near))

    def ports(rows: Sequence[int]) -> list[FabricPort]:
        told = ((*nodes[row], *found[row][:3]) for row in rows)
        return [FabricPort(name, int(port), kind, guid(own or node)) for name, kind, node, own, _, port in told]

    def links(rows: Sequence[int], others: Sequence[int]) -> list[FabricLink]:
        return _links(ports(rows), ports(others), [found[row][3] for row in rows])

    def alone(rows: Sequence[int]) -> list[FabricLink]:
        far = [FabricPort(name.strip(), int(port), "", "") for *_, port, name in map(found.__getitem__, rows)]
        return _links(ports(rows), far, [found[row][3] for row in rows])

    far = [f"{row[4]} {row[5]} {row[6].strip()}" for row in found]
    return LldpEnds(near, far, links, alone, lines, unanswered)


def _nameless(near: list[str]) -> str:
    lid, port, name = next(each for each, count in Counter(near).items() if count > 1).split(" ", 2)
    return (
        f"{TOOL}: two ports are both LID {lid}, {name!r} port {port}, and nothing else distinguishes them; "
        f"expected a fabric with a subnet manager, or {TOOL} -l, which prints GUIDs"
    )


def _by_line(text: str) -> LldpEnds:
    found: list[tuple[str, ...]] = _LINE.findall(text)
    up = [row for row in found if row[5]]
    shared = Counter(row[0] for row in found)
    switches = {digits for digits, ports in shared.items() if ports > 1}

    def alone(rows: Sequence[int]) -> list[FabricLink]:
        told = [up[row] for row in rows]
        near = [_port(digits, name, port, switches) for digits, name, _, port, *_ in told]
        far = [_port(digits, name, port, switches) for *_, digits, port, name in told]
        return _links(near, far, [row[4] for row in told])

    near, far = [f"{row[0]} {row[3]}" for row in up], [f"{row[5]} {row[6]}" for row in up]
    unanswered = [_port(row[0], row[1], row[3], switches) for row in found if not row[5] and _UP in row[4]]
    return LldpEnds(near, far, lambda rows, _: alone(rows), alone, len(found), unanswered)


def _port(digits: str, name: str, port: str, switches: set[str]) -> FabricPort:
    return FabricPort(name.strip(), int(port), "SW" if digits in switches else "CA", guid(digits))


def _links(near: list[FabricPort], far: list[FabricPort], states: list[str]) -> list[FabricLink]:
    rates = {each: _rate(each) for each in set(states)}
    return [FabricLink(a, b, *rates[each]) for a, b, each in zip(near, far, states, strict=True)]


def _rate(state: str) -> Rate:
    found = _RATE.match(state)
    return (int(found[1]), found[3] or _SPEEDS.get(found[2], "")) if found else (0, "")
