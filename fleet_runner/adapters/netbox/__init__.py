"""The source of truth as a NetBox 4, read over its REST API and by export templates that it renders."""

from pathlib import Path

from fleet_runner.adapters.netbox import drafting, reading
from fleet_runner.adapters.netbox.client import Client, Patience
from fleet_runner.adapters.netbox.drafting import fleet
from fleet_runner.adapters.netbox.exports import TEMPLATES, Template
from fleet_runner.adapters.netbox.snapshot import Mark, Snapshot
from fleet_runner.adapters.netbox.writing import Written, connect_cables
from fleet_runner.core.records import Fleet

__all__ = [
    "TEMPLATES", "Mark", "Patience", "Snapshot", "Template", "Written", "connect_cables", "fleet", "load", "snapshot",
]  # fmt: skip


def load(url: str, token: str, patience: Patience | None = None, kept: Path | None = None) -> Fleet:
    """Read a NetBox. Raises SourceError for what cannot be read, and with every problem of what was."""
    return drafting.fleet(snapshot(url, token, patience, kept), url)


def snapshot(url: str, token: str, patience: Patience | None = None, kept: Path | None = None) -> Snapshot:
    """Read a NetBox: only what changed since what is kept in a file, and everything where that is not known.

    The file is shared by all processes of a machine. Raises SourceError.
    """
    del kept  # not yet
    with Client(url, token, patience or Patience()) as client:
        return Snapshot(reading.everything(reading.Lists(client)), None, client.sent, "everything")
