"""The ports that NVIDIA's UFM knows: `GET /ufmRest/resources/ports` as JSON, each with the name of its peer.

A link is told twice, from both ends. Each port has its number, what is printed beside it (`dname`) and the
description of its node; who is at its other end is told by `peer`, the name of another port of the list.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import ufm_links
from fleet_runner.core.checks.parsers.discovery import Discovery
from fleet_runner.core.checks.parsers.json_text import json_value, objects

TOOL = "UFM's ports"

JSON = re.compile(r"\A\s*\[\s*\{[^{}]{0,6000}?\"peer(?:_node_guid|_port_dname|_node_name)?\"[ \t]*:", re.ASCII)
"""How the list begins."""

_SIDES = ("source", "destination")
_UNJOINED = frozenset({"", "n/a", "none"})


def parse(text: str) -> Discovery:
    """Return the links; EvidenceError where only one end of a link is in the list, or a port cannot be read."""
    return ufm_links.joined(_records(objects(json_value(text, TOOL), TOOL)), text)


def _records(ports: list[dict[str, Any]]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield each link once, as UFM's list of links tells it."""
    named = {name: each for each in ports if (name := _word(each, "name"))}
    done: set[str] = set()
    for name, port in named.items():
        peer = _word(port, "peer")
        if peer.lower() in _UNJOINED or name in done:
            continue
        if peer not in named or _word(named[peer], "peer") != name:
            raise EvidenceError(
                f"{TOOL}: {name[:40]} is joined to {peer[:40]}, of which the list does not say so, expected both ends"
                " of each link; read the ports of all systems again"
            )
        done |= {name, peer}
        record = {
            "name": f"{name}:{peer}",
            "width": _word(port, "active_width"),
            "speed": _word(port, "active_speed"),
            "logicalstate": _word(port, "logical_state"),
        }
        for side, end in zip(_SIDES, (port, named[peer]), strict=True):
            record |= {
                f"{side}guid": _word(end, "systemID"),
                f"{side}port": _word(end, "number"),
                f"{side}portdname": _word(end, "dname"),
                f"{side}portnodedescription": _word(end, "node_description"),
            }
        yield f"port {name}", record


def _word(port: Mapping[str, Any], key: str) -> str:
    value = port.get(key)
    return value.strip() if isinstance(value, str) else str(value) if isinstance(value, int) else ""
