"""Heat: how each slot and each rack stands to the rest of the fleet, metric by metric, from the newest numbers.

A part is compared with those of its own device type: so many of that type's spreads (the median deviation, as a
standard deviation has it) above or below its middle. A slot or a rack is the median of its parts, and so one bad part
colours neither. What the days before were like is kept as a band for each device type.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fleet_runner.core.base.natural_order import natural
from fleet_runner.core.base.plural import counted

if TYPE_CHECKING:  # the analysis takes their values, and needs none of what they import
    from fleet_runner.core.reliability.parts.stay import Stay
    from fleet_runner.core.reliability.trends.analyse import Given
    from fleet_runner.core.reliability.trends.metrics import Metric
    from fleet_runner.core.reliability.trends.panel import Window
    from fleet_runner.core.reliability.trends.peers import Location

RECENT = 7
"""Days of which a part's newest number counts: what is tested weekly is heated by its last test."""

FARTHEST = 99.0
"""Spreads beyond which nothing more is said."""

NORMAL = 1.4826
"""Standard deviations of a normal distribution that a median deviation is."""

SLOTS, ROWS, PARTS, TYPES = 16, 24, 10, 6
"""Columns, rows, single parts and device types that are kept of a metric, those that stand out or are most first."""

NODES = 48
"""Up to so many nodes each is a row of its own; of more, each rack is."""

TOLD = 5
"""Sentences that are made of what stands out."""

LOUD, ENOUGH = 1.5, 8
"""Spreads from which a slot is worth a sentence, and how many parts must say so."""

DIGITS = 4
"""Digits that matter of a number that is kept."""

THIN = 4_000
"""Parts of a device type of which each day's band is drawn; of twice as many, every second is taken."""

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class HeatCell:
    """A slot or a rack: its parts, their median in the metric's unit, and how far that lies from the middle.

    `cells` are a rack's slots, None where it has none that told.
    """

    name: str
    parts: int
    middle: float
    apart: float
    cells: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Odd:
    """One part that lies far from the others of its device type."""

    node: str
    component: str
    slot: str
    number: float
    apart: float


@dataclass(frozen=True, slots=True)
class DailyQuantiles:
    """What parts of a device type told day by day: tenth, fiftieth and ninetieth of a hundred; None where nothing."""

    device_type: str
    parts: int
    days: tuple[int, ...]
    low: tuple[float | None, ...]
    middle: tuple[float | None, ...]
    high: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """One metric: its words, its newest numbers, and who stands where. `rows_of` is "rack" or "node"."""

    metric: str
    part: str
    unit: str
    worse: str
    meaning: str
    day: int | None = None
    parts: int = 0
    nodes: int = 0
    middle: float | None = None
    low: float | None = None
    high: float | None = None
    slots: tuple[HeatCell, ...] = ()
    slots_cut: int = 0
    rows_of: str = "rack"
    rows: tuple[HeatCell, ...] = ()
    rows_cut: int = 0
    stand_out: tuple[Odd, ...] = ()
    bands: tuple[DailyQuantiles, ...] = ()


