"""The trackers of a fleet, from their file: who is told of tickets, and what is wrong with it, by line."""

import os
import stat
from pathlib import Path

from fleet_runner.adapters.files import yaml_places
from fleet_runner.adapters.files.yaml_places import Unreadable, line_at
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.base.named_list import ListError, told
from fleet_runner.core.tickets.trackers import configuration
from fleet_runner.core.tickets.trackers.configuration import Configured
from fleet_runner.settings import Settings

NAME = "trackers.yml"
"""The file's name beside the inventory, where the settings name none."""

OTHERS = 0o077
LONGEST = 4096
"""Characters of a token."""


def file(settings: Settings) -> Path | None:
    """Return the file in use: the one that the settings name, else the one beside the inventory, if any."""
    if settings.trackers_file is not None:
        return settings.trackers_file
    beside = settings.inventory_file.parent / NAME
    return beside if beside.is_file() else None


def trackers(settings: Settings) -> tuple[Configured, ...]:
    """Return the trackers that are told of tickets; none where there is no file.

    Raises:
        SettingsError: with the first line that cannot be meant.
    """
    path = file(settings)
    if path is None:
        return ()
    try:
        root, content = yaml_places.load(path)
    except Unreadable as error:
        raise SettingsError(f"{path}:{error.line}: {error}") from error
    if root is None:
        return ()
    for line, text in yaml_places.twice(root, ""):
        raise SettingsError(f"{path}:{line}: {text}")
    try:
        return configuration.read(content)
    except ListError as error:
        first, *others = sorted(error.problems, key=lambda each: line_at(root, each.path))
        more = f"; and {len(others)} more" if others else ""
        raise SettingsError(f"{path}:{line_at(root, first.path)}: {told(first)}{more}") from error


def secret(tracker: Configured, beside: Path) -> str:
    """Return a tracker's token; a relative file is beside the list of trackers."""
    if tracker.token_variable:
        found, where = os.environ.get(tracker.token_variable, ""), f"the variable {tracker.token_variable}"
    else:
        path = beside / Path(tracker.token_file).expanduser()
        found, where = _read(path, tracker.name), str(path)
    token = found.strip()
    if not token or len(token) > LONGEST or not token.isascii() or not token.isprintable() or " " in token:
        raise SettingsError(f"tracker {tracker.name}: {where} holds no token; expected one in a line, without spaces")
    return token


def authority(tracker: Configured, beside: Path) -> str | bool:
    """Return what `requests` verifies a tracker's certificate with: a file, or whom this machine trusts."""
    if not tracker.ca_file:
        return True
    path = beside / Path(tracker.ca_file).expanduser()
    if not path.is_file():
        raise SettingsError(f"tracker {tracker.name}: ca_file {path} is no file; expected the CA's certificate, PEM")
    return str(path)


def _read(path: Path, name: str) -> str:
    try:
        if stat.S_IMODE(path.stat().st_mode) & OTHERS:
            raise SettingsError(f"tracker {name}: {path} can be read by others than its owner; run: chmod 600 {path}")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise SettingsError(f"tracker {name}: token_file {path}: {why}; expected a file of mode 0600") from None
