"""The source of truth as a NetBox 4, read over its REST API and by export templates that it renders."""

from pathlib import Path

from fleet_runner.adapters.netbox.cable_status import Written, connect_cables
from fleet_runner.adapters.netbox.changes import Mark
from fleet_runner.adapters.netbox.client import Timeouts
from fleet_runner.adapters.netbox.exports import TEMPLATES, Template
from fleet_runner.adapters.netbox.fleet import fleet
from fleet_runner.adapters.netbox.snapshots import Snapshot, as_kept, snapshot
from fleet_runner.core.inventory.records import Fleet

__all__ = [
    "TEMPLATES", "Mark", "Snapshot", "Template", "Timeouts", "Written", "as_kept", "connect_cables", "fleet", "load",
    "snapshot",
]  # fmt: skip


def load(url: str, token: str, patience: Timeouts | None = None, kept: Path | None = None) -> Fleet:
    """Read a NetBox. Raises SourceError for what cannot be read, and with every problem of what was."""
    return fleet(snapshot(url, token, patience, kept), url)
