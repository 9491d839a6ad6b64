"""What an upgrade leaves behind: units of another installation, files of one's own that have fallen behind."""

import filecmp
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fleet_runner.adapters.plays import profiles
from fleet_runner.cli.setup.doctor.finding import Finding, Site, ok, some, warning, wrong
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.settings import Settings

UNITS = tuple(Path(each) for each in ("/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"))
"""Where systemd looks for units; the first one of a name counts."""

NAMES = ("fleet-runner.service", "fleet-runner-subscribe.service")
SEARCHED = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where systemd looks for a program without a path."""

PROGRAM = re.compile(r"^ExecStart=[-@:+!]*(\S+)", re.MULTILINE)
PROFILES = "device_type_*.yml"


def units(_: Site) -> Iterator[Finding]:
    """Say whether the units on this machine start the fleet-runner that is asked now."""
    for name in NAMES:
        files = [path for folder in UNITS if (path := folder / name).is_file()]
        found = PROGRAM.search(files[0].read_text(encoding="utf-8", errors="replace")) if files else None
        if found is None:
            continue
        program = shutil.which(found[1], path=SEARCHED)
        if program is None:
            yield wrong("unit", f"{files[0]} starts {found[1]}, which is not there", _replace(files))
        elif Path(program).resolve().parent != Path(sys.executable).parent.resolve():
            here = f"this is {Path(sys.executable).with_name('fleet-runner')}"
            yield warning("unit", f"{files[0]} starts {program}, another installation; {here}", _replace(files))
        else:
            yield ok("unit", f"{files[0]} starts this fleet-runner")


def _replace(files: list[Path]) -> str:
    """Return what to type where the first of these units is not the one that is wanted."""
    file = shlex.quote(str(files[0]))
    away = f"rm {file}" if len({path.resolve() for path in files}) > 1 else f"correct ExecStart= in {file}"
    return f"{away}, then systemctl daemon-reload && systemctl restart fleet-runner"


def overrides(site: Site) -> Iterator[Finding]:
    """Say which playbooks and roles of one's own are as those that are installed, and so only keep updates away."""
    installed = site.settings.project_dir
    own = [
        path
        for place in site.settings.places
        if place != installed
        for kind in ("playbooks", "roles")
        for path in sorted((place / kind).glob("*"))
    ]
    there = [(path, installed / path.parent.name / path.name) for path in own]
    there = [(mine, theirs) for mine, theirs in there if theirs.exists()]
    same = [str(mine) for mine, theirs in there if _same(mine, theirs)]
    if same:
        todo = "delete them, or their updates never arrive: rm -r " + shlex.join(same[:3])
        yield warning("overrides", f"copies of what is installed: {some(same)}", todo)
    changed = [(mine, theirs) for mine, theirs in there if str(mine) not in same]
    if changed:
        mine, theirs = changed[0]
        todo = f"after an upgrade compare them: diff -r {shlex.quote(str(theirs))} {shlex.quote(str(mine))}"
        yield ok("overrides", f"{len(changed)} differ from what is installed; {todo}")


def _same(mine: Path, theirs: Path) -> bool:
    """Return whether two files, or two folders with all that is in them, have the same bytes."""
    if mine.is_file() and theirs.is_file():
        return filecmp.cmp(mine, theirs, shallow=False)
    if not (mine.is_dir() and theirs.is_dir()):
        return False
    names = [
        {path.relative_to(root) for path in root.rglob("*") if path.is_file() and path.parent.name != "__pycache__"}
        for root in (mine, theirs)
    ]
    return names[0] == names[1] and not any(filecmp.cmpfiles(mine, theirs, map(str, names[0]), shallow=False)[1:])


def values(site: Site) -> Iterator[Finding]:
    """Say where profiles of one's own differ from those of the same name that are installed."""
    shipped = site.settings.project_dir / "inventory" / "group_vars"
    beside = site.settings.inventory_file.parent / "group_vars"
    if beside.resolve() == shipped.resolve():
        return
    for theirs in sorted(shipped.glob(PROFILES)):
        mine = beside / theirs.name
        if not mine.is_file():
            continue
        try:
            said = difference(_profile(site.settings, mine), _profile(site.settings, theirs))
        except SettingsError:
            continue  # the look at the inventory says so
        if said:
            todo = f"diff {shlex.quote(str(theirs))} {shlex.quote(str(mine))}"
            yield ok("values", f"{mine.name} {said}; compare: {todo}")


def difference(mine: dict[str, Any], theirs: dict[str, Any]) -> str:
    """Return how a profile differs from the one that is installed, by its sections; "" where it does not."""
    parts = (
        ("has none of", sorted(theirs.keys() - mine.keys())),
        ("adds", sorted(mine.keys() - theirs.keys())),
        ("differs in", sorted(name for name in mine.keys() & theirs.keys() if mine[name] != theirs[name])),
    )
    return ", ".join(f"{verb} {', '.join(map(str, names))}" for verb, names in parts if names)


def _profile(settings: Settings, file: Path) -> dict[str, Any]:
    return profiles.last(settings, (file,), file.stem)
