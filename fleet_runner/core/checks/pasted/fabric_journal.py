"""Fabric Manager's messages as the journal has them (journalctl, also -o json; systemctl status; syslog)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.answers import about
from fleet_runner.core.checks.catalogue.fabric_manager import KINDS, MISMATCH, PART, Kind
from fleet_runner.core.checks.parsers.kernel_lines import bare, readable
from fleet_runner.core.checks.pasted import lines
from fleet_runner.core.checks.pasted.lines import Line
from fleet_runner.core.checks.pasted.told import Part, Told, by_rules
from fleet_runner.core.checks.verdicts import Remedy

FOUND = re.compile(
    r"(?:nv-fabricmanager|nvidia-fabricmanager-start\.sh)\[\d|\"nv(?:idia)?-fabricma[\w.-]{0,24}\""
    r"|(?:systemd\[\d{1,7}\]: |\"MESSAGE\" ?: ?\")(?:Started|Failed to start) [^\n]{0,80}[Ff]abric ?[Mm]anager"
)
"""That a text has such lines: as people read the journal, or as JSON, where a program's name is cut."""

_PROGRAMS = ("nv-fabricmanage", "nvidia-fabricma")
_UNIT = re.compile(r"(?P<how>Started|Failed to start) [^\n]{0,80}fabric ?manager", re.IGNORECASE)
_LEVEL = re.compile(
    r"\[[A-Z][a-z]{2} +\d{1,2} \d{4} \d\d:\d\d:\d\d\] \[(?P<level>[A-Z]{4,8})\] (?:\[tid \d{1,10}\] )?", re.ASCII
)
_ERRORS = frozenset({"ERROR", "CRITICAL"})

MOST_NODES = 5_000

VERSION = Kind(
    "fabric_manager.version",
    "it has another version than the driver, and does not start: was only one of the two updated?",
    MISMATCH,
    Remedy.REBOOT,
)
DOWN = Kind("fabric_manager.down", "it did not start", re.compile("Failed to start"), Remedy.REBOOT)
NO_NVSWITCH = "fabric_manager.no_nvswitch"
STARTED = "Fabric Manager was started since; if it comes again, it counts"


@dataclass(slots=True)
class _Seen:
    kind: Kind
    first: str
    last: str
    line: str
    count: int = 1


@dataclass(slots=True)
class _Node:
    """What one node said of each kind, those before its last start apart."""

    over: dict[str, _Seen] = field(default_factory=dict[str, _Seen])
    seen: dict[str, _Seen] = field(default_factory=dict[str, _Seen])


def journal(text: str, node: str) -> Part:
    """Judge what Fabric Manager and systemd say of it; a later start ends what was said before."""
    nodes: dict[str, _Node] = {}
    for raw in text.split("\n"):
        if "fabric" not in raw and "Fabric" not in raw:
            continue
        line = lines.read(raw)
        name = line.host or node
        if name in nodes or len(nodes) < MOST_NODES:
            _take(nodes.setdefault(name, _Node()), line)
    told = tuple(each for name, mine in nodes.items() for each in _told(mine, name))
    unsure = tuple(without_nvswitch(name) for name, mine in nodes.items() if NO_NVSWITCH in mine.seen)
    matter = sum(each.count for mine in nodes.values() for seen in (mine.over, mine.seen) for each in seen.values())
    return Part("Fabric Manager's journal", told, unsure, matter=matter)


def without_nvswitch(node: str) -> str:
    """Return what is said where Fabric Manager found no NVSwitch: many machines have none."""
    return (
        f"Fabric Manager on {node} found no NVSwitch: the node has none, and needs no Fabric Manager, or none"
        " answers; lspci -d 10de: tells"
    )


def _take(node: _Node, line: Line) -> None:
    said = line.text.partition("]: ")[2]
    if line.who == "systemd":
        unit = _UNIT.match(said)
        kind = DOWN if unit is not None and unit["how"].startswith("Failed") else None
        if unit is not None and kind is None:
            node.over, node.seen = node.over | node.seen, {}
    else:
        kind = _kind(said) if line.who.startswith(_PROGRAMS) else None
    if kind is None:
        return
    at = readable(bare(line.text)[0])
    known = node.seen.get(kind.code)
    if known is None:
        node.seen[kind.code] = _Seen(kind, at, at, printable(line.text)[:200])
    else:
        known.count, known.last = known.count + 1, at


def _kind(said: str) -> Kind | None:
    """Return which kind of error words are; None for words that are none. Only the log's own form tells a level."""
    level = _LEVEL.match(said)
    if level is not None and level["level"] not in _ERRORS:
        return None
    *known, other = KINDS
    found = next((each for each in (VERSION, *known) if each.words.search(said)), None)
    return found or (other if level is not None else None)


def _told(node: _Node, name: str) -> Iterator[Told]:
    why = node.seen.keys() - {DOWN.code}
    for over, seen in ((STARTED, node.over), ("", node.seen)):
        for code, each in seen.items():
            again = code == NO_NVSWITCH or (code == DOWN.code and (over or why))
            if again:
                continue
            kind = each.kind
            finding = about(name, kind.code, PART)(message=kind.meaning, remedy=kind.remedy, steps=kind.steps)
            yield Told(name, by_rules(finding), each.count, each.first, each.last, each.line, over)
