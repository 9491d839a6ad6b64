"""`ibdiagnet2.lst` of ibdiagnet, and opensm's `opensm-subnet.lst`: a line for each port that has a far end.

A line has both ends between braces, port numbers and LIDs in base 16, and then the width, the state and the speed in
Gb/s of a lane: `{ CA Ports:01 SystemGUID:… {gpu-01 mlx5_0} LID:000A PN:01 } { SW … } PHY=4x LOG=ACT SPD=100`. Each
link is told from both of its ends, which tells a whole file from one that was cut.
"""

import re
from collections.abc import Sequence

from fleet_runner.core.checks.parsers import discovery
from fleet_runner.core.checks.parsers.discovery import (
    Discovery,
    FabricLink,
    FabricPort,
    Form,
    LldpEnds,
    guid,
    joined,
)

TOOL = "ibdiagnet2.lst"

BEGINS = re.compile(r"\n[ \t]*\{[ \t]*(?:CA|SW|R[Tt])(?:-SM)?[ \t]+Ports:", re.ASCII)
"""How a line begins."""

SPEEDS = {
    "2.5": "SDR",
    "5": "DDR",
    "10": "QDR",
    "FDR10": "FDR10",
    "14": "FDR",
    "25": "EDR",
    "50": "HDR",
    "100": "NDR",
    "200": "XDR",
}
"""What ibdiagnet calls the speed of a lane, in Gb/s, and what ibnetdiscover does."""

_DOWN = "DWN"

_HEX = r"(?:0x)?([0-9a-fA-F]{1,16})"
_END = (
    rf"\{{[ \t]*(CA|SW|R[Tt])(?:-SM)?[ \t]+Ports:[0-9a-fA-F]{{1,4}}[ \t]+SystemGUID:(?:0x)?[0-9a-fA-F]{{1,16}}[ \t]+"
    rf"NodeGUID:{_HEX}[ \t]+PortGUID:{_HEX}[ \t]+VenID:\w{{1,16}}[ \t]+DevID:\w{{1,16}}[ \t]+Rev:\w{{1,16}}[ \t]+"
    rf"(?:\{{([^\n]{{0,128}}?)\}}[ \t]+)?LID:[0-9a-fA-F]{{1,8}}[ \t]+PN:([0-9a-fA-F]{{1,2}})[ \t]*\}}"
)
_LINE = re.compile(
    rf"\n[ \t]*{_END}[ \t]*{_END}[ \t]*PHY=(\S{{1,8}})[ \t]+LOG=(\S{{1,8}})[ \t]+SPD=(\S{{1,8}})[ \t\r]*$",
    re.MULTILINE | re.ASCII,
)
_FORM = Form(
    TOOL,
    (_LINE,),
    re.compile(r"\n[ \t]*(?:#[^\n]*)?\r?$", re.MULTILINE),
    re.compile(r"GUID:|PN:|LOG=|[{}]"),
    ("{",),
)


def parse(text: str) -> Discovery:
    """Return what it tells; EvidenceError where it holds nothing of a fabric at all."""
    found: list[tuple[str, ...]] = _LINE.findall("\n" + text)
    up = [row for row in found if row[11] != _DOWN]

    def links(rows: Sequence[int], _: Sequence[int] = ()) -> list[FabricLink]:
        return [_link(up[row]) for row in rows]

    near, far = [_key(row[:5]) for row in up], [_key(row[5:10]) for row in up]
    return joined(text, _FORM, LldpEnds(near, far, links, links, len(found)))


def whole(found: Discovery) -> Discovery:
    """Return a discovery that was read to its end."""
    return discovery.whole(found, TOOL)


def _key(end: Sequence[str]) -> str:
    """Name an end by its node and its port's number: all ports of a switch have one GUID."""
    return f"{int(end[4], 16)} {guid(end[1])}"


def _link(row: tuple[str, ...]) -> FabricLink:
    width = row[10].lower().removesuffix("x")
    rate = int(width) if width.isdecimal() else 0
    return FabricLink(_port(row[:5]), _port(row[5:10]), rate, SPEEDS.get(row[12], ""))


def _port(end: Sequence[str]) -> FabricPort:
    kind, node, own, name, number = end
    return FabricPort(name.strip(), int(number, 16), kind.upper(), guid(node if kind == "SW" else own))
