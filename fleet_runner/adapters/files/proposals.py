"""Files in which a person reads what the source of truth should say, and takes it over or not; nothing is applied."""

import csv
import difflib
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path

from fleet_runner.adapters.files import yaml_values
from fleet_runner.adapters.files.site_serials import PATTERNS
from fleet_runner.adapters.files.yaml_values import ITEMS, Put
from fleet_runner.core.base.errors import FleetError, SettingsError, SourceError
from fleet_runner.core.inventory.drift.difference import Difference, Kind
from fleet_runner.core.inventory.drift.tables import Tables

KEYS: Mapping[Kind, tuple[str, str]] = {
    Kind.DEVICE: ("", "serial"),
    Kind.PART: (ITEMS, "serial"),
    Kind.GUID: ("interfaces", "wwn"),
    Kind.MAC: ("interfaces", "mac_address"),
}
"""The list of a device's in site files, and the key in its rows."""


def site_diff(folder: Path, found: Iterable[Difference]) -> tuple[str, list[str]]:
    """Return a unified diff of site files (for `patch -p1` in the folder), and why some devices are not in it."""
    by_node = groupby(sorted((each for each in found if each.proposed), key=lambda each: each.node), lambda e: e.node)
    wanted = {node: [_put(each) for each in mine] for node, mine in by_node}
    try:
        paths = sorted({path for pattern in PATTERNS for path in folder.glob(pattern) if path.is_file()})
        texts = {path: path.read_text(encoding="utf-8") for path in paths}
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{folder}: {error}; its files of devices must be readable") from error
    changed, left = dict(texts), list[str]()
    for node, values in wanted.items():
        left += _into(changed, node, values)
    return "".join(_diff(path.relative_to(folder), texts[path], changed[path]) for path in paths), left


def _put(each: Difference) -> Put:
    rows, key = KEYS[each.kind]
    return Put(rows, each.name if rows else "", key, each.proposed)


def _into(texts: dict[Path, str], node: str, values: list[Put]) -> list[str]:
    """Put a device's values into the file that describes it; return why that could not be done."""
    for path, text in texts.items():
        try:
            new = yaml_values.put(text, node, values)
        except SettingsError as error:
            return [f"{path}: {error}; change it there by hand"]
        if new is not None:
            texts[path] = new
            return []
    return [f"no file of devices describes {node}; change it where it is described"]


def _diff(name: Path, before: str, after: str) -> str:
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return "".join(difflib.unified_diff(old, new, fromfile=f"a/{name}", tofile=f"b/{name}"))


def write(folder: Path, files: Mapping[str, str], tables: Tables) -> list[Path]:
    """Write texts and tables into a new folder, or one that is empty; return the files."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise FleetError(f"{folder}: it is not empty; name a new folder, so that nothing old is taken for new")
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        for name, rows in tables.items():
            with (folder / name).open("w", encoding="utf-8", newline="") as stream:
                csv.writer(stream, lineterminator="\n").writerows(rows)
    except OSError as error:
        raise FleetError(f"{folder}: {error.strerror}; name a folder that can be written") from error
    return [folder / name for name in (*files, *tables)]
