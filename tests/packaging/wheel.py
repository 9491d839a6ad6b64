"""fleet-runner as pip installs it: the wheel, built from the project and installed in an environment of its own."""

import os
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from tests.packaging.machine import copied, run

HELD = "fleet_runner/project"
"""Where the wheel holds what a clone has beside the package."""


@dataclass(frozen=True, slots=True)
class Installed:
    """An environment with the wheel in it; every other package is that of the tests."""

    wheel: Path
    root: Path

    @property
    def package(self) -> Path:
        """Return the installed package."""
        (found,) = self.root.glob("lib/python3*/site-packages/fleet_runner")
        return found

    def environment(self, folder: Path) -> dict[str, str]:
        """Return what a command gets, in a home of its own, with nothing of a clone."""
        return {
            "PATH": os.pathsep.join([str(self.root / "bin"), os.environ["PATH"]]),
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "COLUMNS": "200",
        }

    def said(self, folder: Path, *words: str | Path) -> str:
        """Run a command of the product in a folder to its good end; return what it said."""
        return run("fleet-runner", *words, cwd=folder, env=self.environment(folder))

    def files(self) -> dict[str, tuple[int, int]]:
        """Return size and time of every installed file: nothing may be written there."""
        found = {path: path.stat() for path in self.package.rglob("*")}
        return {str(path): (each.st_size, each.st_mtime_ns) for path, each in found.items()}


def installed(folder: Path) -> Installed:
    """Build the wheel from what git has of the project, and install it."""
    copied(folder / "clone")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=folder / "clone")
    (wheel,) = folder.glob("*.whl")
    root = folder / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", root)
    (packages,) = root.glob("lib/python3*/site-packages")
    (packages / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n")  # .pth files there are not followed
    pip = (sys.executable, "-m", "pip", "--python", root / "bin" / "python", "--disable-pip-version-check")
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", "--ignore-installed", wheel)
    program = root / "bin" / "ansible-playbook"
    program.write_text(f"#!{root / 'bin' / 'python'}\nfrom ansible.cli.playbook import main\n\nmain()\n")
    program.chmod(0o755)
    return Installed(wheel, root)
