"""Dell OS10: `show lldp neighbors detail`, a record of lines for each neighbour, with a line of dashes behind it.

What a neighbour says of itself stands in the same text. A record counts if its first lines follow each other as the
switch prints them, which are longer together than any one thing that a neighbour may say (255 octets): so nobody can
write a record of another port into a name or a description. One that is not so is left out.
"""

import re

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.lldp import Neighbour
from fleet_runner.core.checks.parsers.neighbours.heard import Heard, neighbour, word

BEGINS = re.compile(r"^[ \t]*Remote Chassis ID Subtype:", re.MULTILINE)
"""How each record begins."""

_DASHES = re.compile(r"-{60,}$")
_RECORD = re.compile(
    r"Remote Chassis ID Subtype:[^\n]{0,80}\n"
    r"Remote Chassis ID:[^\n]{0,300}\n"
    r"Remote Port Subtype:([^\n]{0,80})\n"
    r"Remote Port ID:([^\n]{0,300})\n"
    r"(?:Remote Port Description:([^\n]{0,300})\n)?"
    r"Local Port ID:([^\n]{1,80})\n"
    r"Locally assigned remote Neighbor Index:[^\n]{0,40}\n"
    r"Remote TTL:[^\n]{0,40}\n"
    r"Information valid for next [^\n]{0,40}\n"
    r"Time since last information change of this neighbor:[^\n]{0,80}\n"
    r"(?:Remote System Name:([^\n]{0,300})\n)?"
)


def read(text: str) -> Heard:
    """Return what a switch hears; EvidenceError where the last record is not whole."""
    records: list[list[str]] = [[]]
    for line in text.split("\n"):
        if _DASHES.match(line.strip()):
            records.append([])
        else:
            records[-1].append(line.strip())
    if any(records[-1]):
        raise EvidenceError("show lldp neighbors detail: no line of dashes ends the last record; was it cut short?")
    found = (_RECORD.match("\n".join([*lines, ""]).lstrip()) for lines in records[:-1])
    return Heard("", tuple(_neighbour(*each.groups("")) for each in found if each))


def _neighbour(kind: str, port: str, description: str, interface: str, system: str) -> Neighbour:
    """The kind of a port's identifier is told in words and as a number: "Local (7)"."""
    return neighbour(word(interface), word(system), word(port), word(description), word(kind))
