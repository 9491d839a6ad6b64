"""The parent of plays and supervisors: `python -m fleet_runner.adapters.plays.fork_server.parent FOLDER`.

It first becomes a process with the environment of a play, then imports Ansible, what our plugins import and what
supervisors do, and forks for each caller. It reads nothing of what callers send: the fork does, so nothing of one
batch is there for the next. It ends when its input is closed, when a file that it imported was changed, or when it
has grown; and the kernel kills it where who keeps it was killed, for it may be frozen then.
"""

import contextlib
import ctypes
import gc
import importlib
import importlib.util
import os
import select
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NoReturn

from fleet_runner.adapters.plays import batch_folder, processes
from fleet_runner.adapters.plays.fork_server import SOCKET, mark
from fleet_runner.adapters.plays.fork_server import environment as surroundings
from fleet_runner.adapters.plays.fork_server.environment import Surroundings

BECOME = "FLEET_WARM"
"""Set in the environment of a parent that has become what it should be: the digest of the one that it had before."""

OURS = "FLEET_"
"""How variables begin that are a batch's own; no parent has any."""

IMPORTED = (
    "ansible.cli.playbook",
    "ansible.executor.process.worker",
    "ansible.executor.task_executor",
    "ansible.executor.powershell.module_manifest",
    "ansible.plugins.action.normal",
    "ansible.plugins.callback.default",
    "ansible.plugins.connection.local",
    "ansible.plugins.connection.ssh",
    "ansible.plugins.inventory.yaml",
    "ansible.plugins.shell.sh",
    "ansible.plugins.strategy.free",
    "ansible.plugins.strategy.linear",
    "ansible.plugins.vars.host_group_vars",
    "fleet_runner.adapters.files.known_hosts",
    "fleet_runner.adapters.plays.play",
    "fleet_runner.adapters.ipmi",
    "fleet_runner.adapters.schedulers.slurm",
    "fleet_runner.adapters.sitefiles",
    "fleet_runner.adapters.store.facade",
    "fleet_runner.adapters.store_snapshot",
    "fleet_runner.settings",
    "fleet_runner.adapters.source",
    "fleet_runner.core.firmware.guard",
    "sqlalchemy.dialects.sqlite",
)
"""What plays and supervisors import only while they run; what else they need comes along."""

LEASED = ("fleet_runner.adapters.plays.lease_holder", "psycopg", "sqlalchemy.dialects.postgresql.psycopg")
"""What supervisors import beside it that bring to a PostgreSQL what plays say."""

PLUGINS = ("action", "callback", "filter", "inventory", "strategy")
"""Our plugins are loaded by each play, from their files; what they import is here already."""

GROWTH = 1.5
"""Times its first size at which a parent ends."""

BACKLOG = 128

LIFELINE = 0
"""Its input, which whoever keeps it holds open for as long as he lives."""

SET_PARENT_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of prctl(2): what is set outlives execve, and forks do not get it."""

Signature = dict[str, tuple[int, int, int]]


def main(arguments: list[str]) -> int:
    """Be the parent in the folder `arguments[0]`, unless there is one; what else is to be imported follows it."""
    place, further = Path(arguments[0]), [each for each in arguments[1:] if each != mark.WORDS]
    ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0)
    before = os.environ.pop(BECOME, "")
    if before == "":
        become(place)
    lock = batch_folder.take(place)
    if lock is None:
        return 0
    began = time.time_ns()
    project = Path.cwd()
    warm(project, further)
    from fleet_runner.adapters.plays.fork_server import forked  # noqa: PLC0415  it needs Ansible with a play's environment

    known = signature(read(project))
    if any(began <= changed <= time.time_ns() for _, _, changed in known.values()):
        _say("files were changed while they were imported")
        return 0
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, _bury)
    if threading.active_count() != 1 or len(list(Path("/proc/self/task").iterdir())) != 1:
        _say("something that was imported began a thread, and a process with threads cannot be forked safely")
        return 1
    expected = Surroundings(surroundings.shared(os.environ), before)
    with _listening(place) as listening:
        _serve(listening, known, lambda call: forked.carry(call, (listening.fileno(), lock), expected))
    return 0


def become(place: Path) -> NoReturn:
    """Begin anew with the environment that a play has, without what is a batch's own: secrets, too, may be there."""
    from fleet_runner import settings as settings_module  # noqa: PLC0415  only this first process needs them
    from fleet_runner.adapters.plays import play  # noqa: PLC0415  likewise

    template = place / "template"
    template.mkdir(mode=0o700, exist_ok=True)
    try:
        settings = settings_module.load()
        environment = play.template(template, settings)
    finally:
        shutil.rmtree(template, ignore_errors=True)
    environment = {name: value for name, value in environment.items() if not name.startswith(OURS)}
    environment |= {BECOME: surroundings.digest(os.environ), processes.TAG: mark.ROOM}
    further = LEASED if settings.store_url.startswith("postgres") else ()
    words = [sys.executable, "-m", __spec__.name, str(place), *further, mark.WORDS]
    os.execve(sys.executable, words, environment)  # noqa: S606  ourselves


def warm(project: Path, further: Iterable[str]) -> None:
    """Import what plays and supervisors import."""
    for name in (*IMPORTED, *further):
        importlib.import_module(name)
    for number, file in enumerate(_plugins(project)):
        spec = importlib.util.spec_from_file_location(f"_warm_{number}", file)
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
    importlib.import_module("fleet_runner.core.checks.catalogue").CHECKS.load()


def read(project: Path) -> set[str]:
    """Return the files that were read: modules, our plugins, and what says how Ansible and Python are set up."""
    files = {getattr(module, "__file__", None) for module in tuple(sys.modules.values())} - {None}
    others = (*_plugins(project), project / "ansible.cfg", Path(sys.prefix) / "pyvenv.cfg")
    return {str(file) for file in (*files, *others)}


def signature(files: Iterable[str]) -> Signature:
    """Return inode, size and time of files."""
    return {file: _stat(file) for file in files}


def _plugins(project: Path) -> Iterator[Path]:
    for kind in PLUGINS:
        yield from sorted((project / "plugins" / kind).glob("*.py"))


def _stat(file: str) -> tuple[int, int, int]:
    try:
        found = os.stat(file)  # noqa: PTH116  a thousand files for each play: pathlib takes three times as long
    except OSError:
        return (0, 0, 0)
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def _listening(place: Path) -> socket.socket:
    os.chdir(place)  # a socket's name may not be as long as a path
    Path(SOCKET).unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(SOCKET)
    listening.listen(BACKLOG)
    return listening


def _serve(listening: socket.socket, known: Signature, carry: Callable[[socket.socket], NoReturn]) -> None:
    """Fork for each caller until something ends it; callers that wait then start Ansible themselves."""
    most = _resident() * GROWTH
    while True:
        ready, _, _ = select.select([listening.fileno(), LIFELINE], [], [])
        if LIFELINE in ready:
            break
        call, _ = listening.accept()
        with call:
            if signature(known) != known:
                _say("what was imported has changed; another parent follows")
                break
            if _resident() > most:
                _say("it has grown; another parent follows")
                break
            if os.fork() == 0:
                carry(call)
    Path(SOCKET).unlink(missing_ok=True)


def _bury(*_: object) -> None:
    """Wait for forks that have ended, so that none stays as a zombie, and their CPU time counts as this process's."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1])


def _say(sentence: str) -> None:
    print(f"parent {os.getpid()}: {sentence}", flush=True)  # noqa: T201  its output is its log


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
