"""Heat as a table that is coloured: metrics by slots, or racks by slots; each cell has its number, too.

What it is drawn from was kept as JSON, maybe by another version: what is missing there is not shown.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from fleet_runner.core.base.natural_order import natural
from fleet_runner.core.base.plural import counted

STEPS = (1.0, 2.0, 3.5)
"""Spreads from the middle at which a colour begins; below the first there is none."""

MOST = 16
"""Slots that one table has columns for."""


class Cell(NamedTuple):
    """A cell: how it is coloured ("plain", or "warm1" to "cool3"), and how far from the middle in words."""

    kind: str
    words: str
    title: str = ""


class Row(NamedTuple):
    """A line: what it is of, and a cell for each column, None where nothing was told."""

    name: str
    cells: tuple[Cell | None, ...]


class Table(NamedTuple):
    """The metrics of one kind of part, or the racks of one metric."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def cell(apart: float | None, worse: str = "both", title: str = "") -> Cell | None:
    """Return the cell of so many spreads: warm on the side that is worse, cool on the other."""
    if apart is None:
        return None
    step = sum(abs(apart) >= each for each in STEPS)
    bad = apart < 0 if worse == "low" else apart > 0
    kind = f"{'warm' if bad else 'cool'}{step}" if step else "plain"
    words = f"{apart:+.1f}".replace("-", "\N{MINUS SIGN}")
    return Cell(kind, "0" if words[1:] == "0.0" else words, title)


def by_slot(metrics: Iterable[Mapping[str, Any]]) -> tuple[Table, ...]:
    """Return a table for each kind of part that has slots: its metrics by them."""
    parts: dict[str, list[Mapping[str, Any]]] = {}
    for each in metrics:
        if len(each.get("slots") or ()) > 1:
            parts.setdefault(str(each.get("part", "")), []).append(each)
    return tuple(_parts(part, rows) for part, rows in sorted(parts.items()))


def _parts(part: str, metrics: Sequence[Mapping[str, Any]]) -> Table:
    slots = sorted({str(slot["name"]) for each in metrics for slot in each["slots"]}, key=natural)[:MOST]
    rows = [_metric(each, slots) for each in sorted(metrics, key=lambda each: str(each["metric"]))]
    return Table(part, tuple(slots), tuple(rows))


def _metric(each: Mapping[str, Any], slots: Sequence[str]) -> Row:
    unit, worse = str(each.get("unit", "")), str(each.get("worse", "both"))
    told = {str(slot["name"]): slot for slot in each["slots"]}
    cells = tuple(
        cell(
            told[slot]["apart"],
            worse,
            f"{told[slot]['middle']:g} {unit}, {counted(told[slot]['parts'], 'part')}".strip(),
        )
        if slot in told
        else None
        for slot in slots
    )
    return Row(str(each["metric"]), cells)


def by_place(metric: Mapping[str, Any]) -> Table:
    """Return the racks or nodes of a metric by its slots; those are kept whose cells stand out most."""
    worse = str(metric.get("worse", "both"))
    slots = tuple(str(each["name"]) for each in metric.get("slots") or ())
    rows = tuple(
        Row(str(each["name"]), tuple(cell(apart, worse) for apart in each["cells"]))
        for each in metric.get("rows") or ()
    )
    return Table(str(metric.get("rows_of", "rack")), slots, rows)
