"""What is installed: Python, Ansible, fleet-runner itself with its playbooks."""

import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from fleet_runner.cli.setup.doctor.finding import Finding, Site, ok, wrong

PART = "software"
AGAIN = "install fleet-runner again, in an environment of its own: pip install fleet-runner"
PARTS = ("ansible.cfg", "playbooks", "roles", "plugins")


def versions() -> Iterator[Finding]:
    """Say which versions run here, and whether Ansible is beside this Python."""
    try:
        own, ansible = version("fleet-runner"), version("ansible-core")
    except PackageNotFoundError as error:
        yield wrong(PART, f"{error.name} is not installed for {sys.executable}", AGAIN)
        return
    found = f"fleet-runner {own}, Python {platform.python_version()}, ansible-core {ansible}"
    least = next((each for each in requires("fleet-runner") or () if each.startswith("ansible-core>=")), "")
    program = Path(sys.executable).with_name("ansible-playbook")
    if least and _number(ansible) < _number(least.partition(">=")[2]):
        yield wrong(PART, f"{found}, expected {least}", AGAIN)
    elif not program.is_file():
        yield wrong(PART, f"{found}; there is no {program}, which runs the playbooks", AGAIN)
    else:
        yield ok(PART, found)


def project(site: Site) -> Iterator[Finding]:
    """Say where playbooks and roles come from."""
    folder = site.settings.project_dir
    missing = [name for name in PARTS if not (folder / name).exists()]
    if missing:
        todo = f"correct project_dir, or leave it out; else {AGAIN}"
        yield wrong("playbooks", f"{folder} has no {', '.join(missing)}", todo)
        return
    own = [
        f"{kind}/{path.name}"
        for place in site.settings.places
        if place != folder
        for kind in ("playbooks", "roles")
        for path in sorted((place / kind).glob("*"))
    ]
    instead = [name for name in own if (folder / name).exists()]
    said = f"; {', '.join(instead)} of your own in their place" if instead else ""
    yield ok("playbooks", f"{folder}{said}")


def _number(text: str) -> tuple[int, ...]:
    """Return the leading numbers of a version; what follows an odd part is left out."""
    found: list[int] = []
    for part in text.split("."):
        if not part.isdecimal():
            break
        found.append(int(part))
    return tuple(found)
