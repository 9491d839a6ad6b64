"""The plugin as a site installs it: its wheel, built from what git has of its folder."""

import shutil
import sys
from pathlib import Path

from tests.packaging.machine import run
from tests.playing import PROJECT

FOLDER = "netbox_plugin"


def sources() -> list[str]:
    """Return the plugin's files, as git has them, by their names in its folder."""
    listed = run("git", "-C", PROJECT / FOLDER, "ls-files", "-co", "--exclude-standard", "--", ".")
    return [name for name in listed.splitlines() if (PROJECT / FOLDER / name).is_file()]


def built(folder: Path) -> Path:
    """Build the wheel in a folder, from a copy there."""
    for name in sources():
        to = folder / FOLDER / name
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(PROJECT / FOLDER / name, to)
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=folder / FOLDER)
    (wheel,) = folder.glob("*.whl")
    return wheel
