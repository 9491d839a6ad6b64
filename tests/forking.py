"""Ansible's programs, forked from a process that has imported what each of them would import anew.

Most of what a short play costs is imports. There are two such processes. One has imported Ansible with the project's
configuration, as the runner's fork server has: it is for whoever gives Ansible no other variables, and what Ansible
made of HOME is put right in the fork. The other has imported nothing that reads Ansible's configuration. Starts from
nothing are proven where they matter: by ansible-runner's, below the runner, and by every role's scenario.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from fleet_runner.adapters.plays.fork_server import parent as fork_server

PROJECT = Path(__file__).resolve().parent.parent
USUAL = {"ANSIBLE_CONFIG": str(PROJECT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"}
"""The variables with which Ansible has been imported."""

PROGRAMS = {
    "ansible": "ansible.cli.adhoc",
    "ansible-inventory": "ansible.cli.inventory",
    "ansible-playbook": "ansible.cli.playbook",
}
IMPORTED = (
    "ansible.module_utils._internal._json._profiles._tagless",
    "ansible.module_utils.common.json",
    "ansible.module_utils.common.yaml",
    "cryptography.hazmat.primitives.ciphers",
    "fleet_runner.adapters.files.known_hosts",
    "fleet_runner.adapters.plays.lease",
    "fleet_runner.adapters.redfish",
    "fleet_runner.adapters.sitefiles",
    "fleet_runner.adapters.store.facade",
    "fleet_runner.adapters.store_snapshot",
    "fleet_runner.core.cabling.rails",
    "fleet_runner.core.checks.catalogue",
    "fleet_runner.core.inventory.ansible",
    "fleet_runner.settings",
    "fleet_runner.adapters.source",
    "importlib.metadata",
    "jinja2.nativetypes",
    "multiprocessing.context",
    "multiprocessing.queues",
    "resolvelib",
    "sqlalchemy.dialects.sqlite",
    "structlog",
    "urllib.request",
)
PLUGINS = {
    "action": ("command", "copy", "gather_facts", "normal", "set_fact", "template"),
    "callback": ("default", "fleet_results"),
    "connection": ("local", "ssh"),
    "inventory": ("auto", "fleet", "host_list", "ini", "yaml"),
    "shell": ("sh",),
    "strategy": ("free", "linear"),
}
ASKED = 1 << 20
"""Bytes of a request at most."""


def run(
    program: str, words: Sequence[str], environment: Mapping[str, str], seconds: float
) -> "subprocess.CompletedProcess[str]":
    """Run one of PROGRAMS from the project's folder to its end.

    Raises:
        subprocess.TimeoutExpired: it took longer; it has been killed.
    """
    command = [str(Path(sys.executable).with_name(program)), *words]
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, its, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, ASKED)
        given = {name: value for name, value in environment.items() if name.startswith("ANSIBLE_")}
        socket.send_fds(_parent(usual=given == USUAL), [b"+"], [its.fileno(), out.fileno(), err.fileno()])
        its.close()
        ours.send(json.dumps([command, dict(environment)]).encode())
        ours.settimeout(seconds)
        pid = int(ours.recv(64))
        try:
            status = ours.recv(64)  # nothing where it was killed
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(command, seconds) from None
        for file in (out, err):
            file.seek(0)
        said = [file.read().decode() for file in (out, err)]
    return subprocess.CompletedProcess(command, int(status or -signal.SIGKILL), *said)


@cache
def _parent(*, usual: bool) -> socket.socket:
    """Start a process that forks; it ends when this one does, however it ends."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    home = tempfile.TemporaryDirectory(prefix="forking-")
    with its:
        parent = subprocess.Popen(
            [sys.executable, "-m", "tests.forking", str(its.fileno())],
            stdin=subprocess.DEVNULL,
            pass_fds=[its.fileno()],
            cwd=PROJECT,
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": home.name, **(USUAL if usual else {})},
        )

    def end() -> None:
        ours.close()
        parent.wait()
        home.cleanup()

    atexit.register(end)
    return ours


def _serve(call: socket.socket) -> None:
    """Fork for whoever asks, until nobody can ask any more."""
    for name in IMPORTED:
        importlib.import_module(name)
    assert "ansible.constants" not in sys.modules
    if "ANSIBLE_CONFIG" in os.environ:
        fork_server.warm(PROJECT, PROGRAMS.values())
        _load_plugins()
    gc.freeze()
    signal.signal(signal.SIGCHLD, _bury)
    while True:
        data, handles, _, _ = socket.recv_fds(call, 1, 3)
        if not data:
            return
        if os.fork() == 0:
            call.close()
            _become(*handles)
        for handle in handles:
            os.close(handle)


def _load_plugins() -> None:
    """Load what each play loads: Ansible reads their documentation for their settings, which takes longest."""
    loader: Any = importlib.import_module("ansible.plugins.loader")
    loader.init_plugin_loader()
    for kind, names in PLUGINS.items():
        for name in names:
            getattr(loader, f"{kind}_loader").get(name, class_only=True)
    vars(sys.modules["ansible.cli"])["init_plugin_loader"] = lambda *_: None  # forks have what it makes


def _bury(*_: object) -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _become(handle: int, out: int, err: int) -> NoReturn:
    """Be the program that is asked for, as if it had been started."""
    status: Any = 1
    try:
        with socket.socket(fileno=handle) as call:
            command, environment = json.loads(call.recv(ASKED))
            call.send(str(os.getpid()).encode())
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for number, stream in ((1, out), (2, err)):
                os.dup2(stream, number)
                os.close(stream)
            home = os.environ["HOME"]
            os.environ.clear()
            os.environ.update(environment)
            _at_home(home)
            sys.argv = command
            sys.path[0] = str(Path(command[0]).parent)
            status = _ended(command)
            call.send(str(status).encode())
    except BaseException:  # noqa: BLE001  the border of this process
        traceback.print_exc()
    finally:
        os._exit(status)


def _at_home(before: str) -> None:
    """Have what Ansible's constants say of a home be said of this process's, with a temporary folder of its own.

    Lists of folders where others' plugins and collections may be stay as they are: no home of a test has any.
    """
    constants = sys.modules.get("ansible.constants")
    if constants is None:  # not imported yet
        return
    cleanup = importlib.import_module("ansible.utils.path").cleanup_tmp_file
    atexit.unregister(cleanup)  # the parent's, which all forks would remove
    for name, value in tuple(vars(constants).items()):
        if isinstance(value, str) and value.startswith(before):
            setattr(constants, name, os.environ["HOME"] + value.removeprefix(before))
    local = Path(vars(constants)["DEFAULT_LOCAL_TMP"]).parent
    local.mkdir(mode=0o700, parents=True, exist_ok=True)
    own = tempfile.mkdtemp(prefix=f"ansible-local-{os.getpid()}", dir=local)
    vars(constants)["DEFAULT_LOCAL_TMP"] = own
    atexit.register(cleanup, own, warn=True)


def _ended(command: list[str]) -> int:
    """Run the program and what is to be done at its end; return its exit status."""
    status = 0
    try:
        importlib.import_module(PROGRAMS[Path(command[0]).name]).main(command)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    atexit._run_exitfuncs()  # as multiprocessing does: what Ansible made for itself goes with it
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return status & 0xFF


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
