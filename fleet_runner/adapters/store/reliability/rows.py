"""Rows of forecasts as values; without SQLAlchemy, which the store's reader does not load."""

from typing import Any

from fleet_runner.core.reliability.forecasts import Foresight, Kind, StoredForecast


def forecast(row: Any, ended_at: float | None) -> StoredForecast:
    """Return a row as a forecast that ended at a moment, or stands."""
    words = {"component": row.component, "metric": row.metric, "serial": row.serial}
    what = Foresight(Kind(row.kind), row.node, sentence=row.sentence, numbers=row.numbers, **words)
    return StoredForecast(row.id, what, row.first_at, row.last_at, ended_at)
