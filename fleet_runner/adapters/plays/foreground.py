"""A playbook in the foreground, for somebody who waits: what it tells is read while it runs."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fleet_runner.adapters.plays import extra_vars, project
from fleet_runner.adapters.plays.batch_folder import SPOOL
from fleet_runner.core.lifecycle.spool import Decoded, Line
from fleet_runner.settings import Settings

GRACE = 10.0  # seconds that Ansible has to end when it is asked to

LAST = 20
"""Lines of what Ansible said that tell why it failed."""


class Play:
    """A playbook that runs."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        self._process = process
        self._folder = folder
        self._offset = 0

    def told(self) -> tuple[Line, ...]:
        """Return what it told since the last time."""
        try:
            with (self._folder / SPOOL).open("rb") as file:
                file.seek(self._offset)
                found = Decoded.of(file.read())
        except FileNotFoundError:
            return ()
        self._offset += found.used
        return found.lines

    def ended(self, patience: float) -> int | None:
        """Return its exit status; None if it has none after so many seconds."""
        try:
            return self._process.wait(patience)
        except subprocess.TimeoutExpired:
            return None

    def said(self) -> str:
        """Return the end of what Ansible printed."""
        lines = (self._folder / "log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return "\n".join(lines[-LAST:])


@contextmanager
def started(settings: Settings, playbook: str, nodes: Sequence[str], variables: Mapping[str, Any]) -> Iterator[Play]:
    """Run a playbook, by its name, on nodes; whatever ends the block ends it."""
    with tempfile.TemporaryDirectory(prefix="fleet-") as made:
        folder = Path(made)
        extra = folder / "extravars.json"
        extra.write_text(extra_vars.written(variables), encoding="utf-8")
        command: list[str | Path] = [Path(sys.executable).with_name("ansible-playbook")]
        command += ["--inventory", settings.inventory_file, "--limit", ",".join(nodes)]
        command += ["--forks", str(settings.forks), "--extra-vars", f"@{extra}"]
        command += [settings.playbook(playbook)]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(  # noqa: S603  our own playbook, without a shell
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=_environment(settings, folder),
            )
        try:
            yield Play(process, folder)
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask it to end, which it passes on to its workers; kill it where it does not."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _environment(settings: Settings, folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        **project.variables(settings),
        "ANSIBLE_NOCOLOR": "1",
        "FLEET_SPOOL": str(folder / SPOOL),
        "LC_ALL": "C.UTF-8",  # Ansible refuses to start under others, and tools answer in one language
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
    }
