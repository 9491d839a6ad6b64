"""`ibdiagnet2.net_dump` of ibdiagnet: a heading for each switch, and a row for each of its ports below.

Cells stand between colons, under titles; versions have other columns. `#` is what is printed beside the port
("1/5/2", "sw5p2"), `IB#` its number, `N#` what is printed beside the far port: its number is found below that port's
own switch. Adapters have no heading, so that only links between switches are told from both ends, and an adapter's
GUID may be its node's, which is its first port's. A file that was cut lacks switches that others name as neighbours,
or the last ports of its last switch. Where a row is missing among others, the far end may tell of the link; else
nobody knows what is plugged there.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import discovery
from fleet_runner.core.checks.parsers.discovery import (
    Discovery,
    FabricLink,
    FabricPort,
    Line,
    LldpEnds,
    guid,
    paired,
)
from fleet_runner.core.checks.parsers.ibdiagnet_lst import SPEEDS

TOOL = "ibdiagnet2.net_dump"

_HEADING = r"[ \t]*\"([^\n]{0,128})\",[ \t]*[^\n,\"]{0,60},[ \t]*0x([0-9a-fA-F]{1,16}),[ \t]*LID[ \t]+\d{1,6}"

BEGINS = re.compile(rf"\n{_HEADING}[ \t\r]*$", re.MULTILINE | re.ASCII)
"""How a switch begins."""

_SWITCH = re.compile(rf"{_HEADING}[ \t\r]*$", re.ASCII)
_TITLES = ("#", "IB#", "Sta", "PhysSta", "LWA", "LSA", "Neighbor Guid", "N#", "Neighbor Description")
_MAY_BE = re.compile(r"[ \t]:|:[ \t]|0x[0-9a-fA-F]|\"|^[ \t]*(?:\d|sw\d)", re.ASCII)
_NUMBER = re.compile(r"\d{1,3}", re.ASCII)
_GUID = re.compile(r"0x([0-9a-fA-F]{1,16})", re.ASCII)
_WIDTH = re.compile(r"(\d{1,2})x", re.ASCII)

_MANAGED = re.compile(r"MF0;|[^\n]*:[A-Za-z0-9_-]{1,40}/U\d{1,2}$", re.ASCII)
"""How managed switches describe themselves: MF0;leaf-1:MQM9700/U1."""

_ADAPTER_PORTS = 8
"""More ports has no adapter."""

_FEWEST_PORTS = 36
"""Ports of a switch, at least, as far back as FDR."""

_LISTED = 7 / 8
"""The share of the numbers up to a switch's last port that have a row, at least, of a switch that lists its ports:
where somebody left out most of those that are down, a number without a row says nothing."""

_DOWN = "DOWN"
_UP = "LINKUP"


@dataclass(frozen=True, slots=True)
class _Row:
    """A port as it is written, with its line's number; `guid` is "" where it has no far end."""

    line: int
    label: str
    port: int
    up: bool
    width: int
    speed: str
    guid: str
    far: str
    far_name: str


@dataclass(frozen=True, slots=True)
class _Node:
    """A switch and its ports."""

    name: str
    guid: str
    rows: list[_Row] = field(default_factory=list[_Row])


def parse(text: str) -> Discovery:
    """Return what it tells; EvidenceError where it holds nothing of a fabric at all, or was cut between lines."""
    nodes, unread, skipped = _nodes(text)
    models = _labels(nodes)
    labels = {
        node.guid: {**models.get(_model(node), {}), **{row.label: row.port for row in node.rows}} for node in nodes
    }
    lost = _lost(nodes)
    told: list[FabricLink] = []
    silent: list[FabricPort] = []
    for node in nodes:
        for row in node.rows:
            near = FabricPort(node.name, row.port, "SW", node.guid)
            if row.guid:
                far = _far(row, labels.get(row.guid))
                told.append(FabricLink(near, far, row.width, row.speed))
                alone = row.guid not in labels or _key(far) in lost
                told += [FabricLink(far, near, row.width, row.speed)] if alone else []
            elif row.up:
                silent.append(near)
    if told and not unread:
        _refuse_cut(nodes)
    known = {_key(each.a) for each in told}
    silent += [port for key, port in lost.items() if key not in known]

    def links(rows: Sequence[int], _: Sequence[int] = ()) -> list[FabricLink]:
        return [told[row] for row in rows]

    here, there = [_key(each.a) for each in told], [_key(each.b) for each in told]
    found = paired(text, TOOL, LldpEnds(here, there, links, links, 0, silent), unread, skipped)
    return replace(found, identified=False, lacks=_lacks(lost, known))


def whole(found: Discovery) -> Discovery:
    """Return a discovery that was read to its end."""
    return discovery.whole(found, TOOL)


def _nodes(text: str) -> tuple[list[_Node], tuple[Line, ...], tuple[Line, ...]]:
    """Return the switches, the lines that may be records and cannot be read, and those that can be none."""
    nodes: list[_Node] = []
    columns: Mapping[str, int] = {}
    unread: list[Line] = []
    skipped: list[Line] = []
    for number, line in enumerate(text.split("\n"), start=1):
        told = line.strip()
        if not told or (told.startswith("#") and not told.removeprefix("#").lstrip().startswith(":")):
            continue
        if found := _SWITCH.match(line):
            nodes.append(_Node(found[1].strip(), guid(found[2])))
        elif told.startswith("#"):
            columns = _columns(number, told)
        elif nodes and (row := _row(number, told, columns)):
            nodes[-1].rows.append(row)
        else:
            (unread if _MAY_BE.search(line) else skipped).append((number, told))
    return nodes, tuple(unread), tuple(skipped)


