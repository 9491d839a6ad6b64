"""CSV for spreadsheets (RFC 4180): no cell that somebody else named can become a formula."""

import csv
import sys
from collections.abc import Iterable, Sequence

from fleet_runner.core.base.printable import printable
from fleet_runner.core.cabling.changes import Changes
from fleet_runner.core.cabling.explain import Fault, Places
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.cabling.plan import Action, Add, Exchange, Move, Record, Remove, Reseat, Restore

FAULTS = (
    "fabric", "fault", "kind", "action", "device", "port", "place", "from", "from_place", "to", "to_place",
    "other_end", "other_end_place", "note", "step", "key", "message",
)  # fmt: skip
"""One row an action: where to stand, the port a plug leaves, the port it goes into, and the end that stays.

They are done in their order. `step` says the same in a sentence; where a fault has more steps, its first row has all.

The fabric is "" where files were judged: they do not say which they are of.
"""

CHANGES = ("change", "device", "port", "other_device", "other_port", "before", "after")

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula (OWASP: CSV injection)."""

Cells = dict[str, str]


def faults(found: Sequence[tuple[str, Fault]], places: Places) -> None:
    """Print one row for each action of each fabric's faults; a fault without any has one row that says so."""
    rows: list[Cells] = []
    for number, (fabric, fault) in enumerate(found, start=1):
        about = {"fabric": fabric, "fault": f"{number}", "kind": fault.kind.value}
        about |= {"key": fault.key, "message": fault.message}
        rows += [{**about, **cells} for cells in _rows(fault, places)] or [about]
    _write(FAULTS, rows)


def changes(found: Changes) -> None:
    """Print one row for each change between two looks."""
    rows = [{"change": "come", **_link(joined)} for joined in found.come]
    rows += [{"change": "gone", **_link(joined)} for joined in found.gone]
    rows += [
        {
            "change": "moved",
            "device": move.stays.device,
            "port": move.stays.interface,
            "before": str(move.source),
            "after": str(move.target),
        }
        for move in found.moved
    ]
    rows += [
        {"change": "rate", **_link(each.link), "before": each.before, "after": each.after} for each in found.rerated
    ]
    rows += [{"change": "new device", "device": device} for device in found.new_devices]
    rows += [{"change": "device gone", "device": device} for device in found.gone_devices]
    _write(CHANGES, rows)


def _link(joined: Link) -> Cells:
    (device, port), (other, far) = joined
    return {"device": device, "port": port, "other_device": other, "other_port": far}


def _rows(fault: Fault, places: Places) -> list[Cells]:
    """Return a row for each thing to do; in a ring of cables one comes out before the first goes in."""
    rows = [_action(action, places) for action in fault.actions]
    last = fault.actions[-1] if fault.actions else None
    if isinstance(last, Move) and len(fault.steps) == len(rows) + 1:
        ends = _port("from", last.source, places) | _port("other_end", last.stays, places)
        rows.insert(0, {"action": "unplug"} | _at(last.source, places) | ends)
    if len(rows) != len(fault.steps):
        return [{**cells, "step": "" if number else " ".join(fault.steps)} for number, cells in enumerate(rows)]
    return [{**cells, "step": step} for cells, step in zip(rows, fault.steps, strict=True)]


def _action(action: Action, places: Places) -> Cells:
    match action:
        case Move(stays, source, target):
            cells = _at(target, places) | _port("from", source, places) | _port("to", target, places)
            cells |= _port("other_end", stays, places)
        case Add(cable):
            cells = _at(cable.a, places) | _port("to", cable.a, places) | _port("other_end", cable.b, places)
        case Remove(cable):
            cells = _at(cable.a, places) | _port("from", cable.a, places) | _port("other_end", cable.b, places)
        case Reseat(cable, rate):
            cells = _at(cable.a, places) | _port("other_end", cable.b, places) | {"note": rate}
        case Restore(what, links):
            cells = {"device": what, "place": places.words.get(what, ""), "note": f"{len(links)} links"}
        case Exchange(devices):
            place = places.words.get(devices[0], "")
            cells = {"device": devices[0], "place": place, "note": ", ".join(devices)}
        case Record(device, interface, known, seen):
            cells = _at(Port(device, interface), places) | {"from": known, "to": seen, "note": "GUID"}
    return {"action": type(action).__name__.lower(), **cells}


def _at(port: Port, places: Places) -> Cells:
    return {"device": port.device, "port": port.interface, "place": places.words.get(port.device, "")}


def _port(column: str, port: Port, places: Places) -> Cells:
    return {column: str(port), f"{column}_place": places.words.get(port.device, "")}


def _write(columns: Sequence[str], rows: Iterable[Cells]) -> None:
    """Lines end with CR LF, as the RFC has them."""
    writer = csv.writer(sys.stdout, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([_safe(row.get(column, "")) for column in columns] for row in rows)


def _safe(cell: str) -> str:
    shown = printable(cell)
    return f"'{shown}" if shown.startswith(FORMULA) else shown
