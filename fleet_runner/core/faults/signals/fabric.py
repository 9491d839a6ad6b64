"""Lines of UFM's event log and of opensm's log, as files or over syslog: which device of a fabric is not well."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.signals.clock import moment, settled
from fleet_runner.core.faults.signals.kernel import LONGEST, MOST_LINES
from fleet_runner.core.faults.signals.signal import Signal, Source
from fleet_runner.core.inventory.addresses import guid


class Meaning(NamedTuple):
    """What an event begins with, which fault it is, and whether it is over."""

    begins: re.Pattern[str]
    code: str
    ended: bool = False


def _row(begins: str, code: str, *, ended: bool = False) -> Meaning:
    return Meaning(re.compile(begins, re.IGNORECASE), code, ended)


_WHAT = r"(?:port|link|switch|node)? ?(?:was |is |has been )?"

EVENTS = (
    _row(r"link (?:went|is) down", "fabric.link_down"),
    _row(r"link (?:went|is) up", "fabric.link_down", ended=True),
    _row(r"(?:node|computer|host) (?:went|is) down", "fabric.node_down"),
    _row(r"(?:node|computer|host) (?:went|is) up", "fabric.node_down", ended=True),
    _row(r"switch (?:went|is) down", "fabric.switch_down"),
    _row(r"switch (?:went|is) up", "fabric.switch_down", ended=True),
    _row(_WHAT + r"(?:de-?isolated|unisolated)", "fabric.isolated", ended=True),
    _row(_WHAT + "isolated", "fabric.isolated"),
    _row(r"symbol errors?\b", "fabric.symbol_errors"),
    _row(r"(?:high |excessive )?(?:bit error rate|symbol ber|effective ber|raw ber)", "fabric.bit_errors"),
    _row(r"link error recovery|link flap", "fabric.link_flaps"),
)  # fmt: skip
"""Events of UFM by their words, in the order in which they are tried. A look at the fabric decides what follows."""

REMEDY = Remedy.WATCH

_SYSLOG = (
    r"(?:<\d{1,3}>)?(?:1 )?(?:(?:[A-Z][a-z]{2} [ \d]\d [\d:]{8}|\d{4}-\d\d-\d\dT\S{8,30}) "
    r"\S{1,255} [^\s:]{1,64}:? (?:- - - )?)?"
)
_UFM = re.compile(
    _SYSLOG + r"(?:(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?) )?\[\d{1,12}\] \[\d{1,8}\] \w{1,12} "
    r"(?:Site \[[^\]]{0,80}\] )?\[\w{1,40}\] (?P<kind>\w{1,40}) \[(?P<object>.{1,300}?)\]: (?P<event>.{1,300})"
)
_DEVICE = re.compile(r"(?:Computer|Switch|Host|Gateway): (?P<name>[^/\[\]]{1,120})(?:/ (?P<port>[^\[\]]{1,60}))?")
_ENDS = re.compile(r"\b([0-9a-fA-F]{16})_(\d{1,4})\b")
_SM = re.compile(
    _SYSLOG + r"(?P<time>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d) \d{1,6} \[[0-9A-F]{1,16}\] 0x[0-9a-f]{2} -> \w{1,60}: "
    r"(?P<event>.{1,400})"
)
_PORT = re.compile(
    r"Switch 0x[0-9a-f]{1,16} (?P<name>.{1,120}?) port (?P<port>\d{1,4})(?: ?\([^)]{1,20}\))? changed state from "
    r"(?P<before>[A-Z]{2,8}) to (?P<after>[A-Z]{2,8})"
)
_NODE = re.compile(
    r"(?P<what>Removed|Discovered new) port with GUID: ?0x(?P<guid>[0-9a-f]{1,16}) .{0,60}"
    r"of node: ?(?P<name>[^\n]{1,120})"
)
_MANAGED = re.compile(r"MF0;([^:;]{1,80})[:;]")


class FabricEvent(NamedTuple):
    """One thing about one device: its name, the part, the fault, and whether it is over."""

    name: str
    part: str
    code: str
    ended: bool


def read(text: str, heard: float) -> tuple[Signal, ...]:
    """Return what lines tell; those that no row knows tell nothing. EvidenceError for too many lines."""
    if text.count("\n") >= MOST_LINES:
        raise EvidenceError(f"more than {MOST_LINES} lines of a fabric's log in one push; send fewer at a time")
    return tuple(signal for line in text.split("\n") for signal in _line(line[:LONGEST], heard))


def _line(line: str, heard: float) -> Iterator[Signal]:
    found = _UFM.match(line)
    every: Iterable[FabricEvent] = _ufm(found) if found is not None else ()
    if found is None and (found := _SM.match(line)) is not None:
        every = _opensm(found["event"])
    for each in every:
        stamp = found["time"] if found is not None else None
        at = moment(stamp, heard)
        yield Signal(
            node=each.name,
            code=each.code,
            component=each.part,
            at=settled(at, heard),
            source=Source.FABRIC,
            message=printable(found["event"] if found is not None else line)[:300].strip(),
            remedy=REMEDY,
            ended=each.ended,
            key=f"{stamp}/{line:.200}" if stamp and not each.ended else "",
        )


def _ufm(found: re.Match[str]) -> Iterator[FabricEvent]:
    meaning = next((row for row in EVENTS if row.begins.match(found["event"])), None)
    if meaning is None:
        return
    device = _DEVICE.search(found["object"])
    if device is not None:
        yield FabricEvent(_short(device["name"]), _part(device["port"]), meaning.code, meaning.ended)
        return
    for end, port in _ENDS.findall(found["object"]):
        yield FabricEvent(guid(end) or end, _part(port), meaning.code, meaning.ended)


def _opensm(event: str) -> Iterator[FabricEvent]:
    port = _PORT.match(event)
    if port is not None and (down := port["after"] == "DOWN") is not (port["before"] == "DOWN"):
        yield FabricEvent(_short(port["name"]), _part(port["port"]), "fabric.link_down", not down)
    node = _NODE.match(event)
    if node is not None:
        yield FabricEvent(_short(node["name"]), f"port {node['guid']}", "fabric.node_down", node["what"] != "Removed")


def _short(name: str) -> str:
    """Return a device's name of its description: adapters add their own to it ("gpu-01 mlx5_0", "gpu-01 HCA-1")."""
    managed = _MANAGED.match(name)
    return managed[1] if managed else printable(name).split(" ")[0][:120]


def _part(port: str | None) -> str:
    return f"port {printable(port).strip()}"[:80] if port else ""
