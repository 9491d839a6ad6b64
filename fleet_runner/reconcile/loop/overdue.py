"""Since when something is due that nobody does, because nobody serves."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fleet_runner.reconcile.loop.single_instance import served
from fleet_runner.settings import Settings

if TYPE_CHECKING:
    from fleet_runner.adapters.store import Store

TICKS = 3
GRACE = 30.0
"""A fleet that is served is looked at a tick after something is due; so many ticks and seconds later, it is late."""


def unserved_since(settings: Settings, store: "Store", now: float) -> float | None:
    """Return when the first thing was due that is late by now; None where nothing is, or somebody serves."""
    if served(settings) or (store.shared and store.deciding()):
        return None
    return store.waiting_since(now - TICKS * settings.tick_seconds - GRACE)


def words(since: float, now: float) -> str:
    """Say it, with the next step."""
    from fleet_runner.core.schedules.retention import DAY  # noqa: PLC0415  mostly nothing is late

    form = "%H:%M UTC" if now - since < DAY else "%Y-%m-%d %H:%M UTC"
    return f"due since {datetime.fromtimestamp(since, UTC).strftime(form)}; no runner serves: fleet-runner serve"
