"""The profile of a device type, read where Ansible reads it: in group_vars, beside the inventory in use."""

from pathlib import Path
from typing import Any

import yaml

from fleet_runner.core import inventory
from fleet_runner.core.errors import SettingsError
from fleet_runner.settings import Settings

PROFILE = "fleet_profile"
"""The variable that holds it."""

Stamp = tuple[tuple[str, int, int], ...]
"""Name, size and time of the files that a profile comes from."""


class _Loader(yaml.SafeLoader):
    """Reads what Ansible reads, without its tags: a secret, or a template, is only a text here."""


_Loader.add_multi_constructor("!", lambda loader, _tag, node: loader.construct_scalar(node))


def files(settings: Settings, device_type: str) -> tuple[Path, ...]:
    """Return the files of a device type's variables, in the order in which the later ones win."""
    name = inventory.group_name("device_type", device_type)
    folder = settings.inventory_file.parent / "group_vars"
    found = [path for ending in ("", ".yml", ".yaml") if (path := folder / f"{name}{ending}").is_file()]
    within = sorted(path for path in (folder / name).rglob("*") if path.suffix in {".yml", ".yaml"})
    return (*found, *within)


def stamp(settings: Settings, device_type: str) -> Stamp:
    """Return what changes whenever the files of a device type do; nothing where there are none."""
    try:
        found = [(path, path.stat()) for path in files(settings, device_type)]
    except OSError:  # one of them is being replaced just now: whoever asks again sees it
        return ()
    return tuple((str(path), each.st_size, each.st_mtime_ns) for path, each in found)


def read(settings: Settings, device_type: str) -> dict[str, Any]:
    """Return the profile of a device type.

    Raises:
        SettingsError: there is none, or its file cannot be read.
    """
    found = [_variables(path) for path in files(settings, device_type)]
    profiles = [variables[PROFILE] for variables in found if PROFILE in variables]
    if not profiles or not isinstance(profiles[-1], dict):
        name = inventory.group_name("device_type", device_type)
        where = settings.inventory_file.parent / "group_vars" / f"{name}.yml"
        raise SettingsError(f"{where}: found no {PROFILE}, expected the profile of device type {device_type}")
    return dict(profiles[-1])


def _variables(path: Path) -> dict[str, Any]:
    found = load(path)
    return found if isinstance(found, dict) else {}


def load(path: Path) -> object:
    """Return what a YAML file of variables holds, tags aside; SettingsError where it cannot be read."""
    try:
        return yaml.load(path.read_bytes(), _Loader)  # noqa: S506  it is a SafeLoader that knows no tag
    except yaml.YAMLError as error:
        raise SettingsError(f"{path}: it is not YAML: {' '.join(str(error).split())}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"{path}: it cannot be read: {' '.join(str(error).split())}") from error
