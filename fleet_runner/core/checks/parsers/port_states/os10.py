"""Dell OS10: `show interface | display-xml`, one document for each port, one behind the other.

What is observed stands below `bulk`; what stands below `data` is configured. It tells whether PFC is on at all, and
not for which priorities: that is left open.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.port_states.port import SwitchPort, whole

FEC = (("cl74", "baser"), ("cl91", "rs"), ("cl108", "rs"))
"""How OS10 names encodings, after clauses of IEEE 802.3; of other words ("off", "not-supported") nothing follows."""

_BEGIN = re.compile(r"<\?xml[^>]{0,100}\?>")
_HOSTILE = re.compile(r"<!ENTITY|<!DOCTYPE", re.IGNORECASE)


def read(said: Mapping[str, str]) -> dict[str, SwitchPort]:
    """Read it; a port that is down tells neither its speed nor its FEC."""
    found: dict[str, SwitchPort] = {}
    for port in _ports(said["interfaces"]):
        name, up = port.findtext("name", "").strip(), port.findtext("oper-status", "").strip() == "up"
        bits = whole(port.findtext("speed", "").strip()) or 0
        word = port.findtext("fec", "").strip().lower()
        if name.startswith("ethernet"):
            found[name] = SwitchPort(
                mbps=(bits // 1_000_000 or None) if up else None,
                mtu=whole(port.findtext("mtu", "").strip()),
                fec=next((fec for begin, fec in FEC if up and word.startswith(begin)), ""),
            )
    if not found:
        raise EvidenceError("show interface | display-xml names no port, expected <bulk><data><interface>")
    return found


def _ports(text: str) -> Iterator[ET.Element]:
    if _HOSTILE.search(text):
        raise EvidenceError("show interface | display-xml defines entities, which a switch never does; look at it")
    for document in _BEGIN.split(text)[1:]:
        try:
            root = ET.fromstring(document.strip())  # noqa: S314  entities and document types are refused above
        except (ET.ParseError, ValueError) as error:
            raise EvidenceError(
                f"show interface | display-xml cannot be read ({error}); was it cut short?"
            ) from error
        yield from root.iterfind("bulk/data/interface")
