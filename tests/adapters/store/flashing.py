"""Short ways to say what the tests of flashes need."""

from typing import Any

from fleet_runner.adapters.store import Store
from fleet_runner.core.firmware.catalogue import Activate
from fleet_runner.core.firmware.flash import Flash

DRIVER = "runner-1:42"


def flash(name: str = "gpu-01", **more: Any) -> Flash:
    """A flash of a BIOS that is about to be sent."""
    told: dict[str, Any] = {
        "id": 0,
        "node": name,
        "component": "BIOS",
        "before": {"BIOS": "2.0"},
        "targets": {"BIOS": "2.1"},
        "image": "bios_2.1.bin",
        "sha256": "ab" * 32,
        "activate": Activate.HOST_RESET,
        "times": 1,
        "seconds": 1800.0,
        "attempt": 1,
        "intended_at": 100.0,
    }
    return Flash(**(told | more))


def leased(store: Store, name: str = "gpu-01", holder: str = DRIVER, *, now: float = 100.0) -> None:
    """Take a node's lease for ten minutes, by hand."""
    store.lease(name, holder, run=None, now=now, seconds=600.0)


def intended(store: Store, name: str = "gpu-01", **more: Any) -> Flash:
    """Write a flash down, with the lease for it."""
    leased(store, name)
    return store.intend(flash(name, **more), DRIVER, now=100.0)
