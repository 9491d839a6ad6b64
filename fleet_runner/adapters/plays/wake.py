"""Having whoever decides look now: what somebody has written down is due at once."""

from pathlib import Path

from fleet_runner.adapters.plays import wakeup
from fleet_runner.adapters.store import Store


def wake(state_dir: Path, store: Store) -> None:
    """Have the runner look that serves on this machine, and those on others that share the store."""
    wakeup.ring(state_dir)
    if store.shared:
        store.ring()
