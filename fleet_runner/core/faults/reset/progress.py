"""What came of a reset or a restart, as the play hands it to the check: plain JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fleet_runner.core.checks.parsers.json_text import json_object, objects
from fleet_runner.core.checks.verdicts import Remedy

READ = "reset_progress"

MOST = 50
"""Entries of one list that are read; a node has fewer services, and may say more."""

LONGEST = 300


@dataclass(frozen=True, slots=True)
class Progress:
    """What was ordered, and what the node's own log says became of it.

    `trouble` says why nothing was done, `check` that nothing was to be. `holders` are processes that have a GPU open.
    `rc` and `said` are of the command that did it, None where it was not begun; `units` are the services that were
    restarted, or stopped for the reset, with systemd's word for how they are. `again`: it had been done before.
    """

    remedy: Remedy
    because: str = ""
    gpus: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    check: bool = False
    trouble: str = ""
    holders: tuple[str, ...] = ()
    rc: int | None = None
    said: str = ""
    units: tuple[tuple[str, str], ...] = ()
    again: bool = False


def to_json(
    order: Mapping[str, Any], *, check: bool, trouble: str = "", report: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return plain JSON types: the order (`Order.to_json`), and the log of the module fleet_reset."""
    return {"order": dict(order), "check": check, "trouble": trouble, "report": dict(report or {})}


def parse(text: str) -> Progress:
    """Read what `to_json` wrote; EvidenceError for anything else."""
    found = json_object(text, READ)
    order, report = (_mapping(found.get(name)) for name in ("order", "report"))
    commands = objects(report.get("commands") or [], READ)
    last = commands[-1] if commands else {}
    rc = last.get("rc")
    return Progress(
        remedy=Remedy.RESTART if order.get("remedy") == Remedy.RESTART else Remedy.RESET,
        because=_words(order.get("because")),
        gpus=_texts(order.get("gpus")),
        gone=_texts(order.get("gone")),
        check=found.get("check") is True,
        trouble=_words(found.get("trouble") or report.get("error")),
        holders=_texts(report.get("holders")),
        rc=rc if isinstance(rc, int) else None,
        said=_words(last.get("output")),
        units=_units(report.get("units")),
        again=report.get("again") is True,
    )


def _units(value: Any) -> tuple[tuple[str, str], ...]:
    return tuple((name[:LONGEST], _words(state)) for name, state in list(_mapping(value).items())[:MOST])


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(_words(each) for each in value[:MOST]) if isinstance(value, list) else ()


def _words(value: Any) -> str:
    return " ".join(str(value or "").split())[:LONGEST]
