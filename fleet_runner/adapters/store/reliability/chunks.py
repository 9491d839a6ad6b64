"""A piece of what is gathered: held until it is written, and written as a whole with how far it came."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from typing import Any

import numpy as np
from sqlalchemy import Connection, bindparam, insert, select, update

from fleet_runner.adapters.store.engine import database
from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.schema.trends import counted, episodes, gathered, panels, stays
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.reliability.forecasts import Gathered
from fleet_runner.core.reliability.parts.stay import Episode, Stay
from fleet_runner.core.reliability.trends import daily, packing
from fleet_runner.core.reliability.trends.daily import NO_LAST, Last, Summary
from fleet_runner.core.reliability.trends.metrics import Kind, Metric
from fleet_runner.core.reliability.trends.panel import Panel
from fleet_runner.core.reliability.trends.reading import ReadingBuffer

RESULTS = "results"
"""The row that says how far results were read."""


ALWAYS = -(2.0**62)
"""A moment before all that is read."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Results that are being read: those with ids above `upto` and up to `to`, of all nodes up to the name `after`.

    Of them, those are read that were stamped after `later` and up to `until`, which stay the same however often its
    reading is broken off. `ahead` is the earliest stamp that was beyond, 0 where none was.
    """

    upto: int
    to: int
    after: str = ""
    later: float = ALWAYS
    until: float = 0.0
    ahead: float = 0.0


@dataclass(frozen=True, slots=True)
class Reached:
    """How far results were read: all up to an id, what is being read, and stretches of which something waits."""

    upto: int
    now: Stretch | None = None
    waits: tuple[Stretch, ...] = ()

    def due(self, until: float) -> Stretch | None:
        """Return the first stretch of which something that waited is due."""
        return next((each for each in self.waits if each.ahead <= until and each.until < until), None)

    def resumed(self, waiting: Stretch, until: float) -> "Reached":
        """Have what waited be read up to a moment."""
        again = Stretch(waiting.upto, waiting.to, "", waiting.until, until)
        return replace(self, now=again, waits=tuple(each for each in self.waits if each is not waiting))

    def further(self, piece: "Chunk") -> "Reached":
        """Return it with a piece of what is being read."""
        if self.now is None:
            return self
        stretch = self.now
        ahead = min((each for each in (stretch.ahead, piece.ahead) if each), default=0.0)
        after = replace(stretch, after=piece.after, ahead=ahead)
        if not piece.whole:
            return replace(self, now=after)
        return Reached(
            max(self.upto, stretch.to), None, (*self.waits, *((replace(after, after=""),) if ahead else ()))
        )


@dataclass(slots=True)
class Chunk:
    """What was read and not yet written. `rows` counts its summaries; it is `whole` once it has the last node."""

    metrics: Sequence[Metric]
    lasts: dict[str, Last]
    after: str
    whole: bool = False
    results: int = 0
    numbers: int = 0
    rows: int = 0
    ahead: float = 0.0
    days: dict[tuple[int, int], list[Summary]] = field(default_factory=dict)
    counted: set[str] = field(default_factory=set)
    began: list[Stay] = field(default_factory=list)
    more: list[Stay] = field(default_factory=list)
    befell: tuple[tuple[Episode, ...], tuple[Episode, ...]] = ((), ())
    left_out: dict[str, int] = field(default_factory=dict)

    def see(self, began: Iterable[Stay], more: Iterable[Stay]) -> None:
        """Hold what is known of a node's places."""
        self.began += began
        self.more += more

    def take(self, heap: ReadingBuffer) -> None:
        """Sum up what a group of nodes told."""
        self.ahead = min((each for each in (self.ahead, heap.ahead) if each), default=0.0)
        for why, times in heap.left_out.items():
            self.left_out[why] = self.left_out.get(why, 0) + times
        for number, told in heap.numbers.items():
            metric = self.metrics[number]
            stay, at, values = (np.asarray(each) for each in (told.stays, told.at, told.values))
            self.numbers += len(values)
            if metric.kind is Kind.COUNTER:
                grown, self.lasts[metric.name] = daily.grown(stay, at, values, self.lasts.get(metric.name, NO_LAST))
                self.counted.add(metric.name)
            else:
                day = daily.days(at)
                grown = {
                    int(each): daily.summed_up(stay[day == each], values[day == each]) for each in np.unique(day)
                }
            for each, summary in grown.items():
                self.days.setdefault((number, each), []).append(summary)
                self.rows += len(summary.stays)


