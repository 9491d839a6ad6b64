"""Writes a fleet as site files."""

from pathlib import Path

from fleet_runner.adapters.sitefiles import writing
from fleet_runner.core.inventory.records import Fleet


def write_site(fleet: Fleet, folder: Path) -> None:
    """Write every kind of record into a file of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in writing.texts(fleet).items():
        (folder / name).write_text(text, "utf-8")
