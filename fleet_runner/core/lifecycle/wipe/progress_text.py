"""How far a wipe is, as the play hands it to the check and the store keeps it: plain JSON, evidence included."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_object, objects
from fleet_runner.core.lifecycle.wipe.planner import Item, Missing, Next

READ = "wipe_progress"


@dataclass(frozen=True, slots=True)
class Progress:
    """One look at a wipe. `trouble` says why nothing could be decided; `check`: nothing was to be done, only told."""

    check: bool = False
    trouble: str = ""
    records: tuple[Mapping[str, Any], ...] = ()
    missing: tuple[Missing, ...] = ()


def to_json(progress: Progress, seen: Mapping[str, str], reports: Iterable[Any]) -> dict[str, Any]:
    """Return plain JSON types: what follows for each device, and all that was read and logged."""
    return {
        "check": progress.check,
        "trouble": progress.trouble,
        "devices": [dict(each) for each in progress.records],
        "missing": [{"what": each.what, "why": each.why} for each in progress.missing],
        "seen": dict(seen),
        "reports": list(reports),
    }


def parse(text: str) -> Progress:
    """Read what `to_json` wrote; EvidenceError for anything else."""
    found = json_object(text, READ)
    records = tuple(_record(each) for each in objects(found.get("devices"), READ))
    gone = objects(found.get("missing"), READ)
    return Progress(
        check=found.get("check") is True,
        trouble=str(found.get("trouble") or ""),
        records=records,
        missing=tuple(Missing(str(each.get("what")), str(each.get("why"))) for each in gone),
    )


def record(item: Item) -> dict[str, Any]:
    """Return what is kept of one device: who it is, what was done to it, and what proves it."""
    if item.kept is not None:
        return dict(item.kept)
    device, report = item.device, item.report
    commands = report.commands if report else ()
    return {
        "key": device.key,
        "kind": device.kind.value,
        "name": device.name,
        "model": device.model,
        "serial": device.serial,
        "firmware": device.firmware,
        "bytes": device.bytes,
        "next": item.next.value,
        "why": item.why,
        "method": item.method.value if item.method else "",
        "code": item.code,
        "steps": list(item.steps),
        "commands": [" ".join(each.argv) for each in commands],
        "started": report.started if report else None,
        "ended": report.ended if report else None,
    }


def proven(observed: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return the records of devices that were proven erased, by key, from what results of this stay observed."""
    found: dict[str, Mapping[str, Any]] = {}
    for each in observed:
        rows = each.get("devices")
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, Mapping) and row.get("next") == Next.DONE and isinstance(row.get("key"), str):
                found[row["key"]] = row
    return found


def _record(row: Mapping[str, Any]) -> Mapping[str, Any]:
    wrong = [name for name in ("key", "name", "why") if not isinstance(row.get(name), str)]
    if wrong or row.get("next") not in set(Next):
        raise EvidenceError(f"{READ}: found {dict(row)!r:.80}, expected a device with key, name, next and why")
    return row
