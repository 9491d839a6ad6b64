"""NetBox's own environment: a Python that is new enough, and NetBox in it as its project publishes it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from fleet_runner.lab.folder import LabError
from fleet_runner.lab.netbox import processes

VERSION = "4.7.3"
"""The release that the tests and the demo run; the one place that names it."""

BEFORE = ("4.7.2", "4.7.1")
"""The releases that the nightly tests run as well."""

PYTHON = (3, 12)
"""The oldest Python that NetBox 4.7 runs on."""

PYTHONS = ("python3.12", "python3.13", "python3.14", "python3")

Tell = Callable[[str], object]


def python() -> str | None:
    """Return a Python that NetBox runs on, or None where this computer has none."""
    return next((path for path in _pythons() if _version(path) >= PYTHON), None)


def cache(version: str) -> Path:
    """Return the folder in which a release's environment and its migrated database are kept."""
    root = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(root) if Path(root).is_absolute() else Path.home() / ".cache"
    return base / "fleet-runner" / "netbox" / version


def environment(version: str) -> Path:
    """Return the `bin` folder of a release's environment."""
    return cache(version) / "venv" / "bin"


def install(version: str, tell: Tell) -> None:
    """Make a release's environment where it is missing; the caller holds the lock of its cache."""
    folder = cache(version) / "venv"
    done = folder / "complete"
    if done.exists():
        return
    found = python()
    if found is None:
        raise LabError(f"NetBox {version} needs Python {'.'.join(map(str, PYTHON))} or newer; install python3.12")
    shutil.rmtree(folder, ignore_errors=True)
    pinned = cache(version) / "constraints.txt"
    pinned.write_text(f"netbox=={version}\n", "utf-8")
    tell(f"installing NetBox {version} into {folder}; about two minutes, once")
    log = cache(version) / "install.log"
    _run([found, "-m", "venv", str(folder)], log)
    _run([str(environment(version) / "pip"), "install", "--constraint", str(pinned), "netbox"], log)
    done.touch()


def add(version: str, packages: tuple[str, ...], folder: Path) -> None:
    """Install packages for one NetBox into a folder of its own; what they need, NetBox's environment has."""
    words = [str(environment(version) / "pip"), "install", "--no-deps", "--upgrade", "--target", str(folder)]
    _run([*words, *packages], folder.with_name("packages.log"))


def _pythons() -> Iterator[str]:
    """Yield each Python that may do: on PATH, then pyenv's, whichever of them is switched on."""
    yield sys.executable
    yield from filter(None, map(shutil.which, PYTHONS))
    pyenv = Path(os.environ.get("PYENV_ROOT", "") or Path.home() / ".pyenv")
    yield from map(str, sorted(pyenv.glob("versions/3.*/bin/python3")))


def _version(path: str) -> tuple[int, ...]:
    asked = [path, "-c", "import sys, ensurepip; print(*sys.version_info[:2])"]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, timeout=20, check=True)
        return tuple(map(int, done.stdout.split()))
    except (OSError, ValueError, subprocess.SubprocessError):
        return ()


def _run(words: list[str], log: Path) -> None:
    if code := processes.run(words, log, dict(os.environ)):
        raise LabError(f"`{' '.join(words[:3])} …` ended with {code}; read {log}")
