"""Starts playbooks that outlive the runner, and finds them again: launch, look, spool, stop, discard.

A batch is one stage for several nodes, carried by a detached supervisor; whoever launched it may be killed at
any instant and a later process learns from the batch's folder what became of it.
"""

import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from fleet_runner.adapters.plays import batch_folder, fork_server, processes
from fleet_runner.core.base.errors import ConflictError, FleetError
from fleet_runner.core.lifecycle.spool import Decoded
from fleet_runner.core.lifecycle.states import STAGES, Stage
from fleet_runner.settings import Settings, config_file

SPOOL_BYTES = 8 * 1024 * 1024
"""How much of a spool one call reads: a bound on memory and on the time of a tick."""

LINE_BYTES = 256 * 1024 * 1024
"""The longest line that is read at all: evidence of the largest fabrics, with JSON's escapes."""

RUNNER = "runner"
"""What ansible-runner has in a batch's folder while the play runs; nothing of it is needed later."""

PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""Names that are neither a path nor a pattern of Ansible's `--limit`."""

_children: set[int] = set()  # supervisors of this process, and who had one forked, that nobody waited for yet


class BatchState(StrEnum):
    """What can be known about a batch from its folder and the process table."""

    NEW = "new"  # nothing ran yet: launching it (again) is safe
    OFFERED = "offered"  # nothing ran yet, and a runner will take it
    DROPPED = "dropped"  # nothing ran, and nothing will
    RUNNING = "running"  # its supervisor lives
    ORPHANED = "orphaned"  # its supervisor was killed; the task it was in goes on
    ENDED = "ended"  # its supervisor saw its end
    LOST = "lost"  # it ran, and nobody saw its end


@dataclass(frozen=True, slots=True)
class Look:
    """One look at a batch. `rc` is set once it has ended; `detail` is a sentence, or empty.

    `age` is for how many seconds it runs; None is since its runs were opened.
    """

    state: BatchState
    rc: int | None = None
    detail: str = ""
    age: float | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """One stage for several nodes; `runs` is what Ansible gets as `fleet_runs`, by node; `places` where they are."""

    id: str
    stage: Stage
    runs: Mapping[str, Mapping[str, Any]]
    places: tuple[str, ...] = ()


def launch(settings: Settings, batch: Batch) -> None:
    """Start a batch that nobody started yet; a batch that was started is left alone.

    Raises:
        ConflictError: the same batch waits to be started with other runs.
        FleetError: a name is unusable, or the folder cannot be written; nothing was started.
    """
    check(batch)
    folder = _folder(settings, batch.id)
    with files(f"batch {batch.id} was not started"):
        if look(settings, batch.id).state is not BatchState.NEW:
            return
        begin(settings, folder, batch)


def begin(settings: Settings, folder: Path, batch: Batch, **more: Any) -> None:
    """Write a batch's folder, with what else its supervisor is told, and start that; its tag is the folder's name."""
    settings.batches_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    _specify(folder, batch, **more)
    command = fork_server.instead(settings, [sys.executable, "-m", fork_server.SUPERVISOR, str(folder)])
    _children.add(_spawn(folder, command, environment(settings, folder.name)))


def look(settings: Settings, batch_id: str) -> Look:
    """Tell what became of a batch.

    The order of the reads matters: `started` is made under the lock and `rc` before the lock is let go, so what
    is read in this order cannot contradict itself while a supervisor comes up or ends.
    """
    reap()
    folder = _folder(settings, batch_id)
    with files(f"batch {batch_id} cannot be read"):
        started = (folder / batch_folder.STARTED).exists()
        held = batch_folder.locked(folder)
        ended = batch_folder.read_rc(folder)
    if ended is not None:
        return Look(BatchState.ENDED, *ended)
    if held:
        return Look(BatchState.RUNNING)
    if not started:
        return Look(BatchState.NEW)
    alive = processes.tagged(batch_id)
    if alive:
        names = ", ".join(f"{one.pid} ({one.command[:60]})" for one in alive[:3])
        return Look(
            BatchState.ORPHANED,
            detail=f"The supervisor was killed; {len(alive)} processes are still running: {names}.",
        )
    forget_environment(folder)
    return Look(
        BatchState.LOST, detail=f"It was started, and no end was seen; {folder / batch_folder.LOG} says how far."
    )


def spool(settings: Settings, batch_id: str, offset: int) -> Decoded:
    """Return what the play told since byte `offset`, as much as one call reads.

    A line longer than that is passed over in pieces and counted as bad: one node's flood must not stop the rest.
    """
    with files(f"the spool of batch {batch_id} cannot be read"):
        return said(_folder(settings, batch_id) / batch_folder.SPOOL, offset, SPOOL_BYTES)


