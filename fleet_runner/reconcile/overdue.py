"""Since when something is due that nobody does, because nobody serves."""

from fleet_runner.adapters.store import Store
from fleet_runner.reconcile.alone import served
from fleet_runner.settings import Settings

TICKS = 3
GRACE = 30.0
"""A fleet that is served is looked at a tick after something is due; so many ticks and seconds later, it is late."""


def unserved_since(settings: Settings, store: Store, now: float) -> float | None:
    """Return when the first thing was due that is late by now; None where nothing is, or somebody serves."""
    latest = now - TICKS * settings.tick_seconds - GRACE
    found: list[float] = []
    for node in store.due(latest):
        # A node that was woken, not scheduled, is due since the wish that woke it was left.
        found += [node.wake_at] if node.wake_at > 0 else [wish.at for wish in store.intents(node.name)]
    late = [at for at in found if at <= latest]
    return min(late) if late and not served(settings) and not (store.shared and store.deciding()) else None
