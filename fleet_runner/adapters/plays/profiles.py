"""The profile of a device type or of a node, read where Ansible reads it: beside the inventory in use."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import yaml

from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.inventory import ansible
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
    return _files(settings.inventory_file.parent / "group_vars", ansible.group_name("device_type", device_type))


def files_of(settings: Settings, node: str, groups: Collection[str]) -> tuple[Path, ...]:
    """Return the files of a node's variables in Ansible's order: of all, of its groups by name, then its own."""
    beside = settings.inventory_file.parent
    of_groups = [file for group in ("all", *sorted(groups)) for file in _files(beside / "group_vars", group)]
    return (*of_groups, *_files(beside / "host_vars", node))


def _files(folder: Path, name: str) -> tuple[Path, ...]:
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
    return last(settings, files(settings, device_type), device_type)


def last(settings: Settings, paths: Iterable[Path], device_type: str) -> dict[str, Any]:
    """Return the profile of the last of these files that has one.

    Raises:
        SettingsError: none has, or one of them cannot be read.
    """
    found = [_variables(path) for path in paths]
    profiles = [variables[PROFILE] for variables in found if PROFILE in variables]
    if not profiles or not isinstance(profiles[-1], dict):
        name = ansible.group_name("device_type", device_type)
        where = settings.inventory_file.parent / "group_vars" / f"{name}.yml"
        what = f"{PROFILE} {str(profiles[-1])!r:.60}" if profiles else f"no {PROFILE}"
        raise SettingsError(f"{where}: found {what}, expected the profile of device type {device_type} as a mapping")
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