def said(path: Path, offset: int, most: int) -> Decoded:
    """Return what a spool holds since byte `offset`: about `most` bytes, and a whole line at least."""
    if not path.exists():
        return Decoded((), 0, 0)
    with path.open("rb") as file:
        file.seek(offset)
        data = file.read(most)
        if b"\n" not in data and len(data) == most:
            data += file.readline(LINE_BYTES - most)
    decoded = Decoded.of(data)
    if decoded.used == 0 and len(data) == LINE_BYTES:
        return Decoded((), len(data), 1)
    return decoded


def stop(settings: Settings, batch_id: str) -> None:
    """Have a running batch ended by its supervisor, which then writes `rc`; end what an orphaned one left."""
    match look(settings, batch_id).state:
        case BatchState.RUNNING:
            told = batch_folder.read_json(_folder(settings, batch_id) / batch_folder.STARTED)
            supervisor = processes.find(int(told.get("pid", 0)), batch_id)
            if supervisor is not None and supervisor.started == told.get("ticks"):
                processes.send(supervisor, batch_id, signal.SIGTERM)
        case BatchState.ORPHANED:
            processes.end(batch_id)
        case _:
            pass


def forget_environment(folder: Path) -> None:
    """Remove what ansible-runner wrote of a play that is over: the whole environment, with the store's password."""
    shutil.rmtree(folder / RUNNER, ignore_errors=True)


def discard(settings: Settings, batch_id: str) -> None:
    """Remove the folder of a batch that is over and whose spool was stored; others are left alone."""
    if look(settings, batch_id).state not in {BatchState.ENDED, BatchState.LOST}:
        return
    with files(f"batch {batch_id} cannot be discarded"):
        batch_folder.discard(_folder(settings, batch_id))


@contextmanager
def files(what: str) -> Iterator[None]:
    """Say what could not be done, and what to do, when the disk or its permissions are in the way."""
    try:
        yield
    except OSError as error:
        raise FleetError(
            f"{what}: {error.filename or 'its folder'}: {error.strerror}; "
            "free the disk or correct state_dir, the next tick tries again"
        ) from error


def check(batch: Batch) -> None:
    """Refuse a batch without nodes, or with names that Ansible would take for something else."""
    unusable = [name for name in batch.runs if not PLAIN.fullmatch(name) or name == "all"]
    if unusable or not batch.runs:
        found = ", ".join(map(repr, unusable)) or "no node"
        raise FleetError(
            f"batch {batch.id}: found {found}, expected names of letters, digits, '.', '_' and '-' "
            "that Ansible's --limit takes as they stand; correct the names in the source of truth"
        )


def _folder(settings: Settings, batch_id: str) -> Path:
    if not PLAIN.fullmatch(batch_id):
        raise FleetError(
            f"batch {batch_id!r}: expected letters, digits, '.', '_' and '-'; the store holds no such id"
        )
    return settings.batches_dir / batch_id


def _specify(folder: Path, batch: Batch, **more: Any) -> None:
    spec = {
        "batch": batch.id,
        "stage": batch.stage.value,
        "deadline": STAGES[batch.stage].deadline,
        "runs": {node: dict(run) for node, run in batch.runs.items()},
        **more,
    }
    text = json.dumps(spec)
    path = folder / batch_folder.SPEC
    if not batch_folder.create(path, text) and batch_folder.read_json(path) != json.loads(text):
        raise ConflictError(f"batch {batch.id} waits in {folder} with other runs; read the store again")


def environment(settings: Settings, batch_id: str) -> dict[str, str]:
    """Give the batch the runner's own settings, wherever they came from, and the tag it is found by."""
    file = config_file()
    own = {
        f"FLEET_{name.upper()}": json.dumps(value, default=str) if isinstance(value, dict) else str(value)
        for name, value in settings.model_dump().items()
        if value is not None
    }
    return {**os.environ, **own, **({"FLEET_CONFIG": str(file)} if file else {}), processes.TAG: batch_id}


def _spawn(folder: Path, command: list[str], environment: Mapping[str, str]) -> int:
    """Start the supervisor in a session of its own; not through subprocess, which frets about unwaited children."""
    log = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    return os.posix_spawn(
        command[0],
        command,
        environment,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(folder / batch_folder.LOG), log, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
        setsigmask=(),
        setsigdef=(signal.SIGTERM, signal.SIGINT, signal.SIGCHLD),
    )


def reap() -> None:
    """Wait for supervisors that have ended, so that a runner up for months keeps no zombies."""
    for pid in tuple(_children):
        try:
            over = os.waitpid(pid, os.WNOHANG)[0] == pid
        except ChildProcessError:  # somebody else waited for it
            over = True
        if over:
            _children.discard(pid)
