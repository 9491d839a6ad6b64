"""Which checks the playbook of each stage asks, read from the playbooks and roles themselves."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.lifecycle.states import Stage

ACTIONS = frozenset({"fleet_check", "fleet_active"})
"""Our actions that take names of checks."""

IMPORTS = frozenset({"import_role", "include_role", "ansible.builtin.import_role", "ansible.builtin.include_role"})

VARIABLE = re.compile(r"\{\{ *(\w+) *\}\}")
"""A list that is a variable's value as it stands; of what a template works out, only names in quotes are seen."""

QUOTED = re.compile(r"'(\w+)'")

PROFILED = "fleet_profile."
"""In a template: the device type's profile lists the tests, so any of them may be asked."""

Variables = Mapping[str, Any]
Places = tuple[Path, ...]


def read(*places: Path) -> dict[Stage, tuple[str, ...]]:
    """Return the checks of each stage in the order in which they are asked, each once.

    `places` hold playbooks/ and roles/; of two of one name, the one of the first is read (`Settings.places`).

    Raises:
        SettingsError: a playbook or a role cannot be read.
    """
    return {stage: _of_stage(places, stage) for stage in Stage}


def stages(*places: Path) -> dict[str, tuple[Stage, ...]]:
    """Return the stages that ask each check."""
    asked = read(*places)
    return {name: tuple(stage for stage in Stage if name in asked[stage]) for name in CHECKS}


def _of_stage(places: Places, stage: Stage) -> tuple[str, ...]:
    plays = _load(_first(places, Path("playbooks") / f"{stage}.yml"))
    return tuple(dict.fromkeys(name for name in _names(plays, {}, places) if name in CHECKS))


def _first(places: Places, name: Path) -> Path:
    """Return what has a name in the first of the places that has it."""
    found = [place / name for place in places]
    return next((path for path in found if path.exists()), found[-1])


def _names(tree: object, variables: Variables, places: Places) -> Iterator[str]:
    """Yield what a playbook's or a role's actions are told to ask, roles that it names included, in its order."""
    if isinstance(tree, list):
        for each in tree:
            yield from _names(each, variables, places)
    if not isinstance(tree, dict):
        return
    within = {**variables, **_mapping(tree.get("vars"))}
    for key, value in tree.items():
        if key in ACTIONS:
            yield from _listed(_mapping(value), within)
        elif key == "roles":
            for role in value if isinstance(value, list) else ():
                named = role if isinstance(role, dict) else {"role": role}
                own = {**within, **_mapping(named.get("vars")), **named}
                yield from _of_role(str(named.get("role") or named.get("name")), own, places)
        elif key in IMPORTS:
            yield from _of_role(str(_mapping(value).get("name")), within, places)
        else:
            yield from _names(value, within, places)


def _of_role(name: str, variables: Variables, places: Places) -> Iterator[str]:
    folder = _first(places, Path("roles") / name)
    known = {**_mapping(_load(folder / "defaults" / "main.yml")), **variables}
    for path in sorted((folder / "tasks").glob("*.yml"), key=lambda path: (path.stem != "main", path.name)):
        yield from _names(_load(path), known, places)


def _listed(arguments: Variables, variables: Variables) -> Iterable[str]:
    found = arguments.get("checks")
    named = VARIABLE.fullmatch(found) if isinstance(found, str) else None
    value = variables.get(named.group(1)) if named else found
    if isinstance(value, str) and "{{" in value:
        tests = [name for name, check in CHECKS.items() if check.active] if PROFILED in value else []
        return [*QUOTED.findall(value), *tests]
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]


def _mapping(value: object) -> Variables:
    return value if isinstance(value, dict) else {}


def _load(path: Path) -> object:
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise SettingsError(f"{path}: it cannot be read: {' '.join(str(error).split())}") from error
