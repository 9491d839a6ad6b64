"""Cisco IOS XR: `show lldp neighbors detail`, a record of lines for each neighbour; the last line counts them.

What a neighbour says of itself stands in the same text. A record that somebody wrote into a description makes one
more than the switch counts, and then nothing of the text is believed.
"""

import re

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.lldp import Neighbour
from fleet_runner.core.checks.parsers.neighbours.heard import Heard, neighbour, word

BEGINS = re.compile(r"^[ \t]*(?:Local Interface:[ \t]*\S|Total entries displayed:[ \t]*0[ \t]*$)", re.MULTILINE)
"""How each record begins, and what is printed where there is none."""

_LOCAL = re.compile(r"^Local Interface:", re.MULTILINE)
_RECORD = re.compile(
    r"^Local Interface:([^\n]{1,80})\n"
    r"(?:Parent Interface:[^\n]{0,80}\n)?"
    r"Chassis id:[^\n]{0,300}\n"
    r"Port id:([^\n]{0,300})\n"
    r"Port Description:([^\n]{0,300})\n"
    r"System Name:([^\n]{0,300})$",
    re.MULTILINE,
)
_TOTAL = re.compile(r"^Total entries displayed:[ \t]*(\d{1,6})$", re.MULTILINE | re.ASCII)


def read(text: str) -> Heard:
    """Return what a switch hears; EvidenceError where records are missing, or are more than the switch counts."""
    plain = "\n".join(line.strip() for line in text.split("\n"))
    total = max(_TOTAL.finditer(plain), key=lambda found: found.start(), default=None)
    if total is None or _LOCAL.search(plain, total.end()):
        raise EvidenceError(
            "show lldp neighbors detail has no line Total entries displayed at its end; was it cut short?"
        )
    rows = [_neighbour(*each.groups()) for each in _RECORD.finditer(plain, 0, total.start())]
    count = len(_LOCAL.findall(plain))
    if not len(rows) == count == int(total[1]):
        raise EvidenceError(
            f"show lldp neighbors detail: found {count} records, {len(rows)} of them whole, expected {total[1]} as "
            "the switch counts; was it cut short?"
        )
    return Heard("", tuple(rows))


def _neighbour(interface: str, port: str, description: str, system: str) -> Neighbour:
    return neighbour(word(interface), word(system), word(port), word(description))