@dataclass(frozen=True, slots=True)
class HeatMap:
    """What was seen of every metric."""

    seen: tuple[Seen, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types; each metric has at most a few hundred numbers."""
        told = [each for each in self.seen if each.parts]
        return {
            "until_day": max((each.day for each in told if each.day is not None), default=None),
            "sentences": self.sentences(),
            "metrics": [asdict(each) for each in told],
            "silent": [each.metric for each in self.seen if not each.parts],
        }

    def sentences(self) -> list[str]:
        """Return what stands out, slot by slot, and how much was looked at."""
        told = [each for each in self.seen if each.parts]
        newest = sum(each.parts for each in told)
        first = f"{newest:,} newest numbers of {counted(len(told), 'metric')} are compared"
        loud = sorted(
            ((abs(spot.apart), each, spot) for each in told for spot in each.slots if _loud(each, spot)),
            key=lambda row: (-row[0], row[1].metric, row[2].name),
        )
        return [f"{first}, each with its own device type.", *(_sentence(each, spot) for _, each, spot in loud[:TOLD])]


@dataclass(frozen=True, slots=True)
class _Coded:
    """A name for each part: the names there are, in the order in which people count, and which of them each has."""

    names: tuple[str, ...]
    which: Codes


@dataclass(frozen=True, slots=True)
class _Told:
    """The newest numbers of parts, in the order of their rows in the window, and where these parts are."""

    rows: Codes
    value: Floats
    apart: Floats
    component: list[str]
    node: _Coded
    rack: _Coded
    slot: _Coded
    kind: _Coded


def analyse(given: Iterable["Given"]) -> HeatMap:
    """Return what every metric says; one at a time is held."""
    return HeatMap(tuple(look(each.metric, each.window, each.stays, each.places, each.marks) for each in given))


def look(
    metric: "Metric",
    window: "Window",
    stays: Mapping[int, "Stay"],
    places: Mapping[str, "Location"],
    marks: Mapping[str, float] | None = None,
) -> Seen:
    """Return what one metric says of slots and racks; `marks` are taken so that every analysis is asked alike."""
    del marks
    named = (metric.name, metric.part, metric.unit, metric.worse, metric.meaning)
    told = _told(window, stays, places, metric.least)
    if told is None:
        return Seen(*named)
    slots, slots_cut = _slots(told)
    rows_of = "node" if len(told.node.names) <= NODES else "rack"
    rows, rows_cut = _rows(told, rows_of, [spot.name for spot in slots])
    low, middle, high = (float(each) for each in np.percentile(told.value, (10, 50, 90)))
    return Seen(
        *named,
        day=int(window.days[-1]),
        parts=len(told.value),
        nodes=len(told.node.names),
        middle=_short(middle),
        low=_short(low),
        high=_short(high),
        slots=slots,
        slots_cut=slots_cut,
        rows_of=rows_of,
        rows=rows,
        rows_cut=rows_cut,
        stand_out=_odd(told, metric.worse),
        bands=tuple(_bands(window, told)),
    )


def _told(
    window: "Window", stays: Mapping[int, "Stay"], places: Mapping[str, "Location"], least: float
) -> _Told | None:
    recent = np.asarray(window.middle[:, -RECENT:], np.float64)
    finite = np.isfinite(recent)
    known = np.fromiter((each in stays for each in window.stays.tolist()), bool, len(window.stays))
    rows = np.flatnonzero(finite.any(axis=1) & known)
    if not len(rows):
        return None
    newest = finite.shape[1] - 1 - np.argmax(finite[rows][:, ::-1], axis=1)
    value = recent[rows, newest]
    found = [stays[each] for each in window.stays[rows].tolist()]
    at = [places.get(each.node) for each in found]
    kind = _coded([place.device_type if place is not None else "" for place in at])
    rack = _coded([f"{place.site} {place.rack}".strip() if place is not None else "" for place in at])
    slot = _coded([each.slot or each.component or "node" for each in found])
    node, component = _coded([each.node for each in found]), [each.component for each in found]
    return _Told(rows, value, _apart(value, kind, least), component, node, rack, slot, kind)


def _coded(names: list[str]) -> _Coded:
    known = sorted(set(names), key=natural)
    at = {name: number for number, name in enumerate(known)}
    return _Coded(tuple(known), np.fromiter((at[name] for name in names), np.intp, len(names)))


def _apart(value: Floats, kind: _Coded, least: float) -> Floats:
    """Return how many spreads of its device type each part lies from its middle; a spread is never below `least`."""
    middle = _medians(value, kind.which, len(kind.names))
    around = _medians(np.abs(value - middle[kind.which]), kind.which, len(kind.names))
    spread = np.maximum.reduce([NORMAL * around, np.full_like(around, least), np.abs(middle) * 1e-6, around + 1e-12])
    apart: Floats = (value - middle[kind.which]) / spread[kind.which]
    return np.clip(apart, -FARTHEST, FARTHEST)


def _medians(value: Floats, which: Codes, groups: int) -> Floats:
    """Return the median of each group, NaN of one without a number."""
    ordered = value[np.lexsort((value, which))]
    many = np.bincount(which, minlength=groups)
    begins = np.cumsum(many) - many
    some = many > 0
    low, high = begins[some] + (many[some] - 1) // 2, begins[some] + many[some] // 2
    found = np.full(groups, np.nan)
    found[some] = (ordered[low] + ordered[high]) / 2
    return found


def _spots(told: _Told, by: _Coded) -> list[HeatCell]:
    middle, apart = (_medians(each, by.which, len(by.names)) for each in (told.value, told.apart))
    many = np.bincount(by.which, minlength=len(by.names))
    return [
        HeatCell(name, int(many[at]), _short(float(middle[at])), round(float(apart[at]), 2))
        for at, name in enumerate(by.names)
    ]


def _slots(told: _Told) -> tuple[tuple[HeatCell, ...], int]:
    every = _spots(told, told.slot)
    most = sorted(every, key=lambda spot: (-spot.parts, -abs(spot.apart)))[:SLOTS]
    kept = {spot.name for spot in most}
    return tuple(spot for spot in every if spot.name in kept), len(every) - len(kept)


def _rows(told: _Told, rows_of: str, slots: list[str]) -> tuple[tuple[HeatCell, ...], int]:
    """Return the racks or nodes that have a slot farthest from the others, in the order of their names."""
    by = told.node if rows_of == "node" else told.rack
    every, columns = _spots(told, by), {slot: at for at, slot in enumerate(slots)}
    column = np.array([columns.get(slot, -1) for slot in told.slot.names])[told.slot.which]
    mine = column >= 0  # only what is shown: where each part has a slot of its own, all cells would be a gigabyte
    cells = _medians(
        told.apart[mine], by.which[mine] * len(slots) + column[mine], len(by.names) * len(slots)
    ).reshape(len(by.names), len(slots))
    far = np.max(np.abs(np.nan_to_num(cells)), axis=1)
    kept = sorted(np.argsort(-far, kind="stable")[:ROWS].tolist())
    shown = [
        replace(
            every[at],
            name=every[at].name or "no rack known",
            cells=tuple(None if np.isnan(each) else round(float(each), 2) for each in cells[at]),
        )
        for at in kept
    ]
    return tuple(shown), len(every) - len(shown)


def _odd(told: _Told, worse: str) -> tuple[Odd, ...]:
    """Return the parts that lie farthest on the side that is worse; on either, where both are."""
    far = {"high": told.apart, "low": -told.apart}.get(worse, np.abs(told.apart))
    order = np.argsort(-far, kind="stable")[:PARTS]
    return tuple(_one(told, int(at)) for at in order if far[at] >= LOUD)


def _one(told: _Told, at: int) -> Odd:
    node, slot = told.node.names[told.node.which[at]], told.slot.names[told.slot.which[at]]
    return Odd(node, told.component[at], slot, _short(float(told.value[at])), round(float(told.apart[at]), 2))


def _bands(window: "Window", told: _Told) -> Iterator[DailyQuantiles]:
    days = tuple(int(day) for day in window.days)
    many = np.bincount(told.kind.which, minlength=len(told.kind.names))
    for kind in np.argsort(-many, kind="stable")[:TYPES]:
        mine = told.rows[told.kind.which == kind]
        numbers = window.middle[mine[:: max(1, len(mine) // THIN)]]
        columns = [column[np.isfinite(column)] for column in numbers.T]
        parts = [np.percentile(each, (10, 50, 90)) if len(each) else None for each in columns]
        low, middle, high = (
            tuple(None if part is None else _short(float(part[at])) for part in parts) for at in range(3)
        )
        yield DailyQuantiles(told.kind.names[kind], len(mine), days, low, middle, high)


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _loud(each: Seen, spot: HeatCell) -> bool:
    return len(each.slots) > 1 and abs(spot.apart) >= LOUD and spot.parts >= ENOUGH


def _sentence(each: Seen, spot: HeatCell) -> str:
    side = "above" if spot.apart > 0 else "below"
    # the middle of the fleet is that of a device type only where there is but one
    numbers = f"{spot.middle:g} against {each.middle:g} {each.unit}, " if len(each.bands) == 1 else ""
    return (
        f"{spot.name}: {each.metric} lies {abs(spot.apart):.1f} spreads {side} the middle of its device type"
        f" ({numbers}{counted(spot.parts, 'part')})."
    )
