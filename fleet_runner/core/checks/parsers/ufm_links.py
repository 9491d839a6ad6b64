"""The links that NVIDIA's UFM knows: `GET /ufmRest/resources/links` as JSON, or a table of links exported as CSV.

A link is told once, as a source and a destination. Of each end stand there a port's number, what is printed beside it
(`dname`: "HCA-1/1", "sw5p2"), the node's description, and a GUID: of the whole system, which several adapters of a
server may share, so that an adapter's own is taken from the link's name (`GUID_PORT:GUID_PORT`) alone. Descriptions
of switches end in the port (`leaf-1:sw5p2`). CSV has the same under titles as in JSON, or in words ("Source Port"),
which differ from version to version: what an end and its columns may be called is a table below.
"""

import csv
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import discovery
from fleet_runner.core.checks.parsers.discovery import AGGREGATION_NODE, Discovery, FabricLink, FabricPort, guid
from fleet_runner.core.checks.parsers.json_text import json_value

TOOL = "UFM's links"

JSON = re.compile(r"\A\s*\[\s*\{[^{}]{0,4000}?\"(?:source|destination)_(?:guid|port)\w{0,30}\"[ \t]*:", re.ASCII)
CSV = re.compile(
    r"\A\s*(?![\[{\s])"
    r"(?=[^\n]{0,2000}(?:source[ _]?\w|\b(?:src|local)[ ._]{0,2}(?:node|system|device|host|port|guid)))"
    r"(?=[^\n]{0,2000}(?:(?:destination|dest|peer)[ _]?\w"
    r"|\b(?:dst|remote|target)[ ._]{0,2}(?:node|system|device|host|port|guid)))"
    r"[^\n,;\t]{0,200}[,;\t]",
    re.ASCII | re.IGNORECASE,
)
"""How each begins."""

_SIDES = (("source", "src", "local"), ("destination", "dest", "dst", "peer", "remote", "target"))
_FIELDS = {
    "guid": ("guid", "nodeguid", "systemguid", "deviceguid"),
    "port": ("port", "portnumber", "portnum", "portno"),
    "label": ("portdname", "portlabel", "portname", "portdisplayname", "portalias"),
    "name": (
        *("portnodedescription", "nodedescription", "portnodedesc", "nodedesc", "description"),
        *("systemname", "system", "nodename", "node", "devicename", "device", "hostname", "host"),
    ),
    "own": ("portname", "portguid"),
}
"""What each is called after its side ("source_port_node_description", "Source Port"), the likeliest first."""

_READ = {
    "name",
    *(f"{word}{title}" for side in _SIDES for word in side for each in _FIELDS.values() for title in each),
}
"""What makes another link of a link, if it is cut."""

_STATES = ("state", "linkstate", "logicalstate", "physicalstate", "status")
_DOWN = ("down", "disabled", "inactive", "polling")

_PLAIN = re.compile(r"[^0-9a-z]")
_NUMBER = re.compile(r"(?:HCA-\d{1,3}/)?(\d{1,3})", re.ASCII)
_GUID = re.compile(r"(?:0x)?([0-9a-fA-F]{16})", re.ASCII)
_PORT = re.compile(r"(?:0x)?([0-9a-fA-F]{16})_(\d{1,3})", re.ASCII)
_LABEL = re.compile(r"(?:sw\d{1,3}p\d{1,3}|FNM\d{0,2}|(?:[ALSU]?\d{1,3}/){0,3}[ALSU]?\d{1,3})", re.ASCII)
"""What follows a switch's name after a colon: "19", "sw5p2", "1/5/2", "L5/U1/3", "A2/58"."""

_ADAPTER = re.compile(rf" (?:mlx|HCA|ib)\w|{AGGREGATION_NODE}")

_WIDTH = re.compile(r"(?:IB_)?(\d{1,2})x", re.ASCII | re.IGNORECASE)
_SPEED = re.compile(r"(?:IB_)?([SDQEFHNX]DR(?:10)?)", re.ASCII | re.IGNORECASE)


def parse(text: str) -> Discovery:
    """Return the links; EvidenceError names the record that cannot be read."""
    return joined(_records(text), text)


def joined(records: Iterable[tuple[str, Mapping[str, str]]], text: str) -> Discovery:
    """Return the links that records tell, each with where it stands, by plain titles; EvidenceError likewise."""
    found = discovery.cables([told for where, record in records if (told := _link(where, record))], text)
    links: list[FabricLink] = []
    seen: dict[FabricPort, FabricPort] = {}
    for each in found:
        if seen.get(each.a) == each.b and seen.get(each.b) == each.a:
            continue
        for near, far in ((each.a, each.b), (each.b, each.a)):
            if near in seen:
                raise EvidenceError(
                    f"{TOOL}: {discovery.said(near)} is listed twice, joined to {discovery.said(seen[near])} and to "
                    f"{discovery.said(far)}; expected each port once: are these two captures in one?"
                )
            seen[near] = far
        links.append(each)
    if not links:
        raise EvidenceError(f"{TOOL} hold no link at all: is there a fabric, and does this UFM manage it?")
    identified = all(_GUID.fullmatch(end.guid) for each in links for end in each[:2])
    return Discovery(tuple(links), (), (), identified=identified)


def whole(found: Discovery) -> Discovery:
    """Return the discovery: JSON that can be read has its end, and a table has no end to miss."""
    return found


