"""The serial numbers of a node's parts, written into the folder of site files that is the source of truth."""

import difflib
from collections.abc import Mapping
from pathlib import Path

from fleet_runner.adapters.files import yaml_values
from fleet_runner.core.base.errors import SettingsError, SourceError

PATTERNS = ("devices.y*ml", "devices/**/*.y*ml")


def plan(folder: Path, device: str, serials: Mapping[str, str]) -> tuple[Path, str, str]:
    """Return the file that describes a device, its text, and its text with the new serial numbers.

    Raises:
        SourceError: no file describes the device, or one cannot be changed; it says which.
    """
    for path in sorted({path for pattern in PATTERNS for path in folder.glob(pattern) if path.is_file()}):
        try:
            text = path.read_text(encoding="utf-8")
            changed = yaml_values.edited(text, device, serials)
        except (OSError, UnicodeDecodeError, SettingsError) as error:
            raise SourceError(f"{path}: {error}; change the serial numbers there by hand") from error
        if changed is not None:
            return path, text, changed
    raise SourceError(f"{folder}: no file of devices describes {device}; change its serial numbers by hand")


def diff(path: Path, before: str, after: str) -> str:
    """Return what would change, as a unified diff."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return "".join(difflib.unified_diff(old, new, fromfile=str(path), tofile=str(path)))


def write(path: Path, text: str) -> None:
    """Replace a file as a whole; its mode stays."""
    new = path.with_name(f".{path.name}.new")
    try:
        new.write_text(text, encoding="utf-8")
        new.chmod(path.stat().st_mode & 0o777)
        new.replace(path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise SourceError(f"{path}: {error.strerror}; change the serial numbers there by hand") from error
