"""fleet-runner init: the folder of a new fleet, with settings, site files, inventory and policy to edit."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from fleet_runner.cli.base.session import console
from fleet_runner.core.base.errors import FleetError
from fleet_runner.settings import PROJECT_DIR

TEMPLATES = Path(__file__).resolve().parent.parent / "templates" / "init"
"""Files that are laid down as they are."""

OWN = {"fleet.toml": "fleet.toml", "policy.yml": "inventory/policy.yml"}
"""Where each of them goes."""

EXAMPLES = PROJECT_DIR / "docs" / "examples"
PROFILES = "device_type_*.yml"
OF_THE_LAB = "device_type_lab_*.yml"
"""Profiles of simulated hardware: no fleet has any."""


def init(
    folder: Annotated[Path, typer.Argument(help="folder of the new fleet; created if missing", metavar="DIR")],
    *,
    example: Annotated[bool, typer.Option("--example", help="with two example servers, to try it out")] = False,
) -> None:
    """Create the folder of a new fleet: settings, site files, inventory with profiles, policy.

    Nothing that is there is overwritten. Automation only observes until fleet-runner mode says more.
    """
    root = Path(os.path.abspath(folder.expanduser()))  # noqa: PTH100  a link to a folder is shown as it was typed
    texts = files(example=example)
    _refuse(root, texts)
    _write(root, texts)
    console.print(f"{root}: {len(texts)} files were written; automation only observes", markup=False, soft_wrap=True)
    for line in _next(root, example=example):
        console.print(line, markup=False, soft_wrap=True)


def files(*, example: bool) -> dict[str, str]:
    """Return every file by its path in the folder; site files are comments alone, where no example is wanted."""
    found = {place: _read(TEMPLATES / name) for name, place in OWN.items()}
    found["inventory/fleet.yml"] = _read(PROJECT_DIR / "inventory" / "fleet.yml")
    profiles = sorted((PROJECT_DIR / "inventory" / "group_vars").glob(PROFILES))
    profiles = [path for path in profiles if not path.match(OF_THE_LAB)]
    if example:
        profiles += sorted((EXAMPLES / "group_vars").glob(PROFILES))
    found |= {f"inventory/group_vars/{path.name}": _read(path) for path in profiles}
    for path in sorted((EXAMPLES / "site").glob("*.yml")):
        text = _read(path)
        found[f"site/{path.name}"] = text if example else commented(text)
    return found


def commented(text: str) -> str:
    """Return YAML with every line as a comment, but for the mark of its beginning."""
    lines = [line if line in {"---", ""} else f"# {line}" for line in text.splitlines()]
    return "\n".join(lines) + "\n"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise FleetError(
            f"{path}: {error.strerror}; this installation is incomplete: install fleet-runner again"
        ) from error


def _refuse(root: Path, texts: Mapping[str, str]) -> None:
    """Raise FleetError where one of the files is there already, were it a broken link."""
    there = [name for name in sorted(texts) if os.path.lexists(root / name)]
    if there:
        raise FleetError(
            f"{root} has {', '.join(there)} already; nothing was written. Choose another folder, or move them away"
        )


def _write(root: Path, texts: Mapping[str, str]) -> None:
    """Write every file, and take them away again where one cannot be written."""
    made: list[Path] = []
    try:
        for name, text in texts.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                made.append(path)
                file.write(text)
    except OSError as error:
        for path in made:
            path.unlink(missing_ok=True)
        raise FleetError(
            f"{error.filename or root}: {error.strerror}; nothing was left there. Choose a writable folder"
        ) from error


def _next(root: Path, *, example: bool) -> tuple[str, str, str]:
    """Return what is to be done next, in three lines."""
    place = shlex.quote(str(root))
    first = "its example servers do not exist; replace them" if example else "your racks, device types, nodes, cables"
    return (
        f"1. Edit {place}/fleet.toml, which lists the required settings, and {place}/site: {first}.",
        f"2. cd {place} && fleet-runner doctor    # says what is missing, and what to type",
        "3. fleet-runner tick && fleet-runner status    # once; fleet-runner serve goes on",
    )