def _records(text: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield where each record stands, and what it tells by plain titles."""
    if JSON.search(text):
        for number, record in enumerate(json_value(text, TOOL), start=1):
            if not isinstance(record, dict):
                raise EvidenceError(f"{TOOL}: link {number} is {json.dumps(record)[:60]}, expected an object")
            yield f"link {number}", {_plain(key): _word(value) for key, value in record.items()}
        return
    yield from _rows(text)


def _rows(text: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the rows of a table. One whose last cell may have been cut is refused."""
    lines = text.lstrip().replace("\r", "").split("\n")
    delimiter = max(",;\t", key=lines[0].count)
    try:
        first, *rest = (row for row in csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise EvidenceError(f"{TOOL}: the table cannot be read ({error}); was it cut short?") from error
    titles = [_plain(title) for title in first]
    _check(titles, first)
    for number, row in enumerate(rest, start=2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) < len(titles):
            raise EvidenceError(
                f"{TOOL} row {number}: found {len(row)} cells, expected {len(titles)}; was it cut short?"
            )
        yield f"row {number}", {title: cell.strip() for title, cell in zip(titles, row, strict=False)}
    if rest and lines[-1] and not lines[-1].endswith('"') and titles[-1] in _READ:
        raise EvidenceError(
            f"{TOOL}: the table ends within a row, {lines[-1][:80]!r}, expected the end of a line; was it cut short?"
        )


def _check(titles: Collection[str], first: Sequence[str]) -> None:
    """Refuse a table of which the titles do not say what describes each end's node, and which column is its port."""
    for side in _SIDES:
        for words, what in ((_FIELDS["name"], "its node"), (_FIELDS["port"] + _FIELDS["label"], "its port")):
            if not any(f"{word}{title}" in titles for word in side for title in words):
                named, end = ", ".join(map(str.strip, first)), side[0].capitalize()
                raise EvidenceError(
                    f"{TOOL} row 1: found the titles {named[:200]!r}, expected one for {what} at the end that is "
                    f"called {end} (or {', '.join(side[1:])}): {end} and one of {', '.join(words)}; rename the column"
                )


def _link(where: str, record: Mapping[str, str]) -> FabricLink | None:
    """Return a record's link; None for one that is down."""
    if any(record.get(title, "").lower().startswith(_DOWN) for title in _STATES):
        return None
    source, destination = ({name: _first(record, side, name) for name in _FIELDS} for side in _SIDES)
    owned = _owned(record.get("name", ""), source, destination)
    ends = [_end(where, told, own) for told, own in zip((source, destination), owned, strict=True)]
    width = _WIDTH.fullmatch(record.get("width", "") or record.get("activewidth", ""))
    speed = _SPEED.fullmatch(record.get("speed", "") or record.get("activespeed", ""))
    return FabricLink(ends[0], ends[1], int(width[1]) if width else 0, speed[1].upper() if speed else "")


def _first(record: Mapping[str, str], side: Iterable[str], name: str) -> str:
    return next((told for word in side for title in _FIELDS[name] if (told := record.get(f"{word}{title}", ""))), "")


def _owned(name: str, source: Mapping[str, str], destination: Mapping[str, str]) -> tuple[str, str]:
    """Return the ports' own GUIDs that a link's name tells, in whichever order it has them; "" where it does not."""
    found = [_PORT.fullmatch(part) for part in name.split(":")]
    if len(found) != 2 or not (found[0] and found[1]):  # noqa: PLR2004  a link has two ends
        return "", ""
    (one, first), (other, second) = ((guid(each[1]), each[2]) for each in found if each)
    here, there = ((_number(told), told["guid"].lower()) for told in (source, destination))
    straight, crossed = (first, second) == (here[0], there[0]), (second, first) == (here[0], there[0])
    if straight and crossed:
        straight, crossed = one == here[1] or other == there[1], other == here[1] or one == there[1]
    if straight == crossed:
        return "", ""
    return (one, other) if straight else (other, one)


def _number(told: Mapping[str, str]) -> str:
    """Return the number of a port; "" where none is told."""
    found = _NUMBER.fullmatch(told["port"]) or _NUMBER.fullmatch(told["label"])
    return str(int(found[1])) if found else ""


def _end(where: str, told: Mapping[str, str], own: str) -> FabricPort:
    """Return an end. An adapter without a GUID of its own gets one made up: its system's may be another adapter's."""
    name, number = told["name"], _number(told)
    if not name or not number:
        raise EvidenceError(
            f"{TOOL}: {where} has an end with the description {name[:60]!r} and the port {told['port'][:20]!r}, "
            f"expected the description of its node and the number of its port; does this UFM report "
            f"source_port_node_description?"
        )
    head, colon, tail = name.rpartition(":")
    label = told["label"] or told["port"]
    adapter = label.startswith("HCA-") or _ADAPTER.search(name) is not None
    switch = not adapter and (name.startswith("MF0;") or any(map(_LABEL.fullmatch, (tail if colon else "", label))))
    named = _PORT.fullmatch(told["own"]) or _GUID.fullmatch(told["own"])
    known = guid(named[1]) if named else own
    system = _GUID.fullmatch(told["guid"])
    if not known and system:
        known = guid(system[1]) if switch else f"{guid(system[1])}/{label}"
    if switch:
        bare = head if colon and (tail == label or _LABEL.fullmatch(tail)) else name
        return FabricPort(bare, int(number), "SW", known)
    return FabricPort(f"{head} {tail}" if colon and " " not in name else name, int(number), "CA", known)


def _plain(title: str) -> str:
    return _PLAIN.sub("", title.lower())


def _word(value: Any) -> str:
    return value.strip() if isinstance(value, str) else str(value) if isinstance(value, int) else ""
