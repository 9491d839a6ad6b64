"""Where things are and how patient the runner is: from `fleet.toml` and FLEET_* variables.

The file is the one FLEET_CONFIG names, else `fleet.toml` in the working directory, if there is one; a variable
wins over the file. Relative paths in the file are relative to the file.
"""

import json
import os
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from fleet_runner.core.base.errors import SettingsError
from fleet_runner.settings import renamed
from fleet_runner.settings.fields import PATHS, PREFIX, Settings
from fleet_runner.settings.places import CODE_DIR, PROJECT_DIR, config_file

__all__ = ["CODE_DIR", "PATHS", "PREFIX", "PROJECT_DIR", "Settings", "config_file", "load", "origin", "strays"]

OWN = frozenset({
    "alive", "batch", "bmc_handed", "bmc_password", "bmc_username", "config", "copy_to", "playbooks", "spool"
})  # fmt: skip
"""What else is called so between the parts of fleet-runner itself, as well as all that begins with "lab"; and the
BMCs' credentials, which no file with settings may hold."""

EARLIER = Path("~/.local/state/fleet-runner")
"""Where every fleet of a user had its store by default, whichever its settings were."""

TABLES = frozenset({"kubernetes_clusters", "kubernetes_signals", "lemon_weights"})
"""Settings that are tables in the file."""

NEAR = 0.55
"""How alike (difflib's ratio) the name of a variable is to a setting's before it is taken for a slip of the pen."""


def load(**overrides: Any) -> Settings:
    """Read the settings, or say in one error which one is unusable and where it comes from."""
    file = config_file()
    try:
        found = Settings(**{**_written(file), **overrides})
    except ValidationError as error:
        raise SettingsError(_refused(error.errors()[0], file, overrides)) from error
    except ValueError as error:
        raise SettingsError(f"{file}: {error}") from error
    here = file.parent if file else Path.cwd()

    def placed(path: Path) -> Path:
        return (here / path.expanduser()).resolve()

    paths = {name: placed(value) for name in PATHS if (value := getattr(found, name)) is not None}
    clusters = {name: placed(path) for name, path in found.kubernetes_clusters.items()}
    if "state_dir" not in found.model_fields_set and not found.database_url:
        _moved(paths["state_dir"], file)
    if file is not None:
        paths.setdefault("overrides_dir", file.parent)
    source = found.source if "://" in found.source else str((here / Path(found.source).expanduser()).resolve())
    return found.model_copy(update={**paths, "source": source, "kubernetes_clusters": clusters})


def _written(file: Path | None) -> dict[str, Any]:
    """Return what file and variables say; a variable wins, in a table entry by entry. ValueError: it is no TOML."""
    filed = tomllib.loads(file.read_text(encoding="utf-8")) if file is not None else {}
    found = filed | _from_environment()
    for name in TABLES & found.keys():
        if isinstance(filed.get(name), dict) and isinstance(found[name], dict):
            found[name] = filed[name] | found[name]
    return found


def _from_environment() -> dict[str, Any]:
    """Return what variables say, in capitals or not; those of tables are JSON."""
    told = {name.lower(): value for name, value in os.environ.items()}
    found: dict[str, Any] = {
        name: told[variable] for name in Settings.model_fields if (variable := f"{PREFIX.lower()}{name}") in told
    }
    for name in TABLES & found.keys():
        try:
            found[name] = json.loads(found[name])
        except ValueError as error:
            shown = f"{PREFIX}{name.upper()}"
            raise SettingsError(
                f'variable {shown}: expected JSON like {{"name": 1}}, found {found[name]!r} ({error})'
            ) from error
    return found


def _moved(state: Path, file: Path | None) -> None:
    """Refuse to begin a store where nobody said so while there is one in the place of earlier releases."""
    earlier = EARLIER.expanduser()
    if (earlier / "fleet.db").exists() and not state.exists():
        where = file or "fleet.toml"
        raise SettingsError(
            f"no state_dir is set, and {earlier} has a store, as earlier releases kept it: to go on with it, write "
            f'state_dir = "{earlier}" into {where}; to begin another fleet, make {state}'
        )


def origin(name: str) -> str:
    """Return where a setting's value comes from, in words."""
    variable = f"{PREFIX}{name.upper()}"
    if variable in map(str.upper, os.environ):
        return f"from the variable {variable}"
    file = config_file()
    if file is not None and name in tomllib.loads(file.read_text(encoding="utf-8")):
        return f"from {file}"
    return f"whose default is {Settings.model_fields[name].default!r}; set it in fleet.toml or with {variable}"


def strays() -> list[str]:
    """Return a sentence for each variable whose name is nearly a setting's, or was one: it is not read."""
    found = [name.removeprefix(PREFIX).lower() for name in sorted(os.environ) if name.startswith(PREFIX)]
    unknown = [
        name for name in found if name not in OWN | Settings.model_fields.keys() and not name.startswith("lab")
    ]
    nearest = {name: get_close_matches(name, Settings.model_fields, n=1, cutoff=NEAR) for name in unknown}
    told = {
        name: renamed.sentence(name) or (f"did you mean {PREFIX}{near[0].upper()}?" if near else "")
        for name, near in nearest.items()
    }
    return [f"{PREFIX}{name.upper()} is no setting and is not read; {said}" for name, said in told.items() if said]


def _refused(error: ErrorDetails, file: Path | None, given: Mapping[str, Any]) -> str:
    """Say which setting is unusable, where it comes from, what was found and what is expected."""
    name, *inside = (str(part) for part in error["loc"])
    variable = f"{PREFIX}{name.upper()}"
    if name not in Settings.model_fields:
        near = get_close_matches(name, Settings.model_fields, n=1)
        told = renamed.sentence(name) or (f"did you mean {near[0]!r}?" if near else "")
        return f"{file}: {name!r} is no setting{f'; {told}' if told else ''}"
    where = f"setting {name!r} (from {file})"
    if name in given:
        where = f"setting {name!r}"
    elif variable in map(str.upper, os.environ):
        where = f"variable {variable}"
    at = f" at {'.'.join(inside)}" if inside else ""
    return f"{where}{at}: {error['msg'].removeprefix('Value error, ')}{_range(name)}, found {error['input']!r}"


def _range(name: str) -> str:
    """Return " (expected a number above 0 and at most 1)" for a setting that has a range."""
    field = Settings.model_fields[name]
    words = {"gt": "above", "ge": "at least", "le": "at most"}
    limits = [
        f"{said} {getattr(limit, key):g}"
        for limit in field.metadata
        for key, said in words.items()
        if getattr(limit, key, None) is not None
    ]
    kind = "a whole number" if field.annotation is int else "a number"
    return f" (expected {kind} {' and '.join(limits)})" if limits else ""
