"""What a wipe did, as a text that can be handed on with the node: one paragraph a device, and what proves it."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.runs import Stored
from fleet_runner.core.lifecycle.wipe.planner import Next

VERDICTS = {
    Verdict.PASS: "Everything on it is erased.",
    Verdict.FAIL: "NOT everything on it is erased.",
    Verdict.UNKNOWN: "It is NOT known that everything on it is erased.",
}


STATES: dict[str, str] = {Next.DONE: "erased", Next.LEAVE: "not touched"}
"""What became of a device; of any other it is not known that it is erased."""


def text(stored: Stored, place: str = "") -> str:
    """Return the report of a result of the check `wiped`."""
    result = stored.result
    head = [
        f"Wipe of {stored.node}{f', {place}' if place else ''}",
        f"Result {stored.id} of {_stamp(stored.at)}: {VERDICTS[result.verdict]}",
    ]
    rows = result.observed.get("devices")
    told = [_device(row) for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    missing = [finding.message for finding in result.findings if finding.code == "wipe.missing"]
    evidence = [f"Evidence (SHA-256): {digest}" for digest in result.evidence]
    return "\n\n".join(("\n".join(head), *told, *missing, *evidence)) + "\n"


def _device(row: Mapping[str, Any]) -> str:
    state = STATES.get(str(row.get("next")), "NOT ERASED")
    lines = [f"{row.get('name', '?')}: {state}"]
    if row.get("kind") == "disk":
        lines.append(f"  firmware {row.get('firmware') or 'unknown'}, {_bytes(row.get('bytes'))}")
    if row.get("method"):
        lines.append(f"  method    {row['method']}")
    if row.get("started") and row.get("ended"):
        lines.append(f"  from      {_stamp(row['started'])} to {_stamp(row['ended'])}, by the node's clock")
    lines += [f"  command   {command}" for command in _texts(row.get("commands"))]
    lines.append(f"  {'proof' if state == 'erased' else 'because':9} {row.get('why', '')}")
    return "\n".join(lines)


def _texts(value: object) -> Sequence[str]:
    return [str(each) for each in value] if isinstance(value, list) else ()


def _bytes(value: object) -> str:
    return f"{value / 1e9:,.1f} GB" if isinstance(value, int) else "of unknown size"


def _stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
