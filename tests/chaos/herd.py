"""The processes of a lab: runners, their supervisors, their plays; found by the lab's name, ended by their ids."""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fleet_runner.adapters import batches
from tests.chaos.ansible_playbook import LAB, SEED
from tests.chaos.site import Site

ROOT = Path(__file__).resolve().parent.parent.parent
PROC = Path("/proc")


def environment(folder: Path) -> Path:
    """Make a virtual environment in which `ansible-playbook` is the stand-in; return its interpreter.

    The play's PATH begins with the folder of the interpreter that runs it.
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
        return "fleet_runner.adapters.supervisor" in self.command


@dataclass(slots=True)
class Herd:
    """The runners of one lab, each with a folder of its own."""

    site: Site
    seed: int
    python: Path
    database_url: str = ""
    serving: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict[str, "subprocess.Popen[bytes]"])
    ended: list[subprocess.Popen[bytes]] = field(default_factory=list["subprocess.Popen[bytes]"])
    locks: dict[str, int] = field(default_factory=dict[str, int])

    def start(self, runner: str) -> None:
        """Have a runner serve."""
        file = self.site.settings(runner, self.database_url)
        self._cold(runner)
        own = {LAB: str(self.site.root), SEED: str(self.seed), "PYTHONPATH": str(ROOT)}
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

    def _cold(self, runner: str) -> None:
        """Keep a runner from having a parent of plays, as another process with one would: it forks Ansible itself."""
        if runner not in self.locks:
            folder = self.site.state_dir(runner) / "warm"
            folder.mkdir(parents=True, exist_ok=True)
            self.locks[runner] = os.open(folder / batches.LOCK, os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self.locks[runner], fcntl.LOCK_EX)

    def signal(self, runner: str, number: signal.Signals) -> None:
        """Signal a runner, and nobody else."""
        self.serving[runner].send_signal(number)

    def bury(self, runner: str, patience: float = 30.0) -> int:
        """Wait until a runner has ended; return its exit status."""
        process = self.serving.pop(runner)
        self.ended.append(process)
        return process.wait(patience)

    def carried(self, runner: str) -> list[Found]:
        """Return the supervisors of a runner's batches, and their plays."""
        folder = self.site.state_dir(runner) / "batches"
        return [found for found in self.alive() if found.batch is not None and found.batch.parent == folder]

    def alive(self) -> list[Found]:
        """Return every living process of the lab, the test's own excepted."""
        return [found for found in _processes(f"{LAB}={self.site.root}") if found.pid != os.getpid()]

    def end(self) -> None:
        """End whatever lives, however the seed went; a process that was stopped is woken by its end."""
        until = time.monotonic() + 10.0
        while (left := self.alive()) and time.monotonic() < until:
            for found in left:
                kill(found.pid, signal.SIGKILL)
            for process in (*self.serving.values(), *self.ended):
                process.poll()
            time.sleep(0.05)
        while self.locks:
            os.close(self.locks.popitem()[1])

    def logs(self) -> str:
        """Return what the runners said last."""
        texts = (
            (path.name, path.read_text("utf-8", "replace")[-3000:]) for path in sorted(self.site.root.glob("*.log"))
        )
        return "\n".join(f"--- {name}\n{text}" for name, text in texts)


def kill(pid: int, number: signal.Signals) -> None:
    """Signal a process that may be gone by now."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _processes(tag: str) -> Iterator[Found]:
    for folder in PROC.iterdir():
        if not folder.name.isdigit():
            continue
        try:
            environ = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
            command = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:  # it has ended, or is not ours
            continue
        if tag in environ:
            yield Found(int(folder.name), _batch(environ, command), " ".join(command).strip())


def _batch(environ: list[str], command: list[str]) -> Path | None:
    """Return the folder of a process's batch: a supervisor names it, a play writes its spool there."""
    if "fleet_runner.adapters.supervisor" in command:
        return Path(next(word for word in reversed(command) if word))
    spools = (word.partition("=")[2] for word in environ if word.startswith("FLEET_SPOOL="))
    return next((Path(spool).parent for spool in spools), None)
