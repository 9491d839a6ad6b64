"""`ibdiagnet2.db_csv`, section PORT_HIERARCHY_INFO: which ports of ASICs are planes of one port of the switch.

A port of an XDR switch (an APort) has a port in each of several planes. Which number that one has in its ASIC is the
vendor's affair: the number of the APort is what cables are counted by.
"""

import csv
import re
from collections.abc import Iterator

from fleet_runner.core.checks.parsers import discovery
from fleet_runner.core.checks.parsers.discovery import FabricLink, FabricPort

PLANES = "START_PORT_HIERARCHY_INFO"
"""What stands in a text that tells of planes."""

_SECTION = re.compile(
    r"\nSTART_PORT_HIERARCHY_INFO[ \t\r]*\n(.*?)\nEND_PORT_HIERARCHY_INFO[ \t\r]*$", re.MULTILINE | re.DOTALL
)
_GUID = re.compile(r"(?:0x)?([0-9a-fA-F]{1,16})", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,4}", re.ASCII)
_NEEDED = ("portnum", "aport", "numofplanes")
_GUIDS = ("nodeguid", "portguid")


def front_ports(links: list[FabricLink], text: str) -> list[FabricLink]:
    """Return the links with switches' ports by the number that they have in front, where the text tells of planes."""
    found = _SECTION.search(text) if PLANES in text else None
    numbers = dict(_numbers(found[1])) if found else {}
    if not numbers:
        return links
    return [each._replace(a=_front(each.a, numbers), b=_front(each.b, numbers)) for each in links]


def _front(end: FabricPort, numbers: dict[tuple[str, int], int]) -> FabricPort:
    return end._replace(port=numbers.get((end.guid, end.port), end.port)) if end.kind == "SW" else end


def _numbers(section: str) -> Iterator[tuple[tuple[str, int], int]]:
    """Yield the number of an APort by GUID and number of each of its ports; what cannot be read is left out."""
    first, *lines = section.replace("\r", "").split("\n")
    titles = [title.strip().lower() for title in first.split(",")]
    if not {*_NEEDED} <= {*titles}:
        return
    for line in lines:
        cells = next(csv.reader([line]), [])
        told = {title: cell.strip() for title, cell in zip(titles, cells, strict=False)}
        port, aport, planes = (_NUMBER.fullmatch(told.get(title, "")) for title in _NEEDED)
        if port and aport and planes and int(planes[0]) > 1:
            for title in _GUIDS:
                if guid := _GUID.fullmatch(told.get(title, "")):
                    yield (discovery.guid(guid[1]), int(port[0])), int(aport[0])
