"""What the store does for foresight: it gathers from results, gives what analyses look at, keeps what they say.

Whatever needs numpy is imported where it is used: most commands and pages never ask for it.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from fleet_runner.adapters.store.engine import database
from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.reliability import forecasts
from fleet_runner.adapters.store.schema.trends import analyses, episodes, panels, stays
from fleet_runner.core.reliability.forecasts import Analysis, Foreseen, Foresight, Gathered, Kind, StoredForecast
from fleet_runner.core.reliability.parts.stay import Episode, Stay

if TYPE_CHECKING:
    from fleet_runner.core.reliability.trends.metrics import Metric
    from fleet_runner.core.reliability.trends.panel import Ids, Panel, Window


class ForesightMethods:
    """Methods of the Store, which extends this."""

    _database: Database

    def gather(
        self, metrics: "Sequence[Metric]", progress: Callable[[str], None], *, now: float | None = None
    ) -> Gathered:
        """Read results that are new into what is kept for foresight, a piece at a time.

        `progress` is told how far it came after each; if it raises, what was read until then is kept. A ConflictError
        says that somebody else gathers.
        """
        from fleet_runner.adapters.store.reliability import gather as gathering  # noqa: PLC0415  numpy is slow to load

        return gathering.gather(self._database, metrics, progress, time.time() if now is None else now)

    def panel_days(self, metric: str) -> tuple[int, ...]:
        """Return the days, since the epoch, of which numbers of a metric are kept, in their order."""
        mine = select(panels.c.day).where(panels.c.metric == metric).order_by(panels.c.day)
        with self._database.read() as connection:
            return tuple(connection.execute(mine).scalars())

    def window(self, metric: str, since_day: int, until_day: int) -> "Window":
        """Return a metric from one day to another, both among them: all parts that told a number then."""
        from fleet_runner.core.reliability.trends import windows  # noqa: PLC0415  numpy is slow to load

        days = range(since_day, until_day + 1)
        return windows.over(metric, days, list(self._panels(metric, since_day, until_day)))

    def weeks(self, metric: str, until_day: int, wanted: "Ids") -> "Window":
        """Return what some stays told of a metric in each week up to a day, over a year; a week is held at a time."""
        from fleet_runner.core.reliability.trends import weeks  # noqa: PLC0415  likewise

        kept = self._panels(metric, weeks.first_day(until_day), until_day)
        return weeks.over(metric, until_day, kept, wanted)

    def _panels(self, metric: str, since_day: int, until_day: int) -> "Iterator[Panel]":
        """Yield a metric's days, from one to another, both among them."""
        from fleet_runner.core.reliability.trends import packing  # noqa: PLC0415  likewise

        mine = select(panels).where(panels.c.metric == metric, panels.c.day.between(since_day, until_day))
        with self._database.read() as connection:
            rows = connection.execute(mine.order_by(panels.c.day), execution_options={"yield_per": 1})
            yield from (packing.decode(metric, row.day, row.rows, row.body) for row in rows)

    def stays(self, *, kind: str = "", serial: str = "", node: str = "") -> tuple[Stay, ...]:
        """Return where parts were, by id: all, or those of a kind, with a serial number, in a node."""
        given = {stays.c.kind: kind, stays.c.serial: serial, stays.c.node: node}
        mine = select(stays).where(*(column == value for column, value in given.items() if value))
        with self._database.read() as connection:
            return tuple(Stay(*row) for row in connection.execute(mine.order_by(stays.c.id)))

    def stays_by_id(self) -> dict[int, Stay]:
        """Return every stay by its id, as the rows of a window name it."""
        return {stay.id: stay for stay in self.stays()}

    def episodes(self, since: float) -> tuple[Episode, ...]:
        """Return the faults that were seen since a moment, by id."""
        mine = select(episodes).where(episodes.c.last_at >= since).order_by(episodes.c.id)
        with self._database.read() as connection:
            return tuple(Episode(*row) for row in connection.execute(mine))

    def foresee(self, kinds: frozenset[Kind], found: Sequence[Foresight], now: float) -> Foreseen:
        """Have of some kinds exactly that stand which was found; return what began and what ended with it."""
        with self._database.write() as connection:
            return forecasts.foresee(connection, kinds, found, now)

    def foresights(self, *, node: str = "", standing: bool = True, limit: int = 1000) -> tuple[StoredForecast, ...]:
        """Return what is foreseen, the newest first: of a node or of all, what stands or what ever did."""
        with self._database.read() as connection:
            return forecasts.some(connection, node, limit, standing=standing)

    def keep_analysis(self, name: str, body: Mapping[str, Any], at: float, seconds: float) -> None:
        """Keep what an analysis came to, in place of what it came to before."""
        row = {"name": name, "at": at, "seconds": seconds, "body": forecasts.plain(body)}
        with self._database.write() as connection:
            added = database.insert(connection, analyses).values(row)
            connection.execute(added.on_conflict_do_update(index_elements=["name"], set_=row))

    def analysis(self, name: str) -> Analysis | None:
        """Return what an analysis came to last; None where it never ran."""
        with self._database.read() as connection:
            row = connection.execute(select(analyses).where(analyses.c.name == name)).one_or_none()
        return Analysis(*row) if row is not None else None