def _columns(number: int, told: str) -> Mapping[str, int]:
    found = {title.strip().lower(): at for at, title in enumerate(told.split(":"))}
    missing = [title for title in _TITLES if title.lower() not in found]
    if missing:
        raise EvidenceError(
            f"{TOOL} line {number}: found no column {missing[0]!r} in {told[:80]!r}; was it cut short?"
        )
    return {title: found[title.lower()] for title in _TITLES}


def _row(number: int, told: str, columns: Mapping[str, int]) -> _Row | None:
    """Return a row; None for one without all of its cells. A description may hold colons, and stands last."""
    cells = [cell.strip() for cell in told.split(":", max(columns.values(), default=0))]
    if not columns or len(cells) <= max(columns.values()):
        return None
    label, port, state, physical, width, speed, far, far_port, name = (cells[columns[title]] for title in _TITLES)
    down = state.upper().startswith(_DOWN)
    found = None if down else _GUID.fullmatch(far)
    quoted = len(name) > 1 and name.startswith('"') and name.endswith('"')
    if not _NUMBER.fullmatch(port) or (found and not quoted):
        return None
    lanes = _WIDTH.fullmatch(width.lower())
    return _Row(
        number,
        label,
        int(port),
        physical.upper().replace(" ", "").replace("_", "") == _UP,
        int(lanes[1]) if lanes else 0,
        SPEEDS.get(speed, ""),
        guid(found[1]) if found else "",
        far_port,
        name[1:-1].strip(),
    )


def _far(row: _Row, labels: Mapping[str, int] | None) -> FabricPort:
    """Return a row's far end. `labels` are the ports of its switch; None for an adapter, which has no heading."""
    number = (labels or {}).get(row.far) or (int(row.far) if _NUMBER.fullmatch(row.far) else 0)
    if labels is None and (number > _ADAPTER_PORTS or _MANAGED.match(row.far_name)):
        raise EvidenceError(
            f"{TOOL} line {row.line}: found a link to {row.far_name[:80]!r} port {row.far[:20]}, expected that "
            f"switch's own ports in the file, too; was it cut short?"
        )
    if not number:
        raise EvidenceError(
            f"{TOOL} line {row.line}: found {row.far[:40]!r} as the port of {row.far_name[:80]!r}, expected its "
            f"number, or a name that stands in that switch's own rows; was it cut short?"
        )
    if labels is not None:
        return FabricPort(row.far_name, number, "SW", row.guid)
    return FabricPort(row.far_name, number, "CA", row.guid if number == 1 else f"{row.guid}/{number}")


def _key(end: FabricPort) -> str:
    return f"{end.port} {end.guid}"


def _labels(nodes: Iterable[_Node]) -> dict[str, dict[str, int]]:
    """Return by model the number of what is printed beside each port, where all switches of it have the same."""
    found: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for node in nodes:
        if model := _model(node):
            for row in node.rows:
                found[model][row.label].add(row.port)
    return {
        model: {label: min(numbers) for label, numbers in labels.items() if len(numbers) == 1}
        for model, labels in found.items()
    }


def _lost(nodes: Sequence[_Node]) -> dict[str, FabricPort]:
    """Return the ports that have no row, of switches that list their ports whether they are up or down."""
    if all(row.up for node in nodes for row in node.rows):
        return {}
    lost: list[FabricPort] = []
    for node in nodes:
        there = {row.port for row in node.rows}
        last = max(there, default=0)
        if last >= _FEWEST_PORTS and len(there) >= _LISTED * last:
            lost += [FabricPort(node.name, port, "SW", node.guid) for port in range(1, last) if port not in there]
    return {_key(port): port for port in lost}


def _lacks(lost: Mapping[str, FabricPort], known: Collection[str]) -> tuple[str, ...]:
    """Say which ports have no row, and what is known of them all the same."""
    if not lost:
        return ()
    count = f"{len(lost)} rows are" if len(lost) > 1 else "1 row is"
    unknown = [port for key, port in lost.items() if key not in known]
    what = (
        f"of {len(unknown)} of these ports nothing is known, the first: {discovery.said(unknown[0])}"
        if unknown
        else ""
    )
    told = what or "the far ends show what is plugged there"
    first = discovery.said(next(iter(lost.values())))
    return (f"{TOOL}: {count} missing among others, the first that of {first}; {told}. Run ibdiagnet again.",)


def _refuse_cut(nodes: Sequence[_Node]) -> None:
    """Refuse a file whose last switch ends before all others of its model, if these list every port, up or down."""
    *others, last = nodes
    wanted = {_listed(node) for node in others if _model(node) == _model(last)}
    ends = max((row.port for row in last.rows), default=0)
    if len(wanted) == 1 and ends < min(wanted):
        raise EvidenceError(
            f"{TOOL}: the last switch, {last.name[:80]!r}, ends with port {ends}, expected {min(wanted)} as of the "
            f"others of its model; was it cut short?"
        )


def _listed(node: _Node) -> int:
    """Return how many ports a switch has that lists them all; 0 for another, as in a file that somebody trimmed."""
    count = len(node.rows)
    return count if count >= _FEWEST_PORTS and [row.port for row in node.rows] == list(range(1, count + 1)) else 0


def _model(node: _Node) -> str:
    return node.name.rpartition(":")[2].partition("/")[0] if ":" in node.name else ""
