"""What happened to a node, from its history and its results, as one list: the newest first, cut into pages.

Two lines of one moment have an order of their own, so that a page goes on exactly where the one before it ended.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from fleet_runner.core.lifecycle.runs import Entry, Stored
from fleet_runner.core.lifecycle.states import State

PAGE = 200
"""Lines of a page, at most."""

HISTORY, FINDINGS = 0, 1
"""Where a line is from; of one moment the history comes first."""

FINDING = "finding"
"""The kind of a line that a check's result tells."""

MACHINES = frozenset({"runner", "boot service", "netbox", "signals", "db restore"})
"""Who acts and is no person; behind `signals` stands by which way they came, "signals:redfish"."""


class Filter(NamedTuple):
    """What a person may narrow the list to: kinds of the history, whether findings belong to it, or only people."""

    label: str
    kinds: tuple[str, ...] = ()
    findings: bool = False
    people: bool = False


EVERYTHING = Filter("Everything", findings=True)

FILTERS: Mapping[str, Filter] = {
    "": EVERYTHING,
    "moves": Filter("Moves", ("transition",)),
    "findings": Filter("Findings", ("alarm", "attempt"), findings=True),
    "runs": Filter("Runs", ("run",)),
    "conditions": Filter("Conditions", ("condition",)),
    "requests": Filter("Requests", ("intent",)),
    "tickets": Filter("Tickets", ("ticket", "case")),
    "boots": Filter("Boots", ("boot",)),
    "firmware": Filter("Firmware", ("firmware",)),
    "people": Filter("People", people=True),
}
"""Filters by the word that a page's address has for them."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line. `state` and `to` are a transition's, `result` a finding's; `seen` counts findings said as one.

    `source` and `id` tell it from all others; `first` is when the oldest of those was seen.
    """

    at: float
    source: int
    id: int
    kind: str
    sentence: str
    by: str
    state: State | None = None
    to: State | None = None
    result: int | None = None
    check: str = ""
    seen: int = 1
    first: float = 0.0


class Cursor(NamedTuple):
    """The line behind which a page begins."""

    at: float
    source: int
    id: int

    def __str__(self) -> str:
        return f"{self.at!r}_{self.source}_{self.id}"

    def below(self, source: int) -> int | None:
        """Return the id below which lines of a source and of this moment are still to come; None: all, 0: none."""
        if source == self.source:
            return self.id
        return 0 if source < self.source else None


class Shown(NamedTuple):
    """A page: its lines, and where the next one begins, None where this is the last."""

    lines: tuple[Line, ...]
    older: Cursor | None


def cursor(text: str) -> Cursor | None:
    """Return the cursor that a page's address has; None for none, or what is no cursor."""
    at, _, rest = text.partition("_")
    source, _, number = rest.partition("_")
    if not (source in {"0", "1"} and number.isascii() and number.isdigit() and len(number) <= len(str(2**62))):
        return None
    try:
        moment = float(at)
    except ValueError:
        return None
    return Cursor(moment, int(source), int(number)) if math.isfinite(moment) else None


def of_entry(entry: Entry) -> Line:
    """Return a line of the history."""
    return Line(entry.at, HISTORY, entry.id, entry.kind, entry.sentence, entry.by, entry.state, entry.to)


def of_result(stored: Stored) -> Line:
    """Return what a result found, as one line."""
    said = "; ".join(finding.message for finding in stored.result.findings) or stored.result.message
    check = stored.result.check
    return Line(
        stored.at, FINDINGS, stored.id, FINDING, said, stored.stage.value, result=stored.id, check=check
    )  # fmt: skip


def shown(lines: Iterable[Line], limit: int = PAGE) -> Shown:
    """Return the newest lines as a page: the same finding is said once, with how often it was seen on this page."""
    ordered = sorted(lines, key=lambda line: (-line.at, line.source, -line.id))
    kept, more = ordered[:limit], ordered[limit:]
    last = kept[-1] if more else None
    return Shown(_once(kept), None if last is None else Cursor(last.at, last.source, last.id))


def _once(lines: Sequence[Line]) -> tuple[Line, ...]:
    found: dict[tuple[object, ...], Line] = {}
    for line in lines:
        key = (line.check, line.sentence) if line.source == FINDINGS else (line.source, line.id)
        newest = found.get(key)
        found[key] = line if newest is None else replace(newest, seen=newest.seen + 1, first=line.at)
    return tuple(found.values())
