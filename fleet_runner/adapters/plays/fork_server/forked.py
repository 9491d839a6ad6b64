"""What the parent forks: it becomes one play, or a supervisor, as if it had been started for that."""

import array
import atexit
import contextlib
import fcntl
import gc
import json
import logging
import os
import signal
import socket
import struct
import sys
import tempfile
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, cast

from ansible import constants
from ansible.cli.playbook import main as ansible_playbook
from ansible.utils.path import cleanup_tmp_file

from fleet_runner.adapters.plays import engine, processes, supervisor
from fleet_runner.adapters.plays.fork_server import SUPERVISOR, mark
from fleet_runner.adapters.plays.fork_server import environment as surroundings
from fleet_runner.adapters.plays.fork_server.environment import Surroundings

PATIENCE = 10.0  # seconds that a caller has to say what it wants
MOST = 16 * 1024 * 1024  # bytes of what it says
STREAMS = 3

TEMPORARY = "DEFAULT_LOCAL_TMP"
"""Ansible's constant for the folder that each of its processes makes while it is imported, and removes at its end."""


class RefusedError(Exception):
    """What was asked for is not for a fork."""


def carry(call: socket.socket, inherited: Collection[int], expected: Surroundings) -> NoReturn:
    """Be what the caller wants, to its end; `inherited` is the parent's, and none of its business."""
    status = 1
    try:
        for handle in inherited:
            os.close(handle)
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        status = _carry(call, expected)
    except Exception:  # noqa: BLE001  the border of this process
        traceback.print_exc()
    finally:
        os._exit(status)


def _carry(call: socket.socket, expected: Surroundings) -> int:
    call.settimeout(PATIENCE)
    call.sendall(b"+")
    asked, streams = _asked(call)
    if not asked:  # it only wanted to know if anybody is there
        return 0
    command: list[str] = asked["command"]
    is_supervisor = command[1:3] == ["-m", SUPERVISOR]
    try:
        _check(command, asked["environment"], expected, is_supervisor=is_supervisor)
        _become(asked, streams, "\0".join(command) if is_supervisor else "")
    except (RefusedError, OSError) as error:
        call.sendall(f"no {error}\n".encode())
        return 1
    if is_supervisor:
        return _supervise(call, command[3:])
    with contextlib.suppress(OSError):  # where a service's filter forbids it, a play is not nicer, as with nice(1)
        os.nice(processes.NICE)
    call.sendall(f"pid {os.getpid()}\n".encode())
    if call.recv(16) != b"go\n":
        return 1
    _end_with(call)
    status = _play(command)
    with contextlib.suppress(OSError):
        call.sendall(f"exit {status}\n".encode())
    return status


def _check(
    command: Sequence[str], environment: Mapping[str, str], expected: Surroundings, *, is_supervisor: bool
) -> None:
    if is_supervisor and command[0] != sys.executable:
        raise RefusedError("it is for another Python, whose fleet-runner may be another one, too")
    if why := surroundings.why_not(environment, expected, is_supervisor=is_supervisor):
        raise RefusedError(why)


def _supervise(call: socket.socket, arguments: Sequence[str]) -> int:
    """Be a supervisor, for which nobody waits: it outlives its caller, and whoever started that."""
    try:
        call.sendall(f"pid {os.getpid()} alone\n".encode())
        if call.recv(16) != b"go\n":
            return 1
        call.sendall(b"began\n")
    except OSError:  # its caller is gone, and may have become another one
        return 1
    call.detach()  # it is closed with all that is open
    forget_logs()
    return _ended(lambda: supervisor.begin(arguments))


def forget_logs() -> None:
    """Close the log that Ansible opened while it was imported: its descriptor will soon be another file's."""
    for handler in tuple(logging.root.handlers):
        logging.root.removeHandler(handler)
        handler.close()


def _asked(call: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Return what the caller wants, and its descriptors; nothing where it only called."""
    user = struct.unpack("3i", call.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))[1]
    if user != os.geteuid():
        return {}, []
    data, ancillary, _, _ = call.recvmsg(8, socket.CMSG_SPACE(STREAMS * array.array("i").itemsize))
    streams = array.array("i")
    for _, kind, handles in ancillary:
        if kind == socket.SCM_RIGHTS:
            streams.frombytes(handles)
    data += _read(call, 8 - len(data)) if data else b""
    size = int.from_bytes(data, "big")
    if not 0 < size <= MOST or len(streams) != STREAMS:
        return {}, []
    asked = json.loads(_read(call, size))
    return (asked, list(streams)) if isinstance(asked, dict) else ({}, [])


def _read(call: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size and (more := call.recv(min(size - len(data), 1 << 20))):
        data += more
    return data


def _become(asked: Mapping[str, Any], streams: Collection[int], title: str) -> None:
    """Take over all that exec would have kept of the caller; what has a title is a supervisor."""
    environment: dict[str, str] = asked["environment"]
    batch = environment.get(processes.TAG, "")
    if not batch or not mark.write(batch, title or f"ansible-playbook {batch}"):
        raise RefusedError("this process cannot be marked as one of its batch")
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(asked["folder"])
    os.umask(asked["umask"])
    usual: dict[int, Any] = {
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
        signal.SIGINT: signal.default_int_handler,
    }
    for number, handler in usual.items():
        signal.signal(number, signal.SIG_IGN if number in asked["ignored"] else handler)
    for stream, handle in enumerate(streams):
        os.dup2(handle, stream)
        os.close(handle)
    sys.stdout.reconfigure(line_buffering=os.isatty(1))  # type: ignore[union-attr]  # it is Python's own
    atexit.unregister(cleanup_tmp_file)  # the parent's, which all forks would remove
    if not title:
        _have_temporary(environment.get("FLEET_SPOOL", ""))


def _have_temporary(spool: str) -> None:
    """Have a temporary folder of its own, where what is left of a killed play is removed with the rest."""
    beside = Path(spool).parent / engine.RUNNER
    base = beside if spool and beside.is_dir() else Path(cast("str", vars(constants)[TEMPORARY])).parent
    own = tempfile.mkdtemp(prefix=f"ansible-local-{os.getpid()}", dir=base)
    setattr(constants, TEMPORARY, own)
    atexit.register(cleanup_tmp_file, own, warn=True)


def _end_with(call: socket.socket) -> None:
    """Have the kernel kill this process as soon as the caller is gone: whoever killed that one meant the play."""
    handle = call.fileno()
    fcntl.fcntl(handle, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(handle, fcntl.F_SETFL, fcntl.fcntl(handle, fcntl.F_GETFL) | os.O_ASYNC)
    call.settimeout(0)
    with contextlib.suppress(BlockingIOError):
        if not call.recv(1, socket.MSG_PEEK):  # it was gone before
            os.kill(os.getpid(), signal.SIGKILL)
    call.settimeout(None)


def _play(command: list[str]) -> int:
    """Run ansible-playbook; return its exit status."""
    sys.argv = command
    return _ended(lambda: ansible_playbook(command))


def _ended(main: Callable[[], object]) -> int:
    """Run a main function, and what is to be done at its end; return its exit status."""
    gc.enable()
    try:
        main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001  as the interpreter would have it
        traceback.print_exc()
        status = 1
    else:
        status = 0
    atexit._run_exitfuncs()  # noqa: SLF001  as multiprocessing does; to take the interpreter apart would cost a third
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    return status & 0xFF