def standing(connection: Connection) -> Reached:
    """Return how far results were read, and hold it for who asks in order to change it."""
    row = connection.execute(select(gathered).where(gathered.c.name == RESULTS).with_for_update()).one()
    now = row.told.get("now")
    return Reached(
        row.upto, Stretch(*now) if now else None, tuple(Stretch(*each) for each in row.told.get("waits", ()))
    )


def counters(connection: Connection) -> dict[str, Last]:
    """Return what all counters said last, by metric."""
    return {row.metric: packing.decode_last(row.rows, row.body) for row in connection.execute(select(counted))}


def write(store: Database, piece: Chunk, ways: tuple[Reached, Reached], now: float) -> tuple[Reached, Gathered]:
    """Write a piece, and how far it came; ConflictError where somebody else gathered meanwhile.

    `ways` are how far it is known to have come, and that with the stretch of which this is a piece.

    Days are packed before anything is written: others wait for who writes.
    """
    rows = [_packed(store, piece.metrics[number], day, told) for (number, day), told in sorted(piece.days.items())]
    lasts = [
        {"metric": name, "rows": len(piece.lasts[name].stays), "body": packing.encode_last(piece.lasts[name])}
        for name in sorted(piece.counted)
    ]
    before, reading = ways
    further = reading.further(piece)
    with store.write() as connection:
        _advance(connection, before, further, piece.left_out, now)
        _upsert(connection, panels, ["metric", "day"], rows)
        _upsert(connection, counted, ["metric"], lasts)
        _write(connection, stays, piece.began, piece.more, ("serial", "slot", "last_at"))
        _write(connection, episodes, *piece.befell, ("first_at", "last_at", "seen"))
    told = Gathered(
        piece.results, piece.numbers, len(rows), len(piece.began), sum(map(len, piece.befell)), piece.left_out
    )
    return further, told


def _packed(store: Database, metric: Metric, day: int, told: list[Summary]) -> dict[str, Any]:
    new = daily.together(told)
    mine = select(panels).where(panels.c.metric == metric.name, panels.c.day == day)
    with store.read() as connection:
        row = connection.execute(mine).one_or_none()
    if row is None:
        panel = Panel(metric.name, day, new.stays, new.counts, new.middle, new.spread)
    else:
        known = packing.decode(metric.name, day, row.rows, row.body)
        panel = daily.merged(known, new, counts=metric.kind is Kind.COUNTER)
    return {"metric": metric.name, "day": day, "rows": len(panel.stays), "body": packing.encode(panel)}


def _advance(
    connection: Connection, before: Reached, after: Reached, left_out: Mapping[str, int], now: float
) -> None:
    if standing(connection) != before:
        raise ConflictError("results were gathered by somebody else meanwhile; nothing of this piece was kept")
    told = {
        "now": astuple(after.now) if after.now is not None else None,
        "waits": [astuple(each) for each in after.waits],
        "left_out": dict(left_out),
    }
    mine = update(gathered).where(gathered.c.name == RESULTS)
    connection.execute(mine.values(upto=after.upto, at=now, told=told))


def _upsert(connection: Connection, table: Any, key: list[str], rows: list[dict[str, Any]]) -> None:
    for row in rows:  # one by one: a row is large
        added = database.insert(connection, table).values(row)
        changed = {name: value for name, value in row.items() if name not in key}
        connection.execute(added.on_conflict_do_update(index_elements=key, set_=changed))


def _write(connection: Connection, table: Any, began: Sequence[Any], more: Sequence[Any], changes: Any) -> None:
    """Add what began under the numbers that it was given, and write anew what may have changed of the rest."""
    if began:
        connection.execute(insert(table), [asdict(each) for each in began])
    if more:
        values: dict[str, Any] = {name: bindparam(f"_{name}") for name in changes}
        mine = update(table).where(table.c.id == bindparam("_id")).values(values)
        connection.execute(
            mine, [{"_id": each.id} | {f"_{name}": getattr(each, name) for name in changes} for each in more]
        )
