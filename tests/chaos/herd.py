"""The processes of a lab: runners, their supervisors, their plays; found by the lab's name, ended by their ids."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fleet_runner.adapters.plays import processes
from tests.chaos.ansible_playbook import LAB, SEED
from tests.chaos.site import Site

ROOT = Path(__file__).resolve().parent.parent.parent
PROC = Path("/proc")


HOOK = """import sys, types

def main(arguments):
    from tests.chaos.ansible_playbook import main as play
    sys.exit(play(arguments[1:]))

sys.modules["ansible.cli.playbook"] = types.ModuleType("ansible.cli.playbook")
sys.modules["ansible.cli.playbook"].main = main
"""
"""What a parent of plays imports where it would import Ansible's main function."""


def environment(folder: Path) -> Path:
    """Make a virtual environment in which `ansible-playbook` is the stand-in; return its interpreter.

    It is the command, for the play's PATH begins with the folder of the interpreter that runs it, and it is what the
    parent of plays forks.
    """
    own = Path(sys.prefix)
    (folder / "bin").mkdir(parents=True)
    for name in ("lib", "pyvenv.cfg"):
        (folder / name).symlink_to(own / name)
    python = folder / "bin" / "python"
    python.symlink_to(Path(sys.executable).resolve())
    playbook = folder / "bin" / "ansible-playbook"
    playbook.write_text(f'#!/bin/sh\nexec {python} -m tests.chaos.ansible_playbook "$@"\n', encoding="utf-8")
    playbook.chmod(0o755)
    (folder / "hook").mkdir()
    (folder / "hook" / "sitecustomize.py").write_text(HOOK, encoding="utf-8")
    return python


@dataclass(frozen=True, slots=True)
class Found:
    """A living process of the lab; `batch` is the folder of the batch that it belongs to."""

    pid: int
    batch: Path | None
    command: str

    @property
    def is_supervisor(self) -> bool:
        """Whether it carries a batch."""
        return "fleet_runner.adapters.plays.supervisor" in self.command

    @property
    def is_parent(self) -> bool:
        """Whether it forks plays and supervisors, or is a fork that does not know yet which it will be."""
        return self.batch is None and "fleet_runner.adapters.plays.fork_server.parent" in self.command


@dataclass(slots=True)
class Herd:
    """The runners of one lab, each with a folder of its own."""

    site: Site
    fates: str
    python: Path
    database_url: str = ""
    serving: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict[str, "subprocess.Popen[bytes]"])
    ended: list[subprocess.Popen[bytes]] = field(default_factory=list["subprocess.Popen[bytes]"])

    def start(self, runner: str) -> None:
        """Have a runner serve."""
        file = self.site.settings(runner, self.database_url)
        path = f"{self.python.parent.parent / 'hook'}:{ROOT}"
        own = {LAB: str(self.site.root), SEED: self.fates, "PYTHONPATH": path}
        kept = {key: value for key, value in os.environ.items() if not key.startswith("FLEET_")}
        with (self.site.root / f"{runner}.log").open("ab") as log:
            self.serving[runner] = subprocess.Popen(
                [str(self.python), "-m", "fleet_runner.cli", "serve"],
                env={**kept, **own, "FLEET_CONFIG": str(file)},
                cwd=self.site.root,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def signal(self, runner: str, number: signal.Signals) -> None:
        """Signal a runner, and nobody else."""
        self.serving[runner].send_signal(number)

    def bury(self, runner: str, patience: float = 120.0) -> int:
        """Wait until a runner has ended; return its exit status."""
        process = self.serving.pop(runner)
        self.ended.append(process)
        return process.wait(patience)

    def carried(self, runner: str) -> list[Found]:
        """Return the supervisors of a runner's batches, and their plays, forked or not."""
        folder = self.site.state_dir(runner) / "batches"
        return [found for found in self.alive() if found.batch is not None and found.batch.parent == folder]

    def parents(self, runner: str) -> list[Found]:
        """Return what forks a runner's plays."""
        folder = str(self.site.state_dir(runner) / "warm")
        return [found for found in self.alive() if found.is_parent and folder in found.command]

    def alive(self) -> list[Found]:
        """Return every living process of the lab, the test's own excepted."""
        return [found for found in _processes(self.site.root) if found.pid != os.getpid()]

    def end(self) -> None:
        """End whatever lives, however the seed went; a process that was stopped is woken by its end."""
        until = time.monotonic() + 10.0
        while (left := self.alive()) and time.monotonic() < until:
            for found in left:
                kill(found.pid, signal.SIGKILL)
            for process in (*self.serving.values(), *self.ended):
                process.poll()
            time.sleep(0.05)

    def logs(self) -> str:
        """Return what the runners said last."""
        texts = (
            (path.name, path.read_text("utf-8", "replace")[-3000:]) for path in sorted(self.site.root.glob("*.log"))
        )
        return "\n".join(f"--- {name}\n{text}" for name, text in texts)


def catches(pid: int, number: signal.Signals) -> bool:
    """Whether a process has a handler for a signal: a runner that was just started has none, and is ended by it."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught, 16) >> (number - 1) & 1)


def kill(pid: int, number: signal.Signals) -> None:
    """Signal a process that may be gone by now."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _processes(lab: Path) -> Iterator[Found]:
    for folder in PROC.iterdir():
        if not folder.name.isdigit():
            continue
        try:
            environ = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
            command = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:  # it has ended, or is not ours
            continue
        if f"{LAB}={lab}" in environ:
            yield Found(int(folder.name), _batch(lab, environ, command), " ".join(command).strip())


def _batch(lab: Path, environ: list[str], command: list[str]) -> Path | None:
    """Return the folder of a process's batch: a supervisor names it, a play writes there or has its name."""
    if "fleet_runner.adapters.plays.supervisor" in command:
        return Path(next(word for word in reversed(command) if word))
    told = dict(word.partition("=")[::2] for word in environ)
    if spool := told.get("FLEET_SPOOL"):
        return Path(spool).parent
    return next(lab.glob(f"*/batches/{told.get(processes.TAG) or '-'}"), None)
