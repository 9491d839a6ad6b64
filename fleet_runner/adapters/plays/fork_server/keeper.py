"""Keeps a parent while a runner serves: one at a time, and another one when it has ended."""

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import structlog

from fleet_runner.adapters.plays import batch_folder
from fleet_runner.adapters.plays.fork_server import SILENT, SOCKET, answers, folder
from fleet_runner.settings import Settings

log = structlog.get_logger()

LOOK = 30.0  # seconds between two looks whether the parent answers
IMPORT = 300.0  # seconds it has to import everything and listen
PAUSE, LONGEST_PAUSE = 1.0, 300.0  # seconds before a parent that ended is followed by another one
STEADY = 60.0  # seconds after which a parent has not ended early
FAREWELL = 5.0  # seconds it has to end


@contextmanager
def kept(settings: Settings, environment: Mapping[str, str]) -> Iterator[None]:
    """Have a parent until the block ends; it ends, too, when this process is killed.

    `environment` is what supervisors get: one with another, and its play, are not forked.
    """
    stop = Event()
    keeper = Thread(target=_keep, args=(settings, dict(environment), stop), name="warm", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        stop.set()
        keeper.join(FAREWELL * 2)


def _keep(settings: Settings, environment: Mapping[str, str], stop: Event) -> None:
    """Start a parent, and another one when it has ended: it ends by itself once what it imported was changed."""
    place, pause = folder(settings), PAUSE
    while not stop.is_set():
        began = time.monotonic()
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not batch_folder.locked(place):  # another process that serves the same state has one otherwise
                _accompany(settings, environment, stop)
        except OSError as error:
            log.warning("no parent for plays can be started; they start as if there were none", why=str(error))
        pause = PAUSE if time.monotonic() - began > STEADY else min(pause * 2, LONGEST_PAUSE)
        stop.wait(pause)


def _accompany(settings: Settings, environment: Mapping[str, str], stop: Event) -> None:
    """Start a parent and stay until it has ended; end it when asked to stop, or when it does not answer.

    The kernel kills it where this thread, which starts it, ends before.
    """
    place = folder(settings)
    for left in (SOCKET, SILENT):  # of one that was killed
        (place / left).unlink(missing_ok=True)
    with (place / batch_folder.LOG).open("wb") as written:
        process = subprocess.Popen(  # noqa: S603  ourselves
            [sys.executable, "-m", "fleet_runner.adapters.plays.fork_server.parent", place.resolve()],
            stdin=subprocess.PIPE,  # closed when this process ends, however it ends: then the parent ends, too
            stdout=written,
            stderr=subprocess.STDOUT,
            env=dict(environment),
            cwd=settings.project_dir,
            start_new_session=True,  # Ctrl-C is for the runner
        )
    looked = time.monotonic()
    patience = IMPORT
    try:
        while process.poll() is None and not stop.wait(PAUSE):
            listens = (place / SOCKET).exists()
            patience = LOOK if listens else patience
            if time.monotonic() - looked > patience or (listens and (place / SILENT).exists()):
                _see_to(process, place)
                looked = time.monotonic()
    finally:
        _end(process)


def _see_to(process: subprocess.Popen[bytes], place: Path) -> None:
    """Have others ask a parent that answers, and kill one that does not."""
    if answers(place):
        (place / SILENT).unlink(missing_ok=True)
    elif not _has_ended(process):
        log.warning("the parent of plays does not answer and is killed; another one follows")
        process.kill()


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether it ends by itself: asked, it found that what it imported was changed."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(FAREWELL)
    return process.poll() is not None


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(FAREWELL)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
